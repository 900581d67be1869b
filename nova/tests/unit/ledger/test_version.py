# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import os
import subprocess
import sys
import tempfile

from nova import test
from nova import version


class LocalVersionTestCase(test.NoDBTestCase):
    """A build with a local version says which release it is.

    The version in the metadata of an installed package may have a local part,
    such as +ledger.1. What nova says of itself is the release.
    """

    def _version_of(self, installed):
        """What nova says when it is installed with a version."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        info = os.path.join(folder.name, 'nova-%s.dist-info' % installed)
        os.mkdir(info)
        with open(os.path.join(info, 'METADATA'), 'w') as metadata:
            metadata.write('Metadata-Version: 2.1\nName: nova\nVersion: %s\n'
                           % installed)
        # The folder comes first; then whatever this nova was found by.
        path = os.pathsep.join(
            [folder.name] + [os.path.abspath(place) for place in sys.path])
        return subprocess.check_output(
            [sys.executable, '-W', 'ignore', '-c',
             'from nova import version;'
             'print(version.version_string())'],
            cwd=folder.name, env=dict(os.environ, PYTHONPATH=path),
            stderr=subprocess.DEVNULL).decode().strip()

    def test_local_part_is_no_part_of_the_release(self):
        release = version.version_string()
        for local in ('+ledger.1', '+ledger.12'):
            self.assertEqual(release, self._version_of(release + local))

    def test_version_without_local_part(self):
        self.assertEqual('1.2.3', self._version_of('1.2.3'))
