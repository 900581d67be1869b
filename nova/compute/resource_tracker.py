# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What a node counts as used, while moves away from it end."""
from graft import add
from graft import edit


class ResourceTracker:

    @add(change='bug-1879878', series='queens..train')
    def _counts_source_of_move(self, instance, nodename):
        """Whether the usage of a node holds what a moved instance left.

        It does while the migration is tracked, or the instance itself as if
        it were here still, there being no periodic task since it moved. Once
        that task has run with the migration confirmed, it does not.

        :param instance: nova.objects.instance.Instance that was moved
        :param nodename: name of the node it was moved from, which may be
            the one it is on now
        :returns: True if there is usage to be dropped for it
        """
        if instance['uuid'] in self.tracked_migrations:
            return True
        return (instance['uuid'] in self.tracked_instances and
                (instance['host'], instance['node']) !=
                (self.host, nodename))

    @edit(change='bug-1879878', series='queens..train')
    def drop_move_claim(body):
        """Drop what the node counts: all of it, and nothing else."""
        body.insert('''
            if prefix == 'old_' and not self._counts_source_of_move(
                    instance, nodename):
                # The periodic task was here after the migration ended.
                return

            ''', before="if instance['uuid'] in self.tracked_migrations: ...")
        if body.series < 'train':
            # It knew what to drop only once that task had run in between.
            took = 'remove' if body.series == 'stein' else 'pop'
            flavor = ('instance_type' if body.series == 'queens' else
                      'instance_type, instance')
            body.insert(f'''
                if instance_type is not None:
                    topology = self._get_migration_context_resource(
                        'numa_topology', instance, prefix=prefix)
                    self._update_usage(
                        self._get_usage_dict(
                            {flavor}, numa_topology=topology),
                        nodename, sign=-1)
                ''', after=f"self.tracked_instances.{took}(instance['uuid'])")
