"""Programs under automatic NUMA balancing with results worked out by hand (model 2.11), for every engine.

One worker at a time reads all pages of one region and computes for 100 us meanwhile, in a phase of its own: as long as
nothing costs anything, touch number i is at 100 i us. Unless a case says otherwise, the pages are on node 0, the node
of worker 0, and all pages are scanned at 50, 150, 250, ... us, so that there is one scan between two touches. A hinting
fault takes 100 ns, a page fault 70 ns and a migration 900 ns, too little to change the order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine_setup import NS, plan_of, runtime, stealing, toy
from task_graphs import Access, Run, body, graph, phase

from numasim.plan.effects import NO_EFFECTS, Effects
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Region, Workload

PAGE = 4096
STEP_NS = 100_000
HINT_NS, FAULT_NS, MIGRATE_NS = 100, 70, 900
SCAN: dict[str, Any] = {"delay_ns": 50_000, "period_ns": STEP_NS, "size": "1MiB", "fault_ns": HINT_NS}
TWO_NODES = toy(sockets=2, cores=1)


@dataclass(frozen=True)
class Balanced:
    """A program and its results: ``read`` [worker][node] pages, including pages that are copied when they migrate,
    ``hints`` [worker] pages with hinting faults.
    """

    name: str
    touchers: tuple[int, ...]
    read: list[list[int]]
    hints: tuple[int, int]
    migrated: int = 0  # pages, all of them to the node of worker 1
    placed: int = 0  # pages, all of them by worker 1
    pages: int = 1
    scan: dict[str, Any] = field(default_factory=dict)  # what differs from SCAN
    placement: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    @property
    def overhead_ns(self) -> list[int]:
        """Return the overhead of each worker."""
        theirs = self.hints[1] * HINT_NS + self.placed * FAULT_NS + self.migrated * MIGRATE_NS
        return [self.hints[0] * HINT_NS, theirs]

    @property
    def makespan_ns(self) -> int:
        """Return the time of the touches one after the other."""
        return len(self.touchers) * STEP_NS + sum(self.overhead_ns)

    def plan(self, effects: Effects = NO_EFFECTS, **costs: Any) -> Plan:
        """Return the plan of the program, with other costs or effects if given."""
        regions = (Region("data", self.pages * PAGE, initialised=not self.placed),)
        placement = {"policy": "numa-balancing", "scan": {**SCAN, **self.scan}, "granule": 1, **self.placement}
        work = touched_in_turn(self.touchers, Access(0, 0, self.pages * PAGE), regions)
        how = runtime(costs={"fault_ns": FAULT_NS, "migrate_ns": MIGRATE_NS, **costs})
        return plan_of(work, 2, stealing(placement=placement), how, TWO_NODES, effects=effects)


def touched_in_turn(touchers: tuple[int, ...], access: Access, regions: tuple[Region, ...]) -> Workload:
    """Return a program with a phase for each touch; the worker that does not touch anything waits."""
    step = Run(STEP_NS * NS, (access,))
    bodies = [body(step) if w == toucher else body() for toucher in touchers for w in (0, 1)]
    phases = (phase(2 * at, 2 * at + 1, deal=Deal.CYCLIC) for at in range(len(touchers)))
    return graph(*bodies, phases=tuple(phases), regions=regions)


ON_THE_WAY = {"policy": "numa-balancing", "scan": SCAN}
CASES = (
    # Nothing is scanned before touch 0. Touches 1 and 2 take hinting faults; at the second one the page is copied and
    # then read at home, as in touch 3, which takes a third one.
    Balanced("twice in a row", (1, 1, 1, 1), [[0, 0], [3, 2]], (0, 3), migrated=1),
    # Touches 1 to 5 take hinting faults, of worker 0, 1, 0, 1, 0: never two of one node in a row.
    Balanced("in turn", (1, 0, 1, 0, 1, 0), [[3, 0], [3, 0]], (3, 2)),
    Balanced("once", (0, 1), [[1, 0], [1, 0]], (0, 1)),
    # Hinting faults of 1, 0, 1, 1: the one of worker 0, whose page it is, comes between; the last two are in a row.
    Balanced("interrupted", (1, 1, 0, 1, 1), [[1, 0], [4, 1]], (1, 3), migrated=1),
    Balanced("before the delay", (1, 1, 1, 1), [[0, 0], [4, 0]], (0, 0), scan={"delay_ns": 400_000}),
    # Scans at 100, 300 and 500 us: the first at the very time of touch 1, the second between touches 2 and 3.
    Balanced(
        "scan and touch in one instant", (1, 1, 1, 1, 1), [[0, 0], [4, 2]], (0, 2), migrated=1,
        scan={"delay_ns": STEP_NS, "period_ns": 2 * STEP_NS},
    ),
    # Ten scans between two touches are one hinting fault.
    Balanced("many scans", (1, 1, 1), [[0, 0], [3, 1]], (0, 2), migrated=1, scan={"period_ns": 10_000}),
    # Two pages a scan: 0 and 1 before touches 1 and 3, 2 and 3 before touches 2 and 4. At touch 3 two pages are copied
    # and two read remotely, at touch 4 two are copied.
    Balanced(
        "windows", (1, 1, 1, 1, 1), [[0, 0], [4 + 4 + 4 + 4 + 2, 2 + 4]], (0, 8), migrated=4, pages=4,
        scan={"size": 2 * PAGE},
    ),
    # The second window has one page; the third scan begins with page 0 again.
    Balanced(
        "end of the address space", (1, 1, 1, 1, 1), [[0, 0], [3 + 3 + 3 + 3 + 1, 2 + 3]], (0, 6), migrated=3, pages=3,
        scan={"size": 2 * PAGE},
    ),
    # A quarter of a page a scan: of four scans, one finds the begin of the page.
    Balanced(
        "windows without a page", (1, 1, 1), [[0, 0], [3, 1]], (0, 2), migrated=1,
        scan={"size": PAGE // 4, "period_ns": STEP_NS // 4},
    ),
    # Scanned at 0, 10, 20, ... us, but placed at 0 us by worker 1: touches 1 and 2 take hinting faults at home.
    Balanced(
        "placed by the first touch", (1, 1, 1), [[0, 0], [0, 3]], (0, 2), placed=1,
        scan={"delay_ns": 0, "period_ns": 10_000},
    ),
    Balanced("at the first", (1, 1), [[0, 0], [2, 1]], (0, 1), migrated=1, scan={"migrate_after": 1}),
    Balanced("at the third", (1, 1, 1, 1), [[0, 0], [4, 1]], (0, 3), migrated=1, scan={"migrate_after": 3}),
    # Pages that were placed together take hinting faults and migrate together.
    Balanced(
        "granules", (1, 1, 1), [[0, 0], [48, 16]], (0, 32), migrated=16, pages=16, placement={"granule": 16},
    ),
    # In force from touch 2 on, at 200 us: scans at 250 and 350 us, hinting faults at touches 3 and 4.
    Balanced(
        "from a phase on", (1, 1, 1, 1, 1), [[0, 0], [5, 1]], (0, 2), migrated=1,
        placement={"policy": "first-touch-master", "scan": None, "changes": [{"phase": 2, **ON_THE_WAY}]},
    ),
    # Scanned at 50 us; at touch 2 everything begins anew, and the hinting fault of touch 3 is the first again.
    Balanced(
        "forgotten", (1, 1, 1, 1), [[0, 0], [4, 0]], (0, 2), placement={"changes": [{"phase": 2, **ON_THE_WAY}]},
    ),
)  # fmt: skip
