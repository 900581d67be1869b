# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A private server of MariaDB, gone afterwards.

It listens on a socket in a temporary folder, where only its own user and root
get at, and reads no configuration of the machine's.
"""
from __future__ import annotations

from collections.abc import Iterator
import contextlib
import os
import pathlib
import shutil
import subprocess
import time

from bench.audit.databases import MySQL
from graft.errors import GraftError
from graft.errors import UnavailableError
from graft.process import run

#: Seconds until a server that does not start is given up.
_PATIENCE = 60
#: As whom it runs when we are root; the package makes this user.
_USER = 'mysql'
_PLACES = f'{os.environ.get("PATH", "")}:/usr/sbin:/usr/local/sbin'
#: Data that is thrown away need not outlive a crash.
_SETTINGS = (
    '--skip-networking', '--skip-log-bin', '--max-connections=500',
    '--innodb-buffer-pool-size=512M', '--innodb-flush-log-at-trx-commit=0',
    '--innodb-doublewrite=0')


class PrivateMariaDB(MySQL):
    """Databases on a server that is our own child."""

    def __init__(self, url: str, pid: int) -> None:
        super().__init__(url)
        self._pid = pid

    def drop(self, name: str) -> None:
        """Nothing: all goes with the server, and that at once."""

    def cpu_seconds(self) -> float:
        status = pathlib.Path(f'/proc/{self._pid}/stat').read_text()
        fields = status.rpartition(')')[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf('SC_CLK_TCK')


@contextlib.contextmanager
def private_server(folder: pathlib.Path) -> Iterator[PrivateMariaDB]:
    """Start a server; stop it in the end.

    :param folder: a new one, for all that it writes
    :raises UnavailableError: if MariaDB is not installed
    """
    install, server = _find('mariadb-install-db'), _find('mariadbd')
    folder.mkdir(0o700)
    common = ['--no-defaults', f'--datadir={folder / "data"}']
    if os.geteuid() == 0:
        # The server refuses to run as root, unless it may be another.
        shutil.chown(folder, _USER)
        common.append(f'--user={_USER}')
    run([install, *common, '--skip-test-db',
         '--auth-root-authentication-method=normal'])
    socket, log = folder / 'socket', folder / 'log'
    with (log.open('w') as output,
          subprocess.Popen(
              [server, *common, f'--socket={socket}', *_SETTINGS],
              stdin=subprocess.DEVNULL, stdout=output, stderr=output,
              start_new_session=True) as process):
        try:
            _wait(process, socket, log)
            yield PrivateMariaDB(
                f'mysql://root@localhost/?unix_socket={socket}', process.pid)
        finally:
            process.terminate()


def _find(program: str) -> str:
    found = shutil.which(program, path=_PLACES)
    if found is None:
        raise UnavailableError(
            f'There is no program {program}.',
            'Get it by "sudo apt-get install mariadb-server", or use '
            '"--url" or "--database sqlite".')
    return found


def _wait(process: subprocess.Popen, socket: pathlib.Path,
          log: pathlib.Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not socket.is_socket():
        if process.poll() is not None or time.monotonic() > deadline:
            said = log.read_text(errors='replace').splitlines()[-12:]
            raise GraftError('MariaDB does not start:\n' + '\n'.join(said))
        time.sleep(0.05)
