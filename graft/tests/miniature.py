# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A project in miniature: two releases of a made-up Nova, and two changes.

The Nova of the miniature boils water. ``alpha`` shuts the lid too late,
which ``bug-100`` mends and ``beta`` has mended by itself; ``bug-200`` lets a
kettle be poured, in both.
"""
from __future__ import annotations

import base64
import hashlib
import pathlib
import sys
import zipfile

import fixtures

from graft.fork import Fork
from graft.project import Project
from graft.series import Series

MANAGER = 'nova/compute/manager.py'

ALPHA = '''\
# No licence: this is made up.

"""What the kettles of a kitchen do – größere too."""

import collections
import json

from nova import water


MAX = 3  # cups


class Lid(object):

    def lift( self ):
        return 'übervoll' if self else 'open'   # odd on purpose


class Kettle(Lid):
    """Boils water."""

    def __init__(self, cups):
        self.cups   = cups      # aligned on purpose
        self.log = []

    def boil(self):
        # Remember who asked.
        self.log.append('asked')

        # Now the lid. It has to be open
        # while water is poured in.
        self.lid = 'open'
        if self.cups > MAX:
            self.log.append(
                'too full')
        elif self.cups == 0:
            self.log.append('empty')
        self.heat(water.fresh(self.cups),
                  upto=100)

        # Steam goes where it wants, so shut it.
        self.lid = 'shut'

        return self

    def heat(self, what, upto):
        self.log.append(json.dumps({'lid': self.lid, 'upto': upto}))


def tea(kettle):
    return collections.OrderedDict(leaves=2, cups=kettle.cups)
'''

BETA = ALPHA.replace('''\
        self.heat(water.fresh(self.cups),
                  upto=100)

        # Steam goes where it wants, so shut it.
        self.lid = 'shut'
''', '''\
        # No steam shall get out.
        self.lid = 'shut'
        self.heat(water.fresh(self.cups), upto=100)
''')

GRAFT = '''\
"""Kettles that are shut in time and can be poured."""
import datetime
import os

from graft import add
from graft import edit
from nova import cup
from nova import water


class Kettle:

    @edit(change='bug-100', fixed_when="""
        self.lid = 'shut'
        ...
        self.heat(...)
        """)
    def boil(body):
        """Shut the lid before it gets hot."""
        body.move("self.lid = 'shut'", before='self.heat(...)')

    # Pouring is new.
    @add(change='bug-200')
    def pour(self):
        """Fill a cup, and say when.

        :returns: the cup
        """
        return cup.of(water.fresh(1), datetime.date(2020, 1, 1))


class Kettle:

    @edit(change='bug-200')
    def boil(body):
        """Note the end of it."""
        body.insert("""
            self.log.append('done')
            """, before='return self')
'''

CHANGE_100 = '''\
bugs = ["100"]
related = ["99"]
fixes = "alpha"
pins = "beta.."
files = [
    "nova/tests/test_bug_100.py",
    "releasenotes/notes/lid-0123456789abcdef.yaml",
]
tests = ["nova.tests.test_bug_100"]
message = """
Shut the lid before it gets hot

The lid is shut once the water boils; out goes the steam. Shut
it first – as anyone would.

It is as simple as that.
"""
'''

CHANGE_200 = '''\
bugs = ["200"]
fixes = "alpha.."
files = [
    "nova/tests/test_bug_200.py",
    "releasenotes/notes/pour-0123456789abcdef.yaml",
]
own_files = ["nova/tests/test_own_200.py"]
tests = ["nova.tests.test_bug_200", "nova.tests.test_own_200"]
message = """
Pour what has been boiled

