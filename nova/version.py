# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The fork's version, which is the release's with a local part."""
from graft import edit


@edit(change='local-version')
def __body__(body):
    """Leave the local part out of what pbr is given to read.

    pbr takes the digits of 34.0.0+ledger.1 for 34.0.1, or refuses it.
    """
    body.insert('''

        def _installed(package):
            """The version of a package that is installed, or None."""
            try:
                from importlib import metadata
            except ImportError:
                # Python 3.7 and older.
                import pkg_resources
                found = pkg_resources.working_set.by_key.get(package)
                return found and found.version
            try:
                return metadata.version(package)
            except metadata.PackageNotFoundError:
                return None


        class _VersionInfo(pbr.version.VersionInfo):
            """The version, less its local part (PEP 440).

            That of a distribution's own build, such as 1.2.3+local.4, is
            nothing that pbr knows.
            """

            def semantic_version(self):
                version = _installed(self.package)
                if version is None:
                    return super(_VersionInfo, self).semantic_version()
                return pbr.version.SemanticVersion.from_pip_string(
                    version.partition('+')[0])


        ''', before='loaded = False')
    body.replace("pbr.version.VersionInfo('nova')", "_VersionInfo('nova')")
