"""Work as flows: durations computed at run time by a flow-level model (model 2.5, 2.6, 2.9 and the end of an instant of
1.2).

A worker's segment (a part of a task that computes and accesses memory) or range item (one of many similar tasks) is a
flow from its start to its end. Resources are controllers, links, caches and the address space. A flow's price is its
compute time, waits, page faults and units of resources; its nominal time is its time at its worker's speed if no
resource holds it back; its share is the part of its demands that resources give it. All this is computed at the end of
the instant in which a flow starts, so that the order of events within the instant plays no part:

1. Starting flows are priced in ascending worker id, each with its effect on caches and pages.
2. Every flow's nominal time follows from its worker's speed.
3. Shares of all resources are computed anew.
4. Flows that started, or whose share or nominal time has changed, get the time at which they end.

Interpretations of the model that are decided here:

- Overhead that is owed when a flow starts passes before its work, undisturbed; the demands count during it, too.
- Progress is exact: the time left of a flow is counted in 2**-48 of a picosecond, as shares are in 2**-48; a flow's
  end is rounded up. If the nominal time changes, the time left is rounded up to picoseconds, scaled and rounded up.
- Page faults and giving back memory are part of the nominal time, and count as overhead of the worker.
- The demands of an item are the mean of its range's items. A worker that goes on with an item of the same range in the
  same instant keeps the share of its last flow: for other flows nothing changes.
- Under contention `snapshot` a flow keeps the share that it would get at its start if all resources were shared out
  anew. (If the other flows kept their shares, the last flow to start would get nothing for as long as it runs.)
- The wait of a flow in the queues of controllers (model 2.5) follows from the controllers' loads when the flow starts,
  without flows that start in the same instant. It counts as contention. Items of ranges have fixed prices: no wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from numasim.draws import DrawClass, base, draw, turn_seed
from numasim.engine.observe.watch import Watch
from numasim.engine.reference.actors import Worker
from numasim.engine.reference.clock import SEG_END
from numasim.engine.reference.ledger import Executed
from numasim.engine.reference.memory.access_prices import MOST_BUSY_PPM, AccessPricing
from numasim.engine.reference.memory.caches import Place
from numasim.engine.reference.memory.helper_threads import HelperThreads
from numasim.engine.reference.memory.page_map import PageMap
from numasim.engine.reference.memory.speeds import Activity, Speed, Speeds
from numasim.engine.reference.run_state import Component, RunState
from numasim.parts.unit_factors import MILLION, PS_PER_S
from numasim.plan.effects import noisy_ps
from numasim.plan.item_prices import PricedItems, item_prices, seats_of
from numasim.plan.price import Price, Traffic
from numasim.plan.resources import resources_of
from numasim.strategy.placement.compile_placement import Placement
from numasim.workload.one_worker import LINE_BYTES

# ---- The shares of flows: normalised max-min fairness in integers (model 2.5 and 2.9) --------------------------------
#
# A flow that no resource holds back uses ``q`` units per second of each of its resources: its demands. Its share, in
# 2**-48, is the part of every demand that the flow gets. All flows that the same resource holds back get the same
# share, the *level* of that resource, and no flow's share can be raised without lowering the share of a flow with an
# equal or smaller share. A level is rounded down once; sums of used units are exact.


SHARE_BITS = 48
ONE = 1 << SHARE_BITS  # the share of a flow that no resource holds back

Demands = Sequence[tuple[int, int]]  # (resource, units per second); each resource once


def max_min_shares(capacity: Sequence[int], flows: Sequence[Demands]) -> list[int]:
    """Return [flows] the share of each flow in 2**-48, at least 1; ``capacity`` [resources] is in units per second.

    Each round finds the resource that allows the smallest share (ties: the lowest id), and all flows that use this
    resource and have no share yet get that share. Flows that no resource holds back have the share `ONE`.
    """
    shares = [ONE] * len(flows)
    open_flows = list(range(len(flows)))
    left = [units << SHARE_BITS for units in capacity]
    asked: dict[int, int] = {}
    for demands in flows:
        for r, q in demands:
            asked[r] = asked.get(r, 0) + q
    while True:
        levels = [(level(left[r], total), r) for r, total in sorted(asked.items()) if total]
        if not levels:
            return shares
        share, tight = min(levels)
        if share >= ONE:
            return shares
        for i in [i for i in open_flows if any(r == tight and q for r, q in flows[i])]:
            open_flows.remove(i)
            shares[i] = share
            for r, q in flows[i]:
                asked[r] -= q
                left[r] -= q * share


def level(left: int, asked: int) -> int:
    """Return the share of flows that demand ``asked`` units of a resource with ``left`` units in 2**-48 for them."""
    return max(1, max(0, left) // asked)


I64 = npt.NDArray[np.int64]

GRAPH = -1  # the range of a flow that is a segment of the graph


# ---- The flows of workers -------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Flow:
    """A segment or range item that a worker executes."""

    task: int
    segment: int
    family: int  # number of the item's range; GRAPH for a segment
    work_start_ps: int  # when the owed overhead has passed
    op: int = 0  # position in the task of the op that runs the segment
    share: int = ONE
    held: bool = False  # the share does not change (contention `snapshot`)
    price: Price = field(default_factory=lambda: Price(0))
    asks: Price = field(default_factory=lambda: Price(0))  # the price from which the demands follow
    demands: Demands = ()
    speed: Speed | None = None
    nominal_ps: int = 0  # time of the whole flow at the worker's present speed, if no resource holds it back
    left_ps: int = 0  # nominal time that was left when the nominal time last changed
    left: int = 0  # nominal time that was left at ``since_ps``, in 2**-48 ps
    since_ps: int = 0
    done_ps: int = 0  # nominal time that had passed when the nominal time last changed
    undisturbed_ps: int = 0  # time alone at full speed, without page faults
    queued_ps: int = 0  # the time that waiting in the queues of controllers adds
    local_ps: int = 0  # time alone at full speed, without page faults, if all bytes were local

    def start(self, nominal_ps: int, since_ps: int) -> None:
        """Start the whole flow at ``since_ps``."""
        self.nominal_ps = self.left_ps = nominal_ps
        self.left, self.since_ps, self.done_ps = nominal_ps << SHARE_BITS, since_ps, 0

    def progress(self, now_ps: int) -> None:
        """Subtract from ``left`` the nominal time that has passed between ``since_ps`` and ``now_ps``."""
        if now_ps > self.since_ps:
            self.left = max(0, self.left - (now_ps - self.since_ps) * self.share)
            self.since_ps = now_ps

    def scale(self, nominal_ps: int, now_ps: int) -> None:
        """Scale the time left, as the nominal time of the whole flow changes to ``nominal_ps``."""
        self.progress(now_ps)
        left_ps = -(-self.left >> SHARE_BITS)
        self.done_ps += self.left_ps - left_ps
        self.left_ps = -(-left_ps * nominal_ps // self.nominal_ps) if self.nominal_ps else nominal_ps
        self.left, self.nominal_ps = self.left_ps << SHARE_BITS, nominal_ps

    def end_ps(self) -> int:
        """Return the time in ps at which the flow ends if nothing changes."""
        return self.since_ps - (-self.left // self.share)

    def steady_ps(self) -> int:
        """Return the time in ps of the whole flow at its present speed and share."""
        return -((-self.nominal_ps << SHARE_BITS) // self.share)


class Flows(Component):
    """Starts and ends the flows of all workers, prices flows, and shares out the resources that they use together.

    ``unsettled`` is true from a change in this instant until its end, at which speeds and shares are computed anew.
    """

    def __init__(self, run: RunState, pages: PageMap, traffic: Traffic) -> None:
        super().__init__(run)
        plan = run.plan
        self._noise_seed = run.seed  # the seed of the phase's present run
        self._path_ps = run.program.path_ps
        self._traffic = traffic
        self.unsettled = False
        self._flow: list[Flow | None] = [None] * len(run.workers)  # the last flow of each worker
        self._starting: list[Worker] = []
        self._compute_ps = plan.workload.segment_compute_ps.tolist()
        self._resources = resources_of(plan)
        self._prices = AccessPricing(plan, pages, self._resources, traffic)
        self.helpers = HelperThreads(run, plan.helpers, self._prices, traffic) if plan.helpers else None
        self._speeds = Speeds(plan, run.seed)
        self._loads_reported = Counter[int]()
        self._items = self._price_items(run.placement)
        self._ran_priced: dict[PricedItems, list[int]] = {items: [] for each in self._items for items in each}

    def _price_items(self, placement: Placement) -> list[list[PricedItems]]:
        """Return [workers][ranges] items with their prices; workers with the same prices share the objects."""
        plan = self._plan
        made = {
            seat: [
                PricedItems(plan, each, family, self._seed)
                for each, family in zip(prices, plan.workload.ranges, strict=True)
            ]
            for seat, prices in item_prices(plan, placement).items()
        }
        return [made[seat] for seat in seats_of(plan.workers)]

    # ---- starts and ends -------------------------------------------------------------------------------------------

    def start_segment(self, w: Worker, task: int, segment: int) -> None:
        """Start a segment, with the overhead that is owed in front of it."""
        op = self._program.at[task] - self._program.start[task]
        self._start(w, Flow(task, segment, GRAPH, self._clock.now + w.owed_ps, op))

    def start_item(self, w: Worker, task: int) -> None:
        """Start a range item, with the overhead that is owed in front of it."""
        family, _ = self._tables.item(task)
        before, now = self._flow[w.id], self._clock.now
        flow = Flow(task, 0, family, now + w.owed_ps)
        if before is not None and before.family == family and w.rank == SEG_END and w.due == now:
            flow.share, flow.held = before.share, before.held
        self._start(w, flow)

    def _start(self, w: Worker, flow: Flow) -> None:
        w.pay()
        w.segment = flow.segment
        self._flow[w.id] = flow
        self._clock.expect(w, SEG_END, self._clock.now)
        w.works, w.began = True, flow.work_start_ps
        self._starting.append(w)
        self.activity_changed()

    def end(self, w: Worker) -> None:
        """Count the time of the worker's flow, which has ended, by its causes (model 6)."""
        self._clock.refuse()
        flow, now = self._flow_of(w), self._clock.now
        _count_work(w, flow, flow.done_ps + flow.left_ps, now - flow.work_start_ps)
        log = self._recorder.log
        if log is not None:
            log.append(Executed(flow.task, flow.segment, w.id, flow.work_start_ps, now))
        w.works = False
        self.activity_changed()

    def item_ps(self, w: Worker, family: int) -> int:
        """Return the time in ps of the worker's whole item in hand while nothing changes."""
        return self._flow_of(w).steady_ps()

    def pass_items(self, w: Worker, family: int, count: int, due_ps: int) -> None:
        """End the worker's item in hand and ``count`` - 1 equal items after it; its next item ends at ``due_ps``."""
        flow = self._flow_of(w)
        if not count:
            return
        wall_ps = flow.steady_ps()
        _count_work(w, flow, flow.done_ps + flow.left_ps, w.due - flow.work_start_ps)
        _count_work(w, flow, flow.nominal_ps, wall_ps, times=count - 1)
        self._items[w.id][flow.family].count(np.zeros(1, np.int64), self._traffic, count)
        flow.work_start_ps = due_ps - wall_ps
        flow.start(flow.nominal_ps, flow.work_start_ps)

    def activity_changed(self) -> None:
        """Compute speeds, shares and ends anew at the end of this instant; called when a worker's activity changes."""
        if not self.unsettled:
            self.unsettled = True
            self._clock.at_end_of_instant(1, self._settle)

    def _flow_of(self, w: Worker) -> Flow:
        flow = self._flow[w.id]
        assert flow is not None
        return flow

    # ---- the end of an instant -------------------------------------------------------------------------------------

    def _settle(self) -> None:
        self.unsettled = False
        starting = sorted(self._starting, key=lambda w: w.id)
        self._starting = []
        self._price(starting)
        changed = self._apply_speeds() | self._apply_shares()
        for w in starting:
            self._clock.schedule_flow(w, self._flow_of(w).end_ps())
        for ident in sorted(changed - {w.id for w in starting}):
            w = self._workers[ident]
            self._clock.reschedule_flow(w, self._flow_of(w).end_ps())
        if self._recorder.watch:
            self._report_loads(self._recorder.watch)

    def _report_loads(self, watch: Watch) -> None:
        loads = self._loads()
        for resource in sorted(loads.keys() | self._loads_reported.keys()):
            if loads[resource] != self._loads_reported[resource]:
                watch.load(self._clock.now, resource, loads[resource])
        self._loads_reported = loads

    def _loads(self) -> Counter[int]:
        """Return for each resource the units per second that flows use."""
        load = Counter[int]()
        for _, flow in self._running():
            for resource, q in flow.demands:
                load[resource] += q * flow.share
        return Counter({resource: used >> SHARE_BITS for resource, used in load.items()})

    def _running(self) -> list[tuple[Worker, Flow]]:
        """Return the flows that have not ended, in ascending order of their workers."""
        flows = zip(self._workers, self._flow, strict=True)
        return [(w, flow) for w, flow in flows if w.works and flow is not None]

    def _price(self, starting: list[Worker]) -> None:
        """Price the flows that start, with their effects on caches and pages, and count chains of work."""
        if self._plan.effects.queueing != "none":
            self._queue(self._loads())
        sharers = Counter(w.domain for w in self._workers if w.works)
        for w in starting:
            flow = self._flow_of(w)
            if flow.family == GRAPH:
                self._price_segment(w, flow, sharers[w.domain])
                self._recorder.ledger.page_faults += flow.price.placed
            else:
                self._price_item(w, flow)
            combined_ps, price = self._plan.effects.combined_ps, flow.price
            flow.undisturbed_ps = combined_ps(price.compute_ps, price.wait_ps)
            flow.local_ps = combined_ps(price.compute_ps, price.local_wait_ps)
            flow.queued_ps = combined_ps(price.compute_ps, price.wait_ps + price.queued_ps) - flow.undisturbed_ps
            if self.helpers:
                self.helpers.run_ahead(w, Place(w.domain, w.node, 0), flow.undisturbed_ps, price)
            self._recorder.ledger.pages_migrated += price.migrated
            w.began = flow.work_start_ps + price.fault_ps  # a watch is told of faults as overhead
            if flow.family == GRAPH:
                self._path_ps[flow.task] += flow.local_ps
            else:
                self._progress.lengthen(flow.local_ps)

    def _price_segment(self, w: Worker, flow: Flow, sharers: int) -> None:
        place = Place(w.domain, w.node, self._plan.machine.llc_bytes_of_domain[w.domain] // sharers)
        compute = self._noisy(self._compute_ps[flow.segment], flow.task, flow.segment)
        before = self._traffic.from_memory()[w.node] if self._measures else None
        brought = self.helpers.brought_for(w, flow.task) if self.helpers else None
        flow.price = flow.asks = self._prices.price(flow.segment, compute, place, op=flow.op, brought=brought)
        if self._measures:
            self._measures.bytes[flow.task] += self._traffic.from_memory()[w.node] - before

    def _price_item(self, w: Worker, flow: Flow) -> None:
        items = self._items[w.id][flow.family]
        item = flow.task - self._tables.range_base[flow.family]
        flow.price = items.price(item)
        flow.asks = items.mean
        self._ran_priced[items].append(item)

    def _noisy(self, compute_ps: int, stream: int, number: int) -> int:
        deviation = self._plan.effects.task_noise_ppm
        if not deviation:
            return compute_ps
        return noisy_ps(compute_ps, draw(base(self._noise_seed, DrawClass.DURATION, stream), number), deviation)

    def _queue(self, load: Counter[int]) -> None:
        """Set the wait of a miss at each controller: the mean wait of an M/D/1 queue with this ``load``."""
        for node in range(self._plan.machine.nodes):
            capacity = self._resources.capacity[node]
            busy = min(MOST_BUSY_PPM, load[node] * MILLION // capacity)
            service_ps = LINE_BYTES * PS_PER_S // capacity
            self._prices.queueing_ps[node] = busy * service_ps // (2 * (MILLION - busy))

    def _nominal_ps(self, price: Price, speed: Speed) -> int:
        compute_ps = -(-price.compute_ps * MILLION // speed.compute_ppm)
        wait_ps = -(-(price.wait_ps + price.queued_ps) * MILLION // speed.memory_ppm)
        return self._plan.effects.combined_ps(compute_ps, wait_ps) + price.fault_ps

    # ---- speeds and shares -----------------------------------------------------------------------------------------

    def _activity(self, w: Worker) -> Activity:
        if w.rests:
            return Activity.RESTS
        return Activity.POLLS if w.idle or w.spins else Activity.EXECUTES

    def _apply_speeds(self) -> set[int]:
        """Give every flow its worker's speed, and its demands; return the workers whose flows are new or changed."""
        changed = set()
        speeds = self._speeds.of_all([self._activity(w) for w in self._workers])
        for w, flow in self._running():
            speed = speeds[w.id]
            if flow.speed == speed:
                continue
            nominal = self._nominal_ps(flow.price, speed)
            if flow.speed is None:
                flow.start(nominal, flow.work_start_ps)
            else:
                flow.scale(nominal, self._clock.now)
            flow.speed = speed
            asked = nominal if flow.family == GRAPH else self._nominal_ps(flow.asks, speed)
            units = sorted(flow.asks.units.items()) if asked else ()
            flow.demands = tuple((resource, unit * PS_PER_S // asked) for resource, unit in units)
            changed.add(w.id)
        return changed

    def _apply_shares(self) -> set[int]:
        """Share out anew the resources that flows use together; return the workers whose shares have changed."""
        if self._plan.effects.contention == "none":
            return set()
        running = self._running()
        shares = max_min_shares(self._capacity(), [flow.demands for _, flow in running])
        changed = set()
        for (w, flow), share in zip(running, shares, strict=True):
            if share != flow.share and not flow.held:
                flow.progress(self._clock.now)
                flow.share = share
                changed.add(w.id)
            flow.held = self._plan.effects.contention == "snapshot"
        return changed

    def _capacity(self) -> list[int]:
        """Return [resources] the units per second; those of page faults depend on how many nodes take faults."""
        capacity, faults = list(self._resources.capacity), self._resources.faults
        if faults >= 0:
            users = {w.node for w, flow in self._running() if dict(flow.demands).get(faults)}
            capacity[faults] = self._resources.faults_capacity(len(users))
        return capacity

    # ---- traffic ---------------------------------------------------------------------------------------------------

    def start_turn(self, turn: int) -> None:
        """Begin run number ``turn`` of a phase, with other random deviations of the tasks' compute times."""
        self._noise_seed = turn_seed(self._seed, turn)
        for items in (items for families in self._items for items in families):
            items.start_turn(turn)

    def fold(self) -> None:
        """Add up the bytes of the items that started after the last call of `fold`."""
        for priced, items in self._ran_priced.items():
            if items:
                priced.count(np.array(items), self._traffic)
                items.clear()

    def node_bytes(self) -> I64:
        """Return [accessing node, home node] the bytes that have moved from and to memory, up to the last `fold`."""
        return self._traffic.from_memory()


def _count_work(w: Worker, flow: Flow, done_ps: int, wall_ps: int, times: int = 1) -> None:
    """Count the time of ``times`` flows like this one, by its causes: ``wall_ps`` is the time by the clock, ``done_ps``
    the part of it that would have passed at the flow's speeds if no resource had held it back.
    """
    w.work_local_ps += times * flow.local_ps
    w.inflation_numa_ps += times * (flow.undisturbed_ps - flow.local_ps)
    w.overhead_ps += times * flow.price.fault_ps
    w.inflation_smt_ps += times * (done_ps - flow.undisturbed_ps - flow.queued_ps - flow.price.fault_ps)
    w.inflation_contention_ps += times * (wall_ps - done_ps + flow.queued_ps)
