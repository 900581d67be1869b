# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What is asked for on the command line."""
from __future__ import annotations

import argparse
from collections.abc import Sequence

_ABOUT = """\
Measure "nova-manage placement audit" of the stock release and of the fork,
side by side on the same data, and what bare reads of the same take (the
floor). One table for each combination of hosts, cells and shape; the last
line of the output is a JSON object with all figures."""

_MORE = """\
examples:
  tox -e bench-audit -- --database sqlite --hosts 20
        a look at whether it works, in a minute
  tox -e bench-audit -- --hosts 1000 --cells 1 10
        the measurement, on a private MariaDB server; it wants the
        distribution's package mariadb-server ("apt-get install
        mariadb-server"), and starts and stops a server of its own
  tox -e bench-audit -- --hosts 100 --shape flat nested --repeat 5

CPU seconds are user and system time. Those of the audit are the client's
alone; Placement's and those of the database server stand beside. The exit
code is 1 if an audit does not report what it should."""


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The options.

    :param words: by default those of the command line
    """
    parser = argparse.ArgumentParser(
        prog='bench-audit', description=_ABOUT, epilog=_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    several = {'nargs': '+', 'metavar': 'N', 'type': _positive}
    one = {'metavar': 'N', 'type': _positive}

    cloud = parser.add_argument_group('the cloud')
    cloud.add_argument('--hosts', default=[100], **several,
                       help='compute nodes (100)')
    cloud.add_argument('--cells', default=[1], **several,
                       help='cells they are spread over (1)')
    cloud.add_argument('--shape', nargs='+', default=['flat'],
                       choices=['flat', 'nested'],
                       help='flat: one provider a host; nested: a child '
                            'below it with GPUs, of which every fifth '
                            'server holds one (flat)')
    cloud.add_argument('--servers-per-host', default=20, **one,
                       help='servers on each host (20)')
    cloud.add_argument('--projects', default=20, **one,
                       help='projects they belong to (20)')

    what = parser.add_argument_group('what is measured')
    what.add_argument('--series', default='', metavar='SERIES',
                      help='a series by codename, year or number (the '
                           'newest)')
    what.add_argument('--workers', **one,
                      help='given to the audit of the fork')
    what.add_argument('--repeat', default=1, **one,
                      help='measure so many times and take medians (1)')

    where = parser.add_argument_group('where')
    where.add_argument('--database', default='mysql',
                       choices=['mysql', 'sqlite'],
                       help='mysql: a private server of MariaDB; sqlite: '
                            'files, for a quick run (mysql)')
    where.add_argument('--url', metavar='URL',
                       help='use a server that runs already: '
                            'mysql://USER:PASSWORD@HOST[:PORT]/. The user '
                            'must be allowed to create databases; they are '
                            'dropped in the end')
    where.add_argument('--keep', action='store_true',
                       help='keep databases, configuration and logs, and say '
                            'where they are')
    options = parser.parse_args(words)
    if max(options.cells) > min(options.hosts):
        parser.error('there must be a host in each cell')
    if options.url and options.database == 'sqlite':
        parser.error('--url is for mysql')
    return options


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'{text} is no number from 1 on')
    return int(text)
