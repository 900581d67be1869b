# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The audit of allocations, told of servers that are on the move."""
import sys

from graft import add
from graft import edit
from nova.compute import vm_states
from nova import context
from nova import exception
from nova.i18n import _
from nova import objects


@add(change='audit-in-flight')
def _may_hold_in_cell(ctxt, consumer_uuid, cn_uuid):
    """Whether a cell knows why a consumer holds resources of a node.

    What is in flight is read before what is at rest: a migration ends only
    after the host of its instance is set, so one that just ends is seen by
    the one or the other.

    :param ctxt: nova.context.RequestContext targeted at the cell
    :param consumer_uuid: UUID of an instance or of a migration
    :param cn_uuid: UUID of the compute node
    :returns: True if the cell has the instance, or that of the migration,
        and it is in flight, or at rest on the node; False otherwise
    """
    try:
        instance_uuid = objects.Migration.get_by_uuid(
            ctxt, consumer_uuid).instance_uuid
    except exception.MigrationNotFound:
        instance_uuid = consumer_uuid
    migrations = objects.MigrationList.get_by_filters(
        ctxt, {'instance_uuid': instance_uuid})
    try:
        instance = objects.Instance.get_by_uuid(
            ctxt, instance_uuid, expected_attrs=[])
    except exception.InstanceNotFound:
        return False
    over = ('cancelled', 'completed', 'confirmed', 'done', 'error', 'failed',
            'reverted')
    if (instance.task_state is not None or
            instance.vm_state in (vm_states.BUILDING, vm_states.RESIZED) or
            any(migration.status not in over for migration in migrations)):
        return True
    if instance_uuid != consumer_uuid:
        return False
    try:
        node = objects.ComputeNode.get_by_uuid(ctxt, cn_uuid)
    except exception.ComputeHostNotFound:
        return False
    return (instance.host == node.host and
            instance.node == node.hypervisor_hostname)


class PlacementCommands:

    @add(change='audit-in-flight')
    def _may_hold(self, ctxt, consumer_uuid, cn_uuid):
        """Whether a consumer may hold resources of a compute node.

        An instance may while it rests on the node, and anywhere as long as
        it is in flight: booting, or with a task or a migration in progress,
        whichever node is on record yet. So may its migrations meanwhile.

        :param ctxt: nova.context.RequestContext
        :param consumer_uuid: UUID of what has allocations on the node, or
            on a provider below it
        :param cn_uuid: UUID of the compute node
        :returns: True if it may, or if a cell that might know of it does
            not answer; False if every cell says that it may not
        """
        try:
            objects.BuildRequest.get_by_instance_uuid(ctxt, consumer_uuid)
            return True
        except exception.BuildRequestNotFound:
            pass
        answers = context.scatter_gather_skip_cell0(
            ctxt, _may_hold_in_cell, consumer_uuid, cn_uuid)
        silent = [cell for cell, answer in answers.items()
                  if context.is_cell_failure_sentinel(answer)]
        if any(answers[cell] for cell in answers if cell not in silent):
            return True
        if answers and not silent:
            return False
        # No answer is not a no, nor is it one that there is nobody to ask.
        self.could_not_know = True
        print(_('Consumer UUID %(consumer_uuid)s is left alone: no answer '
                'from cell %(cells)s.')
              % {'consumer_uuid': consumer_uuid,
                 'cells': ', '.join(silent) or '(there is none)'},
              file=sys.stderr)
        return True

    @edit(change='audit-in-flight', series='ussuri..')
    def audit(body):
        """Do not say that all is well when a cell did not answer."""
        body.insert('self.could_not_know = False',
                    after='self.instances_mapping = ...')
        body.replace('return 0', 'return 1 if self.could_not_know else 0')

    @edit(change='audit-in-flight', series='ussuri..')
    def _check_orphaned_allocations_for_provider(body):
        """Look a suspect up afresh, now that Placement has been read."""
        body.insert('''
            if consumer_type is not None and self._may_hold(
                    ctxt, consumer_uuid, cn_uuid):
                # It has moved, or is moving, since the instances and
                # migrations of this node were listed.
                continue
            ''', before='if consumer_type is not None: ...')
