# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
from graft import message
from graft.change import Change
from graft.tests import base

CHANGE = Change('bug-1', 'Subject\n\nWhy – at length.\n', (), (),
                bugs=('1', '2'), related=('3',))


class TestCompose(base.TestCase):

    def test_footers(self):
        self.assertEqual(base.code(f"""
            Subject

            Why – at length.

            Closes-Bug: #1
            Closes-Bug: #2
            Related-Bug: #3
            Change-Id: {CHANGE.change_id}
            """), message.compose(CHANGE))

    def test_review(self):
        text = message.compose(CHANGE, signer='A B <a@b>',
                               picked=['1' * 40, '2' * 40])
        self.assertTrue(text.endswith(base.code(f"""
            Change-Id: {CHANGE.change_id}
            Signed-off-by: A B <a@b>
            (cherry picked from commit {'1' * 40})
            (cherry picked from commit {'2' * 40})
            """)), text)

    def test_git_sees_footers(self):
        """One paragraph, as git and Gerrit want it."""
        text = message.compose(CHANGE, signer='A B <a@b>', picked=['1' * 40])
        told = base.git(self.folder, 'interpret-trailers', '--parse',
                        stdin=text)
        self.assertEqual(
            ['Closes-Bug: #1', 'Closes-Bug: #2', 'Related-Bug: #3',
             f'Change-Id: {CHANGE.change_id}', 'Signed-off-by: A B <a@b>'],
            [line for line in told.splitlines() if line[0] != '('])
