# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The build backend: ``pip install .`` builds the fork's wheel.

The series is the newest one, or what ``GRAFT_SERIES`` names.
"""
from __future__ import annotations

import io
import os
import pathlib
import tarfile

from graft.errors import GraftError
from graft.fork import Fork
from graft.git import Repository
from graft.project import Project
from graft.wheel import Wheel


def build_wheel(
    wheel_directory: str, config_settings: dict | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build the wheel; PEP 517. Returns its file name."""
    return _wheel(config_settings).write(pathlib.Path(wheel_directory)).name


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: dict | None = None,
) -> str:
    """Write the wheel's metadata; PEP 517. Returns its folder's name."""
    folder = ''
    for path, content in _wheel(config_settings).metadata().items():
        target = pathlib.Path(metadata_directory, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        folder = path.split('/')[0]
    return folder


def build_sdist(
    sdist_directory: str, config_settings: dict | None = None,
) -> str:
    """Pack the project's sources, not Nova's; PEP 517."""
    wheel = _wheel(config_settings)
    fork = wheel.fork
    name = f'nova-{fork.version}'
    path = pathlib.Path(sdist_directory, f'{name}.tar.gz')
    root = fork.project.root
    with tarfile.open(path, 'w:gz', format=tarfile.PAX_FORMAT) as archive:
        for file in Repository(root).git('ls-files').splitlines():
            archive.add(root / file, f'{name}/{file}')
        info = tarfile.TarInfo(f'{name}/PKG-INFO')
        metadata = wheel.metadata()[f'{name}.dist-info/METADATA']
        info.size = len(metadata)
        archive.addfile(info, io.BytesIO(metadata))
    return path.name


def _wheel(config_settings: dict | None) -> Wheel:
    project = Project.find(pathlib.Path(__file__).parent)
    name = ((config_settings or {}).get('series') or
            os.environ.get('GRAFT_SERIES') or str(project.series.newest))
    try:
        return Wheel(Fork.of(project, project.series.named(name)))
    except GraftError as error:
        raise SystemExit(f'graft: {error}') from error
