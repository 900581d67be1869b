# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import ddt

from graft import imports
from graft import text
from graft.errors import GraftError
from graft.tests import base

UPSTREAM = """
    '''What it is.'''

    import collections
    import re

    from lxml import etree
    import zappa as z

    from nova import context
    # The one below must stay there.
    from nova.objects import (
        instance,
        migration)
    from nova import utils

    a = 1
    """


def merged(upstream, *lines):
    """A module after imports are merged into it."""
    wanted = [one for node in text.Text('g.py', '\n'.join(lines)).tree.body
              for one in imports.read(node)]
    module = text.Text('nova/m.py', base.code(upstream))
    imports.merge(module, wanted)
    return module.spliced()


@ddt.ddt
class TestMerge(base.TestCase):

    @ddt.data(
        ('import abc', '\nimport abc\nimport collections\n'),
        ('import os', 'import collections\nimport os\nimport re\n'),
        ('import sys', 'import re\nimport sys\n\nfrom lxml'),
        ('import iso8601', '\n\nimport iso8601\nfrom lxml'),
        ('from oslo_log import log as logging', 'etree\nfrom oslo_log import '
         'log as logging\nimport zappa'),
        ('import zzz', 'import zappa as z\nimport zzz\n\nfrom nova'),
        ('from nova.api import wsgi', '\n\nfrom nova.api import wsgi\n'
         'from nova import context'),
        ('from nova import exception', 'context\nfrom nova import exception\n'
         '# The one below must stay there.\nfrom nova.objects import ('),
        ('from nova import quota', 'migration)\nfrom nova import quota\n'
         'from nova import utils\n'),
        ('from nova import version', 'from nova import version\n\na = 1\n'),
        ('from nova.compute import manager as m',
         '\n\nfrom nova.compute import manager as m\nfrom nova import conte'),
    )
    @ddt.unpack
    def test_place(self, line, expected):
        result = merged(UPSTREAM, line)
        self.assertIn(expected, result)
        # Nothing but the line is new.
        self.assertEqual(base.code(UPSTREAM),
                         result.replace(f'{line}\n', '', 1))

    @ddt.data('import re', 'from lxml import etree', 'import zappa as z',
              'from nova.objects import migration')
    def test_there_already(self, line):
        self.assertEqual(base.code(UPSTREAM), merged(UPSTREAM, line))

    @ddt.data('from oslo import context', 'import other as re', 'import z',
              'from re import utils')
    def test_name_is_taken(self, line):
        error = self.assertRaises(GraftError, merged, UPSTREAM, line)
        self.assert_told(error, 'nova/m.py', line, 'is ', 'there',
                         'a name of its own')

    def test_a_module_and_one_in_it(self):
        self.assertEqual('import os\nimport os.path\n',
                         merged('import os\n', 'import os.path'))

    def test_several_come_in_order(self):
        self.assertEqual(
            base.code("""
            import abc
            import os
            import sys

            from lxml import etree
            import zappa

            from nova import utils
            """), merged('import os\n', 'import sys', 'import abc',
                         'import zappa', 'from lxml import etree',
                         'from nova import utils'))

    def test_groups_before_the_first(self):
        self.assertEqual(
            base.code("""
            # Licence.

            import abc
            import os

            import zappa

            # About nova.
            from nova import utils
            """), merged("""
            # Licence.

            # About nova.
            from nova import utils
            """, 'import zappa', 'import os', 'import abc'))

    def test_after_a_docstring(self):
        self.assertEqual("'''Why.'''\n\nimport os\n\na = 1\n", merged(
            "'''Why.'''\n\na = 1\n", 'import os'))
        self.assertEqual("'''Why.'''\n\nimport os\n", merged(
            "'''Why.'''\n", 'import os'))

    def test_after_the_future(self):
        self.assertEqual('from __future__ import division\nimport abc\n',
                         merged('from __future__ import division\n',
                                'import abc'))

    def test_line_ends_of_windows(self):
        module = text.Text('nova/m.py', 'import os\r\n\r\na = 1\r\n')
        imports.merge(module, [imports.Import('sys')])
        self.assertEqual('import os\r\nimport sys\r\n\r\na = 1\r\n',
                         module.spliced())

    def test_after_what_has_to_come_first(self):
        self.assertEqual(base.code("""
            import sys
            from nova import patch; patch.all()  # noqa

            import os

            from nova.api import wsgi
            from nova import context
            """), merged("""
            import sys
            from nova import patch; patch.all()  # noqa

            import os

            from nova import context
            """, 'from nova.api import wsgi'))

    def test_relative(self):
        self.assertEqual('from .. import a\n',
                         merged('from .. import a\n', 'from .. import a'))
        self.assertIn('from .b import c\n', merged('a = 1\n',
                                                   'from .b import c'))


class TestNeeded(base.TestCase):

    GRAFT = """
        from __future__ import annotations
        import os
        import os.path
        import sys

        from graft import edit
        from nova import a as b
        from nova import c
        """

    def needed(self, *added):
        graft = text.Text('g.py', base.code(self.GRAFT))
        return [str(one).strip() for one in imports.needed(graft, added)]

    def test_only_what_is_used(self):
        self.assertEqual(['import sys', 'from nova import a as b'],
                         self.needed('sys.exit(b.d)\n', '    x.c = 1\n'))

    def test_never_grafts_own(self):
        self.assertEqual([], self.needed('edit(annotations)'))

    def test_package_and_module(self):
        self.assertEqual(['import os', 'import os.path'],
                         self.needed('os.path.sep'))

    def test_no_python(self):
        error = self.assertRaises(GraftError, self.needed, 'else:\n')
        self.assert_told(error, 'else:', 'whole statements')
