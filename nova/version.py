# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The fork's version, which is the release's with a local part."""
from graft import edit


@edit(change='local-version')
def __body__(body):
    """Leave the local part out of what pbr is given to read.

    pbr takes the digits of 34.0.0+ledger.1 for 34.0.1, or refuses it.
    """
    if body.series < '2023.1':
        # These run on Python 3.6 as well.
        module, version, missing = (
            'pkg_resources', 'get_distribution(self.package).version',
            'DistributionNotFound')
        body.insert('import pkg_resources', after='import pbr.version')
    else:
        module, version, missing = (
            'importlib.metadata', 'version(self.package)',
            'PackageNotFoundError')
        body.insert('import importlib.metadata\n\n',
                    before='import pbr.version')
    body.insert(f'''

        class _VersionInfo(pbr.version.VersionInfo):
            """The version, less its local part (PEP 440).

            That of a distribution's own build, such as 1.2.3+local.4, is
            nothing that pbr knows.
            """

            def semantic_version(self):
                try:
                    version = {module}.{version}
                except {module}.{missing}:
                    return super(_VersionInfo, self).semantic_version()
                return pbr.version.SemanticVersion.from_pip_string(
                    version.partition('+')[0])


        ''', before='loaded = False')
    body.replace("pbr.version.VersionInfo('nova')", "_VersionInfo('nova')")
