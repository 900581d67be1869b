# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Moves and shelving, in an order that keeps the books right."""
from graft import edit


class ComputeManager:

    @edit(change='bug-1879878', series='queens..train',
          fixed_when='....drop_move_claim_at_source(...)')
    def _confirm_resize(body):
        """Forget the two flavors no earlier than the claim on them.

        They go in the very write that makes the server active, so that
        whoever looks in between finds a resize with all that belongs to it.
        """
        body.replace('old_instance_type = instance.old_flavor',
                     'old_instance_type = instance.old_flavor',
                     comment=True)
        body.remove('instance.save()')
        body.insert('''
            # The tracker needs the two flavors as long as the claim is held,
            # see update_available_resource: forget them with the resize.
            ''', before='instance.vm_state = vm_state')
        body.move('instance.old_flavor = None',
                  'instance.new_flavor = None',
                  "instance.system_metadata.pop('old_vm_state', None)",
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
