"""What the recorder and the runtime take themselves, measured on a program in which nothing happens.

Of every pair of events that can begin and end a piece of work, the program has thousands of pieces without any work:
the mean of their times, the longest tenth aside, is what is taken out of the pieces of other programs. It includes what
the runtime does between these events, which a simulation charges by the costs of its runtime.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.runtime.record.event_kinds import Event
from numasim.runtime.record.event_times import TimedEvents, shortest, tick_ps, timed
from numasim.runtime.record.event_walk import Step, walk
from numasim.runtime.record.openmp_library import OpenmpLibrary
from numasim.runtime.record.piece_costs import PieceCosts
from numasim.runtime.record.program_runs import recorded_run

PROBE = Path(__file__).with_name("numasim-openmp-probe")
ROUNDS = 1000
RUNS = 5
FEWEST = 100  # pieces of a pair of events, for a mean
KEPT = 0.9  # of the pieces: the others were disturbed


def find_probe() -> Path:
    """The program that measures. InputError where it was not built."""
    if not PROBE.is_file():
        raise InputError(
            "the program that measures OpenMP runtimes is not built here",
            place=str(PROBE),
            expected="an installation of numasim on Linux with a C compiler",
        )
    return PROBE


def measure_own_costs(openmp: OpenmpLibrary, threads: int = 1) -> PieceCosts:
    """The costs on this machine, with that runtime, of a program with so many threads: with one, with several."""
    command = (str(find_probe()), "empty", str(ROUNDS))
    recordings = [recorded_run(command, openmp, min(threads, 2), quiet=True)[0] for _ in range(RUNS)]
    plain = [timed(threads[0], tick_ps(threads), 0) for threads in recordings]
    allocate_ps = min(_allocate_ps(each, tick_ps(threads)) for each, threads in zip(plain, recordings, strict=True))
    joined = shortest([timed(threads[0], tick_ps(threads), allocate_ps) for threads in recordings])
    return PieceCosts(empty_pieces(joined), allocate_ps)


def empty_pieces(recording: TimedEvents) -> dict[tuple[int, int], int]:
    """The mean time, in ps, of the pieces between each pair of events; pairs with few pieces are left out."""
    found: dict[tuple[int, int], list[int]] = {}
    for task in walk([recording]).tasks.values():
        for step in task.steps:
            if step[0] == Step.WORK:
                found.setdefault((step[2], step[3]), []).append(step[1])
    return {ends: usual(np.array(times)) for ends, times in found.items() if len(times) >= FEWEST}


def _allocate_ps(recording: TimedEvents, each_ps: float) -> int:
    """The time from an allocation to the release behind it, as the program does nothing with the memory."""
    kind: npt.NDArray[np.uint8] = recording.aside.kind
    pairs = np.flatnonzero((kind[:-1] == Event.ALLOCATE) & (kind[1:] == Event.RELEASE))
    if len(pairs) < FEWEST:
        return 0
    ticks = recording.aside.ticks
    return int(usual(ticks[pairs + 1] - ticks[pairs]) * each_ps)


def usual(times: npt.NDArray[np.int64]) -> int:
    """The mean of the times that are not the longest: clocks with long ticks have no other."""
    kept = np.sort(times)[: max(1, int(KEPT * len(times)))]
    return round(float(np.mean(kept)))
