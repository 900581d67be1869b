# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""nova-manage, with its SELECTs counted: each adds a byte to a file.

usage: count.py FILE [WORD OF NOVA-MANAGE...]
"""
import os
import sys


def main():
    tally = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    # Before all else, as it may patch the standard library.
    from nova.cmd import manage  # isort: skip
    from sqlalchemy import engine
    from sqlalchemy import event

    @event.listens_for(engine.Engine, 'before_cursor_execute')
    def count(connection, cursor, statement, *more):
        if statement.lstrip()[:6].upper() == 'SELECT':
            os.write(tally, b'.')

    return manage.main()


if __name__ == '__main__':
    sys.exit(main())
