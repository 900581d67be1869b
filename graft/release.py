# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A release of Nova, as its maintainers published it.

It comes from the package index by pip, as a wheel, and is kept in
``build/releases``; it is no part of this repository.
"""
from __future__ import annotations

import dataclasses
import pathlib
import subprocess
import sys
import tempfile
import zipfile

from graft.errors import UnavailableError
from graft.project import Project
from graft.series import Series


@dataclasses.dataclass(frozen=True)
class Release:
    """A published wheel of Nova.

    :ivar series: the series it is the release of
    :ivar wheel: the file
    """

    series: Series
    wheel: pathlib.Path

    @classmethod
    def get(cls, project: Project, series: Series) -> Release:
        """The release of a series, fetched by pip if it isn't there yet.

        :raises UnavailableError: where pip can't bring it, in pip's words
        """
        folder = project.build / 'releases'
        kept = sorted(folder.glob(f'nova-{series.nova}-*.whl'))
        if not kept:
            folder.mkdir(parents=True, exist_ok=True)
            # Into a folder of its own first, so that an interrupted pip
            # leaves nothing that looks like a release.
            with tempfile.TemporaryDirectory(dir=folder) as fresh:
                _download(series, fresh)
                for path in pathlib.Path(fresh).glob('*.whl'):
                    path.rename(folder / path.name)
            kept = sorted(folder.glob(f'nova-{series.nova}-*.whl'))
        if not zipfile.is_zipfile(kept[0]):
            raise UnavailableError(f'{kept[0]} is no wheel.',
                                   'Remove it; graft fetches it anew.')
        return cls(series, kept[0])

    def read(self, path: str) -> str | None:
        """A module's text, or None where the release has no such file."""
        with zipfile.ZipFile(self.wheel) as archive:
            try:
                return archive.read(path).decode()
            except KeyError:
                return None

    def unpack(self, folder: pathlib.Path) -> None:
        """Lay the release out as a tree.

        Its packages and metadata go to the top, and what an installer would
        put beside them (``etc/nova``) too, where Nova's own tests look.
        """
        with zipfile.ZipFile(self.wheel) as archive:
            for info in archive.infolist():
                path = _place(info.filename)
                if path is None or info.is_dir():
                    continue
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(info))

    @property
    def date(self) -> str:
        """When it was built, by the newest file in it; git's format."""
        with zipfile.ZipFile(self.wheel) as archive:
            newest = max(info.date_time for info in archive.infolist())
        return '{}-{:02}-{:02} {:02}:{:02}:{:02} +0000'.format(*newest)


def _place(name: str) -> str | None:
    """Where a file of the wheel goes in the tree."""
    top, _, rest = name.partition('/')
    if not top.endswith('.data'):
        return name
    kind, _, rest = rest.partition('/')
    return rest if kind == 'data' else None


def _download(series: Series, folder: str) -> None:
    command = [
        sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps',
        '--only-binary=:all:', '--disable-pip-version-check',
        # Whatever runs graft, it is the series' Python that counts.
        '--python-version', series.python[0], '--dest', folder,
        '--constraint', str(series.constraints), f'nova=={series.nova}']
    done = subprocess.run(command, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines()
                if line.startswith('ERROR') or 'No module named' in line]
        raise UnavailableError(
            f'pip could not bring nova {series.nova} ({series}):\n' +
            '\n'.join(f'    {line}' for line in said or
                      done.stderr.splitlines()[-5:]),
            'Is the package index in reach? "pip download nova=='
            f'{series.nova}" should work by itself.')
