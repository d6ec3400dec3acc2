"""Whether a program divides work by the number of its threads: one thread says nothing of how several would do it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numasim.errors import InputError
from numasim.record.event_kinds import Event
from numasim.record.event_times import TimedEvents
from numasim.record.event_walk import Step, walk
from numasim.record.kernel_names import place_names

MOST = 0.01  # of the work of the program that a team may divide: the graph then has it as one thread's
_PS_PER_MS = 10**9


def require_undivided(threads: Sequence[TimedEvents]) -> None:
    """InputError where a recording of one thread has more than that: it names the region that has most of it."""
    if not any(np.isin(thread.events.kind, (Event.WORK, Event.TEAM)).any() for thread in threads):
        return
    walked = walk(threads)
    work_ps = sum(step[1] for task in walked.tasks.values() for step in task.steps if step[0] == Step.WORK)
    by_place: dict[int, int] = {}
    for region in walked.regions.values():
        by_place[region.place] = by_place.get(region.place, 0) + region.divided_ps
    if sum(by_place.values()) <= MOST * work_ps:
        return
    place = max(by_place, key=lambda each: by_place[each])
    name = place_names({place}, threads[0].events.modules)[place]
    mine_ms, all_ms = by_place[place] / _PS_PER_MS, work_ps / _PS_PER_MS
    raise InputError(
        f"the parallel region of {name} works {mine_ms:,.3f} ms, of {all_ms:,.3f} ms of the program, in loops or other "
        "code that a team divides among its threads",
        place="--threads",
        expected="as many threads as workers are to be simulated, on however many processors the program is recorded, "
        "such as --threads 16; --threads 1 for a team of one",
    )
