"""The home nodes of pages on every engine, against an oracle that places pages one by one, and by hand (model 2.2).

A granule is a number of neighbouring pages that are placed together. A scan makes pages inaccessible; the next touch of
a scanned page takes a hinting fault (model 2.11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import pytest
from engine_setup import NS, machine_spec, observe, plan_of, run, runtime, stealing, toy
from hypothesis import given, settings
from hypothesis import strategies as st
from task_graphs import Access, Run, body, graph, in_turn, items, phase

from numasim import draws
from numasim.engine.observe.trace_hash import Rank
from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.placement_model import TouchPolicyName
from numasim.plan.effects import NO_EFFECTS, Effects
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Mode, Pattern, Region, Workload

Document = dict[str, Any]
FAULT_NS, MIGRATE_NS = 7, 11
BY_TOUCH = ("first-touch", "first-touch-init", "parallel-first-touch", "next-touch", "deferred", "numa-balancing")


PAGE = 64
NODES = 3
LATENCY_NS = [[100, 300, 200], [200, 100, 200], [300, 200, 100]]
REGIONS = (Region("data", 37 * PAGE + 5, True), Region("fresh", 40 * PAGE, False), Region("more", 33 * PAGE, False))


class PageOracle:
    """The placement policies page by page, from the words of the model (2.2, 2.11), for programs of known times.

    Each page has a home node of its own, or each granule of pages if the policies place pages only when touched.

    ``workers`` are the nodes of workers, ``room`` [nodes] is in pages. Scans are simulated one by one.
    """

    def __init__(self, spec: Document, workers: Sequence[int], room: Sequence[int], seed: int) -> None:
        self.spec, self.workers, self.seed = spec, workers, seed
        self.pages = [-(-region.bytes // PAGE) for region in REGIONS]
        self.room = list(room) if spec.get("overflow") == "next" else None
        self.policy: Document = spec
        self.home: list[list[int | None]] = [[None] * pages for pages in self.pages]
        self.marked: set[tuple[int, int]] = set()
        self.bytes = [[0] * NODES for _ in range(NODES)]
        self.faults = self.migrated = 0
        self.overhead_ns = [0] * NODES  # [nodes] overhead of the worker on each node
        for r, region in enumerate(REGIONS):
            if region.initialised or self._is_static():
                for page in range(self.pages[r]):
                    self._put(r, [page], self._planned(r, page))
        if spec["policy"] == "next-touch":
            self._mark()
        self._start_scans(0)

    def _is_static(self) -> bool:
        name = self.spec["policy"]
        return name == "first-touch-master" or (name not in BY_TOUCH and not self.spec.get("changes"))

    def _planned(self, region: int, page: int) -> int:
        """Return the home node of a page by the formula of its policy, also for initialised regions."""
        policy, pages, workers = self.policy, self.pages[region], self.workers
        home_set = policy.get("nodes") or list(range(NODES))
        drawn = draws.draw(draws.base(self.seed, 4, region), page)
        homes = {
            "parallel-first-touch": workers[page * len(workers) // pages],
            "first-touch-init": workers[page * policy.get("tasks", 1) // pages % len(workers)],
            "interleave": home_set[page % len(home_set)],
            "by-region": home_set[region % len(home_set)],
            "bind": policy.get("node", 0),
            "block": page * NODES // pages,
            "random": home_set[draws.below(drawn, len(home_set))],
        }
        return homes.get(policy["policy"], workers[0])

    def _put(self, region: int, pages: Sequence[int], wanted: int) -> None:
        home = wanted
        if self.room is not None:
            order = sorted(range(NODES), key=lambda node: (node != wanted, LATENCY_NS[wanted][node], node))
            home = next((node for node in order if self.room[node] >= len(pages)), wanted)
            self.room[home] -= len(pages)
        for page in pages:
            self.home[region][page] = home

    def _mark(self) -> None:
        pages = ((r, page, home) for r, homes in enumerate(self.home) for page, home in enumerate(homes))
        self.marked = {(r, page) for r, page, home in pages if home is not None}

    def start_phase(self, phase: int, now_ps: int = 0) -> None:
        for change in self.spec.get("changes", ()):
            if change["phase"] == phase:
                self.policy = change
                if change["policy"] == "next-touch":
                    self._mark()
                self._start_scans(now_ps)

    def _start_scans(self, now_ps: int) -> None:
        """Start the scans of the policy that is in force from now on; earlier scans are forgotten."""
        self.scan: Document | None = self.policy.get("scan") if self.policy["policy"] == "numa-balancing" else None
        self.scanned: set[tuple[int, int]] = set()
        self.told: dict[tuple[int, int], list[int]] = {}  # by granule: the nodes of its hinting faults
        self.place = 0  # where the next scan begins, in pages of the address space
        self.next_scan_ps = now_ps + 1000 * self.scan["delay_ns"] if self.scan else None

    def pass_time(self, now_ps: int) -> None:
        """Do the scans that are due."""
        while self.scan and self.next_scan_ps is not None and self.next_scan_ps <= now_ps:
            end = self.place + self.scan["size"]
            self.scanned |= self._placed_from(self.place, end)
            self.place = end if end < sum(self.pages) * PAGE else 0
            self.next_scan_ps += 1000 * self.scan["period_ns"]

    def _placed_from(self, begin: int, end: int) -> set[tuple[int, int]]:
        """Return the placed pages whose granule begins at these places of the address space."""
        found, before = set(), 0
        for r, homes in enumerate(self.home):
            for page, home in enumerate(homes):
                if home is not None and begin <= (before + self._granule(r, page)[0]) * PAGE < end:
                    found.add((r, page))
            before += len(homes)
        return found

    def touch(self, access: Access, node: int, factor: int, now_ps: int = 0) -> None:
        """Execute one access of a worker on ``node``; the access moves each byte ``factor`` times."""
        self.pass_time(now_ps)
        for page in self._pages_of(access):
            self._touch_page(access, page, node)
        for byte in self._bytes_of(access):
            home = self.home[access.region][byte // PAGE]
            self.bytes[node][node if home is None else home] += factor

    def _touch_page(self, access: Access, page: int, node: int) -> None:
        r = access.region
        together = self._granule(r, page)
        if (r, page) in self.marked:
            self.marked -= {(r, each) for each in together}
            self._migrate(r, together, node)
        if (r, page) in self.scanned:
            self.scanned -= {(r, each) for each in together}
            self._hint(r, together, node)
        if self.home[r][page] is None and self._places(access):
            by_touch = self.policy["policy"] in BY_TOUCH
            self._put(r, together, node if by_touch else self._planned(r, page))
            self.faults += len(together)
            self.overhead_ns[node] += FAULT_NS * len(together)

    def _granule(self, region: int, page: int) -> range:
        """Return the pages that are placed together with a page."""
        granule = self.spec.get("granule", 16)
        first = page // granule * granule
        return range(first, min(first + granule, self.pages[region]))

    def _hint(self, region: int, pages: Sequence[int], node: int) -> None:
        assert self.scan is not None
        self.overhead_ns[node] += self.scan.get("fault_ns", FAULT_NS) * len(pages)
        told = self.told.setdefault((region, pages[0]), [])
        told.append(node)
        last = told[-self.scan["migrate_after"] :]
        if len(last) == self.scan["migrate_after"] and set(last) == {node}:
            self._migrate(region, pages, node)

    def _places(self, access: Access) -> bool:
        reads_place = self.spec.get("touch_on_read", "yes") == "yes" and self.policy["policy"] != "deferred"
        return access.mode != Mode.READ or reads_place

    def _migrate(self, region: int, pages: Sequence[int], node: int) -> None:
        home = self.home[region][pages[0]]
        assert home is not None
        if home == node or (self.room is not None and self.room[node] < len(pages)):
            return
        if self.room is not None:
            self.room[node] -= len(pages)
            self.room[home] += len(pages)
        for page in pages:
            self.home[region][page] = node
            self.bytes[node][home] += PAGE
        self.migrated += len(pages)
        self.overhead_ns[node] += MIGRATE_NS * len(pages)

    def node_pages(self) -> list[int]:
        """Return the pages by node."""
        return [sum(homes.count(node) for homes in self.home) for node in range(NODES)]

    def _bytes_of(self, access: Access) -> list[int]:
        rows = [access.offset + row * access.stride for row in range(access.rows)]
        return [byte for start in rows for byte in range(start, start + access.row_bytes)]

    def _pages_of(self, access: Access) -> list[int]:
        return sorted({byte // PAGE for byte in self._bytes_of(access)})


def small_pages(room: int) -> Machine:
    """Return a machine of three nodes of one core, at different distances, with ``room`` pages each."""
    usual = machine_spec(sockets=NODES, cores=1).model_dump(by_alias=True, exclude_none=True)
    nodes = {**usual["nodes"], "memory": room * PAGE}
    usual = {key: value for key, value in usual.items() if not key.endswith("latency_ns")}
    return build(MachineSpec.model_validate({**usual, "page": PAGE, "nodes": nodes, "latency_ns": LATENCY_NS}))


SMALL, LARGE = small_pages(40), small_pages(10_000)


@dataclass(frozen=True)
class Program:
    """A program with one access in each phase, by one worker."""

    placement: Document
    machine: Machine
    touches: tuple[tuple[int, Access, int], ...]  # (worker, access, compute time in ns)
    effects: Effects
    seed: int

    @property
    def plan(self) -> Plan:
        steps = [(worker, Run(compute_ns * NS, (access,))) for worker, access, compute_ns in self.touches]
        work = in_turn(*steps, regions=REGIONS, workers=NODES)
        how = runtime(costs={"fault_ns": FAULT_NS, "migrate_ns": MIGRATE_NS})
        return plan_of(work, NODES, stealing(placement=self.placement), how, self.machine, effects=self.effects)

    def oracle(self) -> PageOracle:
        room = [int(memory) // PAGE for memory in self.machine.memory_bytes]
        return PageOracle(self.placement, self.plan.workers.node.tolist(), room, self.seed)


scans = st.fixed_dictionaries(
    {
        "delay_ns": st.sampled_from([0, 0, 30, 900]),
        "period_ns": st.sampled_from([1, 20, 250, 3000]),
        "size": st.sampled_from([1, PAGE - 1, 5 * PAGE, 40 * PAGE, 10**6]),
        "migrate_after": st.sampled_from([1, 2, 2, 3]),
    },
    optional={"fault_ns": st.sampled_from([0, 5])},
)
home_sets = st.none() | st.lists(st.integers(0, NODES - 1), min_size=1, max_size=4)
POLICIES: dict[str, st.SearchStrategy[Document]] = {
    **{name: st.just({"policy": name}) for name in (*BY_TOUCH, "first-touch-master", "block")},
    "first-touch-init": st.builds(lambda tasks: {"policy": "first-touch-init", "tasks": tasks}, st.integers(1, 50)),
    "numa-balancing": st.builds(lambda scan: {"policy": "numa-balancing", "scan": scan}, scans),
    "bind": st.builds(lambda node: {"policy": "bind", "node": node}, st.integers(0, NODES - 1)),
    "interleave": st.builds(lambda nodes: {"policy": "interleave", "nodes": nodes}, home_sets),
    "random": st.builds(lambda nodes: {"policy": "random", "nodes": nodes}, home_sets),
}
one_policy = st.sampled_from(sorted(POLICIES)).flatmap(lambda name: POLICIES[name])


def accesses(page_bytes: int, regions: int, pattern: Pattern) -> st.SearchStrategy[Access]:
    """Draw up to three rows, which may overlap, within the first 31 pages of one of the first ``regions`` regions."""
    return st.builds(
        Access,
        region=st.integers(0, regions - 1),
        offset=st.integers(0, 10 * page_bytes),
        row_bytes=st.integers(1, 9 * page_bytes),
        rows=st.integers(1, 3),
        stride=st.integers(0, 6 * page_bytes),
        mode=st.sampled_from(Mode),
        pattern=st.just(pattern),
        passes=st.integers(1, 2),
    )


@st.composite
def programs(draw: st.DrawFn) -> Program:
    access = accesses(PAGE, len(REGIONS), Pattern.SEQUENTIAL)
    touch = st.tuples(st.integers(0, NODES - 1), access, st.sampled_from([0, 40, 1000]))
    touches = draw(st.lists(touch, min_size=1, max_size=9))
    phases = draw(st.lists(st.integers(0, len(touches) - 1), unique=True, max_size=2))
    moving = st.just({"policy": "next-touch"}) | POLICIES["numa-balancing"]
    changes = [{"phase": at, **draw(moving | one_policy)} for at in sorted(phases)]
    placement = {**draw(POLICIES["numa-balancing"] | one_policy), "changes": changes}
    placement["touch_on_read"] = draw(st.sampled_from(["yes", "no"]))
    wholly_by_touch = {each["policy"] for each in (placement, *changes)} <= {*get_args(TouchPolicyName)}
    placement["granule"] = draw(st.sampled_from([1, 3, 16])) if wholly_by_touch else 1
    placement["overflow"] = draw(st.sampled_from(["none", "next"]))
    effects = draw(st.sampled_from([NO_EFFECTS, Effects(contention="fluid")]))  # one worker saturates nothing
    seed = draw(st.integers(0, 2**64 - 1))
    return Program(placement, draw(st.sampled_from([SMALL, LARGE])), tuple(touches), effects, seed)


@given(program=programs())
@settings(max_examples=120)
def test_runs_equal_pages_placed_one_by_one(program: Program) -> None:
    oracle, seen = program.oracle(), observe(program.plan, program.seed)
    node_of = program.plan.workers.node.tolist()
    begins_ps = [0, *(end_ps for end_ps, *_ in seen.of_rank(Rank.RELEASE))]  # the begin of each phase, and the end
    for at, (worker, access, compute_ns) in enumerate(program.touches):
        factor = access.passes * (1 + (access.mode != Mode.READ))
        oracle.start_phase(at, begins_ps[at])
        paid_ns = sum(oracle.overhead_ns)
        oracle.touch(access, node_of[worker], factor, begins_ps[at])
        assert begins_ps[at + 1] - begins_ps[at] >= NS * (compute_ns + sum(oracle.overhead_ns) - paid_ns)
    assert seen.result.node_pages.tolist() == oracle.node_pages()
    assert seen.result.node_bytes.tolist() == oracle.bytes
    assert (seen["page_faults"], seen["pages_migrated"]) == (oracle.faults, oracle.migrated)
    assert seen.of_worker("overhead_ps") == [NS * oracle.overhead_ns[node] for node in node_of]


# ---- by hand -------------------------------------------------------------------------------------------------------

TWO_NODES = toy(sockets=2, cores=1)
KIB = 1024
DATA = Region("data", 64 * KIB, True)
FRESH = Region("fresh", 64 * KIB, False)
ALL = Access(0, 0, 64 * KIB)


def touched(*touches: tuple[int, Access], region: Region = DATA, names: tuple[str, ...] = ()) -> Workload:
    """Return accesses of worker 0 or 1, a phase for each access."""
    return in_turn(*((worker, Run(0, (access,))) for worker, access in touches), regions=(region,), names=names)


def placed(policy: str, **keys: Any) -> Any:
    return stealing(placement={"policy": policy, **keys})


@pytest.mark.parametrize("name", [2, "compute"])
def test_the_policy_changes_at_a_phase_by_number_or_name(name: int | str) -> None:
    work = touched((1, ALL), (0, ALL), (1, ALL), names=("first", "init", "compute"))
    strategy = placed("first-touch-master", changes=[{"phase": name, "policy": "next-touch"}])
    seen = run(work, strategy=strategy, machine=TWO_NODES)
    assert seen.result.node_bytes.tolist() == [[64 * KIB, 0], [2 * 64 * KIB, 64 * KIB]]
    assert seen["pages_migrated"] == 16


def test_repeats_of_a_phase_do_not_mark_again() -> None:
    phases = (phase(0, 1, deal=Deal.CYCLIC, repeat=2), phase(2, repeat=3))
    work = graph(body(), *[body(Run(0, (ALL,)))] * 2, regions=(DATA,), phases=phases)
    strategy = placed("bind", node=1, changes=[{"phase": 1, "policy": "next-touch"}])
    assert run(work, strategy=strategy, machine=TWO_NODES)["pages_migrated"] == 16


def test_hashed_bytes_are_dealt_evenly_by_grain() -> None:
    seen = run(touched((0, Access(0, 5, 1000))), strategy=placed("hash-home", grain=300), machine=TWO_NODES)
    assert seen.result.node_bytes[0].tolist() == [600, 400]
    assert seen.result.node_pages.tolist() == [8, 8]


def test_fresh_memory_of_a_range_is_placed_by_worker_0_beforehand() -> None:
    work = items(4, 0, accesses=(Access(0, 0, 4 * KIB, mode=Mode.WRITE),), steps=((1, 4 * KIB, 0),), deal=Deal.BLOCK,
                 regions=(FRESH,))  # fmt: skip
    seen = run(work, strategy=placed("deferred"), machine=TWO_NODES)
    assert (seen.result.node_pages.tolist(), seen["page_faults"]) == ([16, 0], 0)


# ---- errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ([{"phase": 3, "policy": "block"}], "phase 3 does not exist; expected a phase from 0 to 2, or one of a, b$"),
        ([{"phase": "c", "policy": "block"}], "phase 'c' does not exist"),
        ([{"phase": "a", "policy": "block"}], "phase 'a' is the name of several"),
        ([{"phase": "b", "policy": "block"}, {"phase": 2, "policy": "next-touch"}], "changes the policy twice"),
    ],
)
def test_phases_that_cannot_be_meant(changes: list[Document], sentence: str) -> None:
    work = touched((0, ALL), (1, ALL), (0, ALL), names=("a", "a", "b"))
    with pytest.raises(InputError, match=sentence):
        plan_of(work, 2, placed("first-touch", changes=changes), machine=TWO_NODES)


def test_pages_of_ranges_cannot_migrate() -> None:
    work = items(4, 0, accesses=(ALL,), steps=((1, 0, 0),), regions=(DATA,))
    with pytest.raises(InputError, match="access region 'data', whose pages would migrate under next-touch; expected"):
        plan_of(work, 2, placed("next-touch"), machine=TWO_NODES)


def test_more_pages_than_can_be_drawn() -> None:
    work = touched((0, ALL), region=Region("huge", 2**44, True))
    with pytest.raises(InputError, match="region 'huge' has 4294967296 pages, too many to place one by one on 2 nodes"):
        plan_of(work, 2, placed("random"), machine=TWO_NODES)
