# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Moves and shelving, in an order that keeps the books right."""
from graft import add
from graft import edit


class ComputeManager:

    @edit(change='bug-1879878', series='queens..train')
    def confirm_resize(body):
        """Forget the two flavors where the source fails to confirm, too."""
        body.insert('''
            self._forget_resize(instance)
            instance.save()
            ''', after='LOG.exception(...)')

    @add(change='bug-1879878', series='queens..train')
    def _forget_resize(self, instance):
        """Clear what an instance keeps for the time of a resize.

        The resource tracker counts the source of a move by the flavors kept,
        so they must stay until the claim there has been dropped.

        :param instance: nova.objects.instance.Instance, still to be saved
        """
        instance.old_flavor = None
        instance.new_flavor = None
        instance.system_metadata.pop('old_vm_state', None)

    @edit(change='bug-1879878', series='queens..train',
          fixed_when='....drop_move_claim_at_source(...)')
    def _confirm_resize(body):
        """Forget the two flavors in the write that ends the resize."""
        body.replace('old_instance_type = instance.old_flavor',
                     'old_instance_type = instance.old_flavor',
                     comment=True)
        body.remove('instance.old_flavor = None',
                    'instance.new_flavor = None',
                    "instance.system_metadata.pop('old_vm_state', None)",
                    'instance.save()')
        body.insert('self._forget_resize(instance)',
                    before='instance.vm_state = vm_state')

    @edit(change='bug-1798688', series='queens..rocky', fixed_when='''
        ....delete_allocation_for_shelve_offloaded_instance(...)
        ...
        instance.vm_state = vm_states.SHELVED_OFFLOADED
        ''')
    def _shelve_offload_instance(body):
        """Give the resources back before saying that they are."""
        body.move('rt = self._get_resource_tracker()',
                  '....delete_allocation_for_shelve_offloaded_instance(...)',
                  before='instance.power_state = current_power_state')

    @edit(change='shelve-offload-one-write')
    def _shelve_offload_instance(body):  # noqa: F811
        """Say that a server is offloaded, and so on no host, in one write.

        A second write, of the host, would not look whether the server is
        being unshelved by then, and take the new host away.
        """
        body.replace('instance.vm_state = vm_states.SHELVED_OFFLOADED',
                     'instance.vm_state = vm_states.SHELVED_OFFLOADED',
                     comment=True)
        body.insert("left = {'host': instance.host, 'node': instance.node}",
                    before='instance.save(expected_task_state=[...])')
        body.move('self._nil_out_instance_obj_host_and_node(instance)',
                  before='instance.save(expected_task_state=[...])')
        body.remove('instance.save(expected_task_state=None)')
        body.wrap('self._update_resource_tracker(context, instance)', code='''
            with utils.temporary_mutation(instance, **left):
                ...
            ''')
