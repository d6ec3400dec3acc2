"""The whole validation: predict, run and compare every cell of every part."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from numasim.errors import InputError, when_interrupted
from numasim.files.owned_folder import owned_folder
from numasim.sweep.progress import progress_bar
from numasim.validate.cell_runs import Advance, run_cell, shared_graph
from numasim.validate.comparison import Comparison, Equality, Verdict, compare, equality, judge
from numasim.validate.part_files import Part
from numasim.validate.run_store import PAGE, TABLE, VALIDATION, StoredRuns


@dataclass(frozen=True)
class PartFindings:
    """The findings of one part: ``equalities`` for model costs, ``comparisons`` and ``verdicts`` for measured costs.

    ``rejected_runs`` counts the runs whose threads were not placed as described by the machine file:
    `placement_differs`.
    """

    part: Part
    comparisons: tuple[Comparison, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    equalities: tuple[Equality, ...] = ()
    rejected_runs: int = 0

    @property
    def broken(self) -> tuple[Verdict, ...]:
        """Return the bounds that are not met."""
        return tuple(verdict for verdict in self.verdicts if not verdict.met)

    @property
    def unequal(self) -> tuple[Equality, ...]:
        """Return the cells with a counter that differs."""
        return tuple(each for each in self.equalities if each.differing)

    @property
    def met(self) -> bool:
        """Return whether all bounds are met and all counters equal."""
        return not self.broken and not self.unequal


def validate_parts(
    parts: Sequence[Part], directory: Path, *, jobs: int = 1, progress: bool = False
) -> tuple[PartFindings, ...]:
    """Run the missing repeats of ``parts`` in ``directory``, and compare.

    ``jobs`` cells run at a time. Only virtual time allows more than one, since otherwise cells would compete for cores.
    Raise InputError for bad input, and CheckError if the program fails.
    """
    if jobs > 1 and any(part.file.mode != "virtual" for part in parts):
        raise InputError(f"jobs is {jobs}, and cells on real threads run alone", expected="--jobs 1")
    total = sum(len(part.cells) * part.repeats for part in parts)
    done: list[int] = []
    kept = when_interrupted(lambda: f"{sum(done)} of {total} runs are kept in {directory}; the same command continues")
    with owned_folder(directory, VALIDATION, (PAGE, TABLE)), kept, progress_bar(total, progress) as show:

        def advance(more: int) -> None:
            done.append(more)
            show(more)

        return tuple(findings_of(part, _run(part, directory, jobs, advance)) for part in parts)


def _run(part: Part, directory: Path, jobs: int, advance: Advance) -> list[StoredRuns]:
    """Return the runs of all cells in their order. After the first error no further cell is begun.

    A graph that cells share is recorded before any of these cells runs, so that no two threads record the graph.
    """
    found: list[StoredRuns] = []
    for _, some in groupby(part.cells, key=lambda cell: cell.program):
        cells = list(some)
        for cell in cells if part.file.exact else ():
            shared_graph(part, cell, directory)
        pool = ThreadPoolExecutor(jobs)
        try:
            found += pool.map(partial(run_cell, part, directory=directory, advance=advance), cells)
        finally:
            pool.shutdown(cancel_futures=True)
    return found


def findings_of(part: Part, runs: Sequence[StoredRuns]) -> PartFindings:
    """Compare the runs of all cells of a part, in the order of its cells."""
    each = list(zip(part.cells, runs, strict=True))
    if part.file.exact:
        return PartFindings(part, equalities=tuple(equality(part, cell, stored) for cell, stored in each))
    comparisons = tuple(one for cell, stored in each for one in compare(part, cell, stored))
    return PartFindings(
        part, comparisons, tuple(judge(part, comparisons)), rejected_runs=sum(stored.moved for stored in runs)
    )
