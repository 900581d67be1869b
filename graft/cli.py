# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""graft's commands."""
from __future__ import annotations

import argparse
from collections.abc import Sequence
import os
import pathlib
import sys

from graft import export
from graft import prove
from graft import status
from graft.environment import Environment
from graft.errors import GraftError
from graft.errors import UsageError
from graft.fork import Fork
from graft.git import Repository
from graft.progress import Progress
from graft.project import Project
from graft.review import Review
from graft.series import Series
from graft.suite import Suite
from graft.tree import Tree
from graft.wheel import Wheel

_SERIES_HELP = ('a series by codename (caracal), year (2024.1), number (29) '
                'or version; by default the newest')


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    :param argv: its words, by default those of the command line
    :returns: the exit code: 0 done, 1 failed or not as it should be, 2 asked
        for something that isn't, 3 an anchor that does not fit, 4 something
        missing outside, 130 interrupted
    """
    words = sys.argv[1:] if argv is None else list(argv)
    words, rest = _split(words)
    options = _parser().parse_args(words)
    options.rest = rest
    try:
        project = Project.find(options.root)
        code = options.command(project, options)
        sys.stdout.flush()
        return code
    except GraftError as error:
        print(f'graft: {error}', file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print('graft: interrupted; nothing half-made is left behind',
              file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(f'graft: {error.filename}: {error.strerror}'
              if error.filename else f'graft: {error}', file=sys.stderr)
        return 1


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """The words before and after ``--``."""
    if '--' not in words:
        return words, []
    at = words.index('--')
    return words[:at], words[at + 1:]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='graft', description='Grows the fork onto a released Nova.',
        epilog='"graft COMMAND --help" tells of each.')
    parser.add_argument('--root', type=pathlib.Path, metavar='DIR',
                        help='a checkout of nova-ledger; by default the one '
                             'around the working directory')
    commands = parser.add_subparsers(metavar='COMMAND', required=True)

    def command(name, function, text, more=''):
        one = commands.add_parser(name, help=text,
                                  description=f'{text[0].upper()}{text[1:]}. '
                                              f'{more}')
        one.set_defaults(command=function)
        return one

    one = command('status', _status, 'show which change is what in which '
                  'series',
                  'Each release is fetched and its code looked at: a change '
                  '"applies", is "fixed upstream", is "not affected", or its '
                  '"anchor moved" (exit code 1).')
    one.add_argument('series', nargs='*', help='only these series')
    one.add_argument('--update', type=pathlib.Path, metavar='FILE',
                     help='put the table into a page, between its marks')
    one.add_argument('--check', type=pathlib.Path, metavar='FILE',
                     help='exit with 1 if a page does not show the table as '
                          'it is')

    one = command('checkout', _checkout, 'make the git tree of a series',
                  'The first commit is the release as published, then comes '
                  'one for each change. Prints the tree\'s path.')
    _series(one)
    _stock(one)
    one.add_argument('--to', type=pathlib.Path, metavar='DIR',
                     help='where to; by default build/<series>')

    one = command('build', _build, 'build the wheel of a series',
                  'Prints its path.')
    _series(one)
    one.add_argument('--to', type=pathlib.Path, metavar='DIR',
                     help='where to; by default dist')

    one = command('diff', _diff, 'show a change as a reviewer would read it')
    _change(one)
    _series(one)

    one = command('review', _review, 'commit a change on the branch checked '
                  'out in a clone of Nova',
                  'The commit is ready for "git review": tests and release '
                  'note in it, a Change-Id that is the same on every branch, '
                  'Signed-off-by from your git configuration.')
    _change(one)
    one.add_argument('clone', type=pathlib.Path, help='the clone')
    one.add_argument('--series', default='', metavar='SERIES',
                     help='the branch\'s series, if its name does not tell')
    one.add_argument('--backport-of', default='', metavar='COMMIT',
                     help='the same change on the next newer branch; noted '
                          'as "git cherry-pick -x" would')

    one = command('export', _export, 'write a series\' changes for those who '
                  'build packages')
    _series(one)
    one.add_argument('--format', choices=export.FORMATS, default='quilt',
                     help='quilt (patches and a series file, as Debian '
                          'takes them), format-patch (for "git am"), kolla '
                          '(for the patches_path of kolla-build), or bundle '
                          '(a git branch in a file); by default quilt')
    one.add_argument('--site-packages', default='', metavar='PATH',
                     help='for kolla: the folder that nova/ is in, in the '
                          'image, such as '
                          '/var/lib/kolla/venv/lib/python3.12/site-packages')
    one.add_argument('--to', type=pathlib.Path, metavar='DIR',
                     help='where to; by default patches/<series>')

    one = command('prove', _prove, 'run changes\' tests on the stock release '
                  'and on the fork',
                  'They must fail on the one and pass on the other; where '
                  'upstream has fixed it, pass on both. Exit code 1 if '
                  'something is not proven.')
    one.add_argument('change', help='a change, or "all"')
    one.add_argument('series', nargs='*',
                     help='where; by default in the newest series')
    one.add_argument('--available', action='store_true',
                     help='go on where a series can\'t be had here, for want '
                          'of its Python, and say so')

    one = command('test', _test, 'run tests in the tree of a series',
                  'By default those of all changes. Words after "--" go to '
                  'stestr: a regular expression, say.')
    _series(one)
    _stock(one)
    one.add_argument('tests', nargs='*', metavar='TEST',
                     help='modules, classes or tests, by dotted name')
    one.add_argument('--upstream', action='store_true',
                     help='upstream\'s own tests of what the changes touch')

    one = command('run', _run, 'run a program in the tree and environment of '
                  'a series', 'The program comes after "--".')
    _series(one)
    _stock(one)
    return parser


def _series(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('series', nargs='?', default='', help=_SERIES_HELP)


def _change(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('change', help='a change, such as bug-1798688')


def _stock(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--stock', action='store_true',
                        help='the release without the fixes, with only the '
                             'tests')


def _one(project: Project, name: str) -> Series:
    return project.series.named(name) if name else project.series.newest


def _several(project: Project, names: Sequence[str]) -> list[Series]:
    return [one for name in names for one in project.series.range(name)]


def _status(project: Project, options: argparse.Namespace) -> int:
    series = (_several(project, options.series) if options.series
              else list(project.series))
    with Progress('looking at releases', len(series)) as progress:
        found = status.states(project, series, progress.advance)
    table = status.markdown(project, series, found)
    moved = status.stories(project, found)
    for story in moved:
        print(f'graft: {story}', file=sys.stderr)
    if options.update:
        page = options.update.read_text(encoding='utf-8')
        options.update.write_text(status.update(page, table),
                                  encoding='utf-8')
    elif options.check:
        page = options.check.read_text(encoding='utf-8')
        if status.update(page, table) != page:
            raise GraftError(
                f'{options.check} does not show the table as it is.',
                f'Run "graft status --update {options.check}".')
    else:
        print(table, end='')
    return 1 if moved else 0


def _checkout(project: Project, options: argparse.Namespace) -> int:
    fork = Fork.of(project, _one(project, options.series))
    print(Tree(fork, stock=options.stock, folder=options.to).make())
    return 0


def _build(project: Project, options: argparse.Namespace) -> int:
    fork = Fork.of(project, _one(project, options.series))
    print(Wheel(fork).write(options.to or project.root / 'dist'))
    return 0


def _diff(project: Project, options: argparse.Namespace) -> int:
    change = project.change(options.change)
    tree = Tree(Fork.of(project, _one(project, options.series)))
    tree.make()
    # What a review would hold; see "graft review".
    print(tree.git.git('show', '--stat', '--patch', '--format=%B',
                       tree.commit_of(change), '--', '.',
                       *(f':(exclude){path}' for path in change.own_files)))
    return 0


def _review(project: Project, options: argparse.Namespace) -> int:
    review = Review(project, project.change(options.change),
                    Repository(options.clone.resolve()))
    print(review.commit(options.series, options.backport_of))
    return 0


def _export(project: Project, options: argparse.Namespace) -> int:
    series = _one(project, options.series)
    folder = options.to or project.root / 'patches' / str(series)
    for path in export.export(Tree(Fork.of(project, series)),
                              options.format, folder,
                              options.site_packages):
        print(path)
    return 0


def _prove(project: Project, options: argparse.Namespace) -> int:
    changes = (project.changes if options.change == 'all'
               else [project.change(options.change)])
    series = (_several(project, options.series) or [project.series.newest])
    proofs = []
    with Progress('proving', len(series)) as progress:
        for one in series:
            new = prove.unavailable(one, changes) if options.available else []
            new = new or prove.prove(project, one, changes)
            for proof in new:
                progress.say(prove.tell(proof))
            proofs += new
            progress.advance()
    passed = sum(len(proof.fork.passed) for proof in proofs if proof.fork)
    print(f'{passed} tests pass on the fork; '
          f'{len(prove.unproven(proofs))} of {len(proofs)} not proven')
    return 1 if prove.unproven(proofs) else 0


def _test(project: Project, options: argparse.Namespace) -> int:
    series = _one(project, options.series)
    fork = Fork.of(project, series)
    names = options.tests or (
        fork.upstream_tests() if options.upstream else
        [name for change in fork.changes() for name in change.tests])
    if not names:
        raise UsageError(f'No change has tests for {series}.')
    environment = Environment(project, series).make()
    tree = Tree(fork, stock=options.stock).make()
    return Suite(environment, tree, names).run(options.rest)


def _run(project: Project, options: argparse.Namespace) -> int:
    if not options.rest:
        raise UsageError('There is no program to run.',
                         'It comes after "--".')
    series = _one(project, options.series)
    environment = Environment(project, series).make()
    tree = Tree(Fork.of(project, series), stock=options.stock).make()
    return environment.run(options.rest, tree)
