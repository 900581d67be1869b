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
