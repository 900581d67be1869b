# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The fork's wheel: the release's own, with what the changes make of it.

Everything the changes do not touch is taken over as it is. The same input
gives the same bytes.
"""
from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import pathlib
import tempfile
import zipfile

from graft.fork import Fork


class Wheel:
    """The wheel of a fork.

    :param fork: whose it is
    """

    def __init__(self, fork: Fork) -> None:
        self.fork = fork

    @property
    def name(self) -> str:
        """Its file name."""
        tag = self.fork.release.wheel.name.split('-', 2)[2]
        return f'nova-{self.fork.version}-{tag}'

    def write(self, folder: pathlib.Path) -> pathlib.Path:
        """Write it into a folder, all or nothing.

        :returns: the file's path
        """
        files = self._files()
        folder.mkdir(parents=True, exist_ok=True)
        handle, fresh = tempfile.mkstemp(prefix='.nova-', dir=folder)
        try:
            with (os.fdopen(handle, 'wb') as file,
                  zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED) as archive):
                for path, content in files.items():
                    archive.writestr(_info(path), content)
            os.chmod(fresh, 0o644)
            os.replace(fresh, folder / self.name)
        except BaseException:
            pathlib.Path(fresh).unlink(missing_ok=True)
            raise
        return folder / self.name

    def metadata(self) -> dict[str, bytes]:
        """The files of its ``.dist-info``, without RECORD."""
        return {path: content for path, content in self._released().items()
                if path.startswith(self._info_folder)}

    @property
    def _info_folder(self) -> str:
        return f'nova-{self.fork.version}.dist-info/'

    def _files(self) -> dict[str, bytes]:
        files = self._released()
        for change in self.fork.changes():
            content = self.fork.content_of(change, own=False)
            files.update({path: data for path, data in content.items()
                          if path.startswith('nova/')})
        record = f'{self._info_folder}RECORD'
        files[record] = _record(files, record)
        return files

    def _released(self) -> dict[str, bytes]:
        """The release's files under the fork's version, less RECORD."""
        old, new = self.fork.series.nova, self.fork.version
        files = {}
        with zipfile.ZipFile(self.fork.release.wheel) as archive:
            for info in archive.infolist():
                if info.is_dir() or info.filename.endswith('/RECORD'):
                    continue
                path = info.filename
                for kind in ('dist-info', 'data'):
                    path = path.replace(f'nova-{old}.{kind}/',
                                        f'nova-{new}.{kind}/', 1)
                files[path] = archive.read(info)
        metadata = f'{self._info_folder}METADATA'
        files[metadata] = files[metadata].replace(
            f'\nVersion: {old}\n'.encode(), f'\nVersion: {new}\n'.encode(), 1)
        return files


def _record(files: dict[str, bytes], record: str) -> bytes:
    """The wheel's list of its files and their hashes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator='\n')
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
        writer.writerow((path, 'sha256=' + digest.decode().rstrip('='),
                         len(content)))
    writer.writerow((record, '', ''))
    return text.getvalue().encode()


def _info(path: str) -> zipfile.ZipInfo:
    """A member's header, without anything of this machine or moment."""
    info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    scripts = '.data/scripts/' in path
    info.external_attr = (0o755 if scripts else 0o644) << 16
    return info