A kettle that can't be poured is of little use.
"""
'''

FILES = {
    'nova/compute/manager.py': GRAFT,
    'nova/tests/test_bug_100.py': '''\
import unittest

from nova.compute import manager


class TestLid(unittest.TestCase):

    def test_shut_when_hot(self):
        kettle = manager.Kettle(1).boil()
        self.assertIn('"lid": "shut"', kettle.log[1])

    def test_asked_first(self):
        self.assertEqual('asked', manager.Kettle(1).boil().log[0])
''',
    'nova/tests/test_bug_200.py': '''\
import unittest

from nova.compute import manager


class TestPour(unittest.TestCase):

    def test_pour(self):
        self.assertEqual('cup of water', manager.Kettle(1).pour())
''',
    'nova/tests/test_own_200.py': '''\
import unittest

from nova.compute import manager


class TestDone(unittest.TestCase):

    def test_done(self):
        self.assertEqual('done', manager.Kettle(1).boil().log[-1])
''',
    'releasenotes/notes/lid-0123456789abcdef.yaml':
        'fixes:\n  - Lids are shut in time.\n',
    'releasenotes/notes/pour-0123456789abcdef.yaml':
        'fixes:\n  - Kettles can be poured.\n',
    'changes/01-bug-100.toml': CHANGE_100,
    'changes/02-bug-200.toml': CHANGE_200,
    'pyproject.toml': '[tool.graft]\nledger = 7\n',
    'series/alpha/series.toml':
        'nova = "1.0.0"\ncodename = "alder"\npython = ["{python}"]\n',
    'series/alpha/constraints.txt': 'oslo.water==1.0\n',
    'series/beta/series.toml':
        'nova = "2.0.0"\ncodename = "birch"\npython = ["{python}"]\n',
    'series/beta/constraints.txt': 'oslo.water==2.0\n',
}


def release(version: str, manager: str) -> dict[str, str]:
    """The files of a release's wheel."""
    return {
        'nova/__init__.py': '',
        'nova/compute/__init__.py': '',
        MANAGER: manager,
        'nova/cup.py': 'def of(what, when):\n    return "cup of " + what\n',
        'nova/tests/__init__.py': '',
        'nova/water.py': 'def fresh(cups):\n    return "water"\n',
        f'nova-{version}.data/data/etc/nova/kettle.conf': '[DEFAULT]\n',
        f'nova-{version}.data/scripts/kettle': '#!python\n',
        f'nova-{version}.dist-info/METADATA':
            f'Metadata-Version: 2.1\nName: nova\nVersion: {version}\n\n'
            f'Version: {version}\nis what this is about.\n',
        f'nova-{version}.dist-info/WHEEL':
            'Wheel-Version: 1.0\nGenerator: made-up\n'
            'Root-Is-Purelib: true\nTag: py3-none-any\n',
    }


def write_wheel(
    folder: pathlib.Path, version: str, files: dict[str, str],
) -> pathlib.Path:
    """Write a wheel as a build tool would."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f'nova-{version}-py3-none-any.whl'
    record = f'nova-{version}.dist-info/RECORD'
    lines = []
    with zipfile.ZipFile(path, 'w') as archive:
        for name, text in files.items():
            data = text.encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
            lines.append(f'{name},sha256={digest.decode().rstrip("=")},'
                         f'{len(data)}\n')
            archive.writestr(
                zipfile.ZipInfo(name, (2020, 5, 13, 10, 30, 0)), data)
        archive.writestr(zipfile.ZipInfo(record, (2020, 5, 13, 10, 30, 0)),
                         ''.join(lines) + f'{record},,\n')
    return path


class Miniature(fixtures.Fixture):
    """The project, in a folder of its own.

    :ivar root: the folder
    """

    def _setUp(self):
        self.root = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'project')
        for path, text in FILES.items():
            self.write(path, text.replace(
                '{python}', f'{sys.version_info[0]}.{sys.version_info[1]}'))
        self.release('1.0.0', ALPHA)
        self.release('2.0.0', BETA)

    def write(self, path: str, text: str) -> None:
        """Write one of the project's files."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())

    def replace(self, path: str, old: str, new: str) -> None:
        """Change one of the project's files."""
        text = (self.root / path).read_text()
        assert old in text, f'{path} has no {old!r}'
        self.write(path, text.replace(old, new))

    def release(self, version: str, manager: str, **more: str) -> None:
        """Publish a release."""
        write_wheel(self.root / 'build' / 'releases', version,
                    {**release(version, manager), **more})

    @property
    def project(self) -> Project:
        """The project as it is now."""
        return Project(self.root)

    def series(self, name: str) -> Series:
        return self.project.series.named(name)

    def fork(self, name: str) -> Fork:
        """The fork of a series as it is now."""
        return Fork.of(self.project, self.series(name))
