# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""``python -m demo``: the bugs on the stock release, and not on the fork.

Exit code 0 when stock goes wrong where it is known to, and the fork does
not, whichever series could be had; 1 when something is not as it should be or
nothing could be played.
"""
from __future__ import annotations

import sys

from demo import scenarios
from demo import show
from demo import stage
from graft.environment import Environment
from graft.environment import find_interpreter
from graft.errors import GraftError
from graft.errors import UnavailableError
from graft.project import Project


def main() -> int:
    """Make what is needed, play, show."""
    try:
        return _main(Project.find())
    except GraftError as error:
        print(f'demo: {error}', file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


def _main(project: Project) -> int:
    environments, missing = _environments(project)
    pairs = stage.play(project, environments)
    show.Show().tell(pairs, missing)
    return 1 if not pairs or any(pair.surprise for pair in pairs) else 0


def _environments(
    project: Project,
) -> tuple[list[Environment], dict[str, str]]:
    """The environments to play in, and why others can't be had."""
    environments, missing = [], {}
    for series in sorted({one for scenario in scenarios.SCENARIOS
                          for one in scenarios.series_of(project, scenario)}):
        try:
            find_interpreter(series)
        except UnavailableError as error:
            missing[str(series)] = ' '.join(str(error).splitlines())
            continue
        environments.append(Environment(project, series).make())
    return environments, missing


if __name__ == '__main__':
    sys.exit(main())
