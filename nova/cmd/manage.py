# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The audit of allocations, told of servers that are on the move."""
import sys

from graft import add
from graft import edit
from graft import remove
from graft import replace
from nova.compute import vm_states
from nova import context
from nova import exception
from nova.i18n import _
from nova.ledger import audit as ledger_audit
from nova import objects
from nova.scheduler.client import report


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

    @remove(change='audit-by-ledger')
    def _get_instances_and_current_migrations(self, ctxt, cn_uuid):
        """See nova.ledger.cells."""

    @remove(change='audit-by-ledger')
    def _delete_allocations_from_consumer(
            self, ctxt, placement, provider, consumer_uuid, consumer_type):
        """See nova.ledger.repair."""

    @remove(change='audit-by-ledger')
    def _get_resource_provider(self, context, placement, uuid):
        """See nova.ledger.books."""

    @remove(change='audit-by-ledger')
    def _get_resource_providers(self, context, placement, **kwargs):
        """See nova.ledger.books."""

    @remove(change='audit-by-ledger')
    def _check_orphaned_allocations_for_provider(  # noqa: F811
            self, ctxt, placement, output, provider, delete):
        """See nova.ledger.verdict."""

    @remove(change='audit-by-ledger')
    def _may_hold(self, ctxt, consumer_uuid, cn_uuid):  # noqa: F811
        """See nova.ledger.holders."""

    @replace(change='audit-by-ledger')
    @action_description(
        _("Finds what is held in Placement by those who may not: servers "
          "that are gone or elsewhere, and migrations that are over. "
          "Options [api_database]/connection and [placement] have to be "
          "set."))
    @args('--verbose', action='store_true', dest='verbose', default=False,
          help='Tell each finding: what can be deleted or was on standard '
               'output, all else on standard error.')
    @args('--resource_provider', metavar='<provider_uuid>',
          dest='provider_uuid',
          help='Look at this resource provider only.')
    @args('--consumer', metavar='<consumer_uuid>', dest='consumers',
          action='append',
          help='Look at this consumer only: the UUID of a server or of a '
               'migration. May be given several times.')
    @args('--delete', action='store_true', dest='delete', default=False,
          help='Delete what is found, after a second look at each.')
    @args('--min-age', metavar='<seconds>', dest='min_age',
          default=str(ledger_audit.MIN_AGE),
          help='Leave alone what has changed in so many seconds, for an '
               'operation may be about to put it right. Default: '
               '%(default)s.')
    @args('--max-delete', metavar='<number>', dest='max_delete',
          help='If more allocations than this are to be deleted, tell them, '
               'delete none, and exit with 1.')
    @args('--ignore', metavar='<file>', dest='ignore',
          help='A file with UUIDs of consumers and resource providers to be '
               'left alone, one a line; what follows a # is a comment.')
    @args('--format', metavar='<format>', dest='output_format',
          help='text, which is the default, json or openmetrics. The latter '
               'two tell all there is to tell, with --verbose or without.')
    @args('--state-file', metavar='<path>', dest='state_file',
          help='Remember here what was read, and read again only what has '
               'changed since.')
    @args('--workers', metavar='<number>', dest='workers',
          help='How many requests to make to Placement at once. Default: 4.')
    def audit(self, verbose=False, provider_uuid=None,  # noqa: F811
              delete=False, consumers=None, min_age=0, max_delete=None,
              ignore=None, output_format=None, state_file=None, workers=None):
        """Find what is held in Placement by those who may not.

        Return codes:

        * 0: There is nothing to delete.
        * 1: Something went wrong: Placement, a database or a cell does not
          answer, something could not be deleted, or there is too much to.
        * 3: There is something to delete.
        * 4: There was, and it is deleted.
        * 127: Invalid input.
        * 130: Interrupted. What was deleted up to then is told.
        """
        try:
            options = ledger_audit.Options.parse(
                verbose, provider_uuid, delete, consumers, min_age,
                max_delete, ignore, output_format, state_file, workers)
        except ledger_audit.Invalid as error:
            print(error, file=sys.stderr)
            return 127
        placement = getattr(report, 'report_client_singleton',
                            report.SchedulerReportClient)()
        return ledger_audit.run(
            options, context.get_admin_context(), placement)


@remove(change='audit-by-ledger')
def _may_hold_in_cell(ctxt, consumer_uuid, cn_uuid):  # noqa: F811
    """See nova.ledger.holders."""
