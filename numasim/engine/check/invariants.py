"""The invariants of every result of every engine (model 8, items 1 and 7). Breaking one is a defect of numasim.

Each invariant is a function that yields a sentence for each violation. A segment is a part of a task that computes and
accesses memory. A range is many similar tasks, its items, that one rule (a family) describes. The log of a run lists
each execution of a segment or item: worker, begin and end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from numasim.engine.reference.ledger import Executed
from numasim.engine.result import TIME, Result
from numasim.errors import CheckError
from numasim.plan.address_space import ItemPages
from numasim.plan.item_prices import ITEMS_AT_ONCE
from numasim.plan.node_bytes import NodeBytes
from numasim.plan.plan import Plan, Run
from numasim.schema.enumerations import AmountKind
from numasim.workload.amounts import exact_sum
from numasim.workload.graph import I64, Accesses, Op, RangeFamily, Workload
from numasim.workload.one_worker import by_task, traffic_factor
from numasim.workload.unfold import unfolded

Log = Sequence[Executed] | None
Runs = Counter[tuple[int, int]]  # how often each segment of each task has run
Invariant = Callable[[Run, Result, Log], Iterator[str]]


def violations(run: Run, result: Result, log: Log = None) -> list[str]:
    """Return a sentence for each violation of an invariant by ``result``; some are checked only with a log."""
    return [sentence for invariant in INVARIANTS for sentence in invariant(run, result, log)]


def assert_valid(run: Run, result: Result, log: Log = None) -> None:
    """Raise CheckError with every violation."""
    found = violations(run, result, log)
    if found:
        raise CheckError("; ".join(found))


def every_task_runs(run: Run, result: Result, log: Log) -> Iterator[str]:
    """As many tasks finish as the workload has. With a log, every segment and item runs once in each run of its phase,
    and a segment of a transaction once more for each attempt that aborts after the segment.
    """
    plan = run.plan
    done, there = result.counters["tasks"], plan.workload.tasks
    if done != there:
        yield f"{done} tasks ran, but the workload has {there}"
    if log is None:
        return
    ran = Counter((each.task, each.segment) for each in log)
    work = unfolded(plan.workload)
    expected = _expected_runs(work)
    if result.passed_items:  # a shortcut has counted items without executing each, so that only their number is known
        ran, expected = _items_as_one(ran, work.rows), _items_as_one(expected, work.rows)
        ran[work.rows, 0] += result.passed_items
    if result.counters["aborts"]:
        yield from _attempts_add_up(work, result, ran, expected)
    for key in sorted(ran.keys() | expected.keys()) if ran != expected else ():
        if ran[key] != expected[key]:
            yield f"task {key[0]} segment {key[1]} ran {ran[key]} times instead of {expected[key]}"
            return


def _attempts_add_up(work: Workload, result: Result, ran: Runs, expected: Runs) -> Iterator[str]:
    """No segment of a transaction runs more often than the segment before it, and first segments of transactions run in
    vain at most as often as attempts abort. Runs of attempts that aborted are subtracted from ``ran``.
    """
    begun = 0
    for task in range(work.rows):
        before: int | None = None  # how often the transaction's segment before has run
        inside = False
        for code, operand in _ops(work, task):
            key = task, operand
            if code in (Op.BEGIN, Op.COMMIT):
                inside, before = code == Op.BEGIN, None
            elif inside and code == Op.RUN:
                begun += ran[key] - expected[key] if before is None else 0
                if before is not None and ran[key] > before:
                    yield f"task {task} ran segment {key[1]} more often than the one before it in their transaction"
                before, ran[key] = ran[key], min(ran[key], expected[key])
    if begun > result.counters["aborts"]:
        yield f"{begun} attempts ran in vain, but {result.counters['aborts']} aborted"


def _ops(work: Workload, task: int) -> Iterator[tuple[int, int]]:
    """Return the code and the operand of each op of a task."""
    ops = slice(int(work.op_ptr[task]), int(work.op_ptr[task + 1]))
    return zip(work.op_code[ops].tolist(), work.op_arg[ops].tolist(), strict=True)


def _items_as_one(runs: Runs, rows: int) -> Runs:
    """Return ``runs`` with the runs of all range items, whose ids begin at ``rows``, added up for the first item."""
    merged = Runs()
    for (task, segment), times in runs.items():
        merged[min(task, rows), segment] += times
    return merged


def _expected_runs(work: Workload) -> Runs:
    ends = work.subtree_end()
    expected = Runs()
    first_item = np.cumsum([work.rows, *(f.count for f in work.ranges)])
    for phase, runs in zip(work.phases, work.runs, strict=True):
        for root in phase.roots:
            for task in range(root, int(ends[root])):
                for code, operand in _ops(work, task):
                    if code == Op.RUN:
                        expected[task, operand] += runs
        if phase.range_family is not None:
            base = int(first_item[phase.range_family])
            for item in range(base, base + work.ranges[phase.range_family].count):
                expected[item, 0] += runs
    return expected


def one_thing_at_a_time(run: Run, result: Result, log: Log) -> Iterator[str]:
    """No worker executes two segments at once, or a segment after the makespan."""
    by_worker: dict[int, list[Executed]] = defaultdict(list)
    for each in log or ():
        by_worker[each.worker].append(each)
    for worker, stretches in sorted(by_worker.items()):
        stretches.sort(key=lambda each: (each.start_ps, each.end_ps))
        for before, after in pairwise(stretches):
            if after.start_ps < before.end_ps:
                yield f"worker {worker} runs task {after.task} at {after.start_ps} ps, before task {before.task} ends"
                return
        if stretches[-1].end_ps > result.counters["makespan_ps"]:
            yield f"worker {worker} works beyond the makespan"


def parents_come_first(run: Run, result: Result, log: Log) -> Iterator[str]:
    """A task starts after its spawn and its predecessors, and goes on behind a wait after the children or the group of
    tasks that it waits for. Not checked without a log, or if a task runs more than once.
    """
    roots = [root for phase in run.plan.workload.phases for root in phase.roots]
    runs_again = max(run.plan.workload.runs) > 1 or len(set(roots)) < len(roots)  # some task, more than once
    if not log or runs_again:
        return
    work = unfolded(run.plan.workload)
    start: dict[int, int] = {}
    end: dict[int, int] = {}
    segments = {(each.task, each.segment): each for each in log}
    for each in log:
        start[each.task] = min(start.get(each.task, each.start_ps), each.start_ps)
        end[each.task] = max(end.get(each.task, 0), each.end_ps)
    yield from _program_order(work, start, end, segments)
    for task in range(work.rows):
        for successor in work.successor[work.successor_ptr[task] : work.successor_ptr[task + 1]].tolist():
            if task in end and successor in start and start[successor] < end[task]:
                yield f"task {successor} starts before its predecessor {task} ends"
                return


def _program_order(
    work: Workload, start: dict[int, int], end: dict[int, int], segments: dict[tuple[int, int], Executed]
) -> Iterator[str]:
    ends = work.subtree_end()
    for task in range(work.rows):
        now = 0
        children: list[int] = []
        groups: list[list[int]] = []  # the open groups of the task, each with the tasks spawned and called in the group
        for op, operand in _ops(work, task):
            if op == Op.RUN:
                ran = segments.get((task, operand))
                if ran and ran.start_ps < now:
                    yield f"task {task} runs segment {operand} too early, at {ran.start_ps} ps"
                    return
                now = ran.end_ps if ran else now
            elif op == Op.WAIT:
                now = max([now, *(end[c] for c in children if c in end)])
            elif op == Op.GROUP:
                groups.append([])
            elif op == Op.END_GROUP:
                inside = (t for child in groups.pop() for t in range(child, int(ends[child])))
                now = max([now, *(end[t] for t in inside if t in end)])
            elif op in (Op.SPAWN, Op.CALL):
                if operand in start and start[operand] < now:
                    yield f"task {operand} starts at {start[operand]} ps, before task {task} spawns it"
                    return
                children.append(operand)
                for group in groups:
                    group.append(operand)
                if op == Op.CALL:
                    now = max(now, end.get(operand, now))


def time_bounds(run: Run, result: Result, log: Log) -> Iterator[str]:
    """The span is at most the work; the makespan is at least the span and at least the work over the workers (all bytes
    local). The makespan is not checked if remote memory may be faster than local, or if workers' speeds differ.
    """
    plan = run.plan
    c, workers = result.counters, plan.workers.workers
    if not c["span_ps"] <= c["work_ps"]:
        yield f"span {c['span_ps']} ps exceeds the work {c['work_ps']} ps"
    latency, caches = plan.machine.latency_ps, plan.machine.caches
    near_caches = plan.effects.cache != "none" and caches.llc_remote_hit_ps < caches.llc_hit_ps
    near_memory = bool((latency < np.diagonal(latency)[:, None]).any())
    if near_memory or near_caches or plan.effects.worker_spread_ppm > 0:
        return
    if c["makespan_ps"] * workers < c["work_ps"]:
        yield f"makespan {c['makespan_ps']} ps is below work / workers"
    if c["makespan_ps"] < c["span_ps"]:
        yield f"makespan {c['makespan_ps']} ps is below the span {c['span_ps']} ps"


def time_adds_up(run: Run, result: Result, log: Log) -> Iterator[str]:
    """The parts of every worker's time are not negative and add up to the makespan."""
    parts = np.array([result.per_worker[name] for name in TIME])[:, : run.plan.workers.workers]
    for worker, total in enumerate(parts.sum(axis=0).tolist()):
        if total != result.counters["makespan_ps"]:
            yield f"the time of worker {worker} adds up to {total} ps, not to the makespan"
            return
    signed = [TIME.index("inflation_numa_ps")]  # remote memory may be faster than local memory in a machine file
    if run.plan.effects.worker_spread_ppm:
        signed.append(TIME.index("inflation_smt_ps"))
    negative = np.argwhere(np.delete(parts, signed, axis=0) < 0)
    if len(negative):
        yield f"a part of the time of worker {int(negative[0][1])} is negative"


def steals_add_up(run: Run, result: Result, log: Log) -> Iterator[str]:
    """Steal attempts are the successful and the failed ones together, in all, between nodes, and by pair of nodes."""
    plan = run.plan
    c = result.counters
    for suffix in ("", "_remote"):
        attempts, success, false = (c[f"steal_{kind}{suffix}"] for kind in ("attempts", "success", "false"))
        if attempts != success + false or min(attempts, success, false) < 0:
            yield f"steal_attempts{suffix} {attempts} is not {success} successes + {false} false ones"
    if c["tasks_stolen"] < c["steal_success"]:
        yield "fewer tasks were stolen than steals succeeded"
    one = (plan.steal.level["amount_kind"] == AmountKind.COUNT) & (plan.steal.level["amount"] == 1)
    if one.all() and c["tasks_stolen"] != c["steal_success"]:
        yield "every steal takes one task, but tasks_stolen is not steal_success"
    yield from _pairs_add_up(plan, result)


def _pairs_add_up(plan: Plan, result: Result) -> Iterator[str]:
    for kind, pairs in (("attempts", result.node_attempts), ("success", result.node_success)):
        if int(pairs.sum()) - int(np.trace(pairs)) != result.counters[f"steal_{kind}_remote"]:
            yield f"the remote node pairs of steal_{kind} do not add up to its remote count"
        counted = plan.steal.backoff.empty == "count" and kind == "attempts"
        if int(pairs.sum()) != result.counters[f"steal_{kind}"] and not counted:
            yield f"the node pairs of steal_{kind} do not add up to it"


def bytes_are_conserved(run: Run, result: Result, log: Log) -> Iterator[str]:
    """The bytes moved or found in a cache are those of the workload's accesses, of migrated pages and of prefetches."""
    plan = run.plan
    if result.counters["aborts"] and log is None:
        return
    tasks = _executed_bytes(plan, log) if log and result.counters["aborts"] else _declared_bytes(plan.workload)
    declared = tasks + sum(runs * _item_bytes(run, family) for family, runs in _ranges(plan.workload))
    copied = result.counters["pages_migrated"] * plan.machine.page_bytes + result.counters["bytes_prefetched"]
    moved = int(result.node_bytes.sum())
    cached = result.counters["bytes_cache"] + result.counters["bytes_c2c"]
    if moved + cached - copied != declared:
        migrated = f" and {copied} migrated or were prefetched" if copied else ""
        yield f"{moved} bytes were moved and {cached} found in caches, but the workload declares {declared}{migrated}"
    kinds = sum(int(pairs.sum()) for pairs in result.traffic.values())
    if result.traffic and kinds != moved + result.counters["bytes_c2c"]:
        yield f"{kinds} bytes of all kinds are not the {moved} from memory and those from other caches"
    if moved != result.counters["bytes_local"] + result.counters["bytes_remote"]:
        yield "bytes_local and bytes_remote do not add up to the node pairs"


def pages_are_conserved(run: Run, result: Result, log: Log) -> Iterator[str]:
    """Nodes hold as many pages as were placed before the run or by page faults, and no more than the regions have; page
    faults of items on fresh memory outside of regions do not count. Items give back as many pages as they declare.
    """
    rules, work = run.plan.placement, run.plan.workload
    fresh = freed = 0
    for family, runs in _ranges(work):
        if family.changes_pages:
            pages = ItemPages(run.plan, family, run.seed, node=0)
            for items in _every_item(family):
                placed, near, far, _ = pages.pages(items)
                fresh += runs * exact_sum(placed)
                freed += runs * (exact_sum(near) + exact_sum(far))
    placed_pages = int(rules.pages[~rules.unplaced].sum()) + result.counters["page_faults"] - fresh
    if placed_pages != int(result.node_pages.sum()) or (result.node_pages < 0).any():
        yield f"{placed_pages} pages were placed, but nodes hold {result.node_pages.tolist()}"
    if placed_pages > int(rules.pages.sum()):
        yield f"{placed_pages} pages were placed, but there are {int(rules.pages.sum())}"
    if result.counters["pages_unmapped"] != freed:
        yield f"{result.counters['pages_unmapped']} pages were given back, but items have {freed}"


def _ranges(work: Workload) -> Iterator[tuple[RangeFamily, int]]:
    """Yield (family, runs of the phase) of every phase with a range."""
    for phase, runs in zip(work.phases, work.runs, strict=True):
        if phase.range_family is not None:
            yield work.ranges[phase.range_family], runs


def _every_item(family: RangeFamily) -> Iterator[I64]:
    """Yield the numbers of the items of a family, `ITEMS_AT_ONCE` at a time."""
    for first in range(0, family.count, ITEMS_AT_ONCE):
        yield np.arange(first, min(first + ITEMS_AT_ONCE, family.count))


def _item_bytes(run: Run, family: RangeFamily) -> int:
    of_regions = family.count * int(_access_bytes(family.accesses).sum())
    if not family.node_accesses:
        return of_regions
    on_nodes = NodeBytes(run.plan, family, run.seed)
    return of_regions + sum(exact_sum(on_nodes.by_home(items)) for items in _every_item(family))


def _executed_bytes(plan: Plan, log: Sequence[Executed]) -> int:
    """Return the bytes of all executions of segments in the log, those of attempts that aborted included."""
    work = unfolded(plan.workload)
    moved = _segment_bytes(work)
    return sum(int(moved[each.segment]) for each in log if each.task < work.rows)


def _declared_bytes(work: Workload) -> int:
    """Return the bytes of all segments in all runs of their phases, without aborted attempts."""
    below = work.below(by_task(work, _segment_bytes(work)))
    turns = zip(work.phases, work.runs, strict=True)
    return sum(runs * sum(int(below[root]) for root in phase.roots) for phase, runs in turns)


def _segment_bytes(work: Workload) -> I64:
    running = np.concatenate(([0], np.cumsum(_access_bytes(work.accesses))))
    return np.diff(running[work.segment_accesses])


def _access_bytes(accesses: Accesses) -> I64:
    return accesses.row_bytes * accesses.rows * traffic_factor(accesses)


def locks_exclude(run: Run, result: Result, log: Log) -> Iterator[str]:
    """Counts of synchronisation objects add up, and agree with a log, in which no two actors hold a lock at once."""
    for name in ("acquisitions", "handoffs_local", "handoffs_remote", "wait_ps"):
        if int(result.sync_objects[name].sum()) != result.counters[f"lock_{name}"]:
            yield f"the {name} of the synchronisation objects do not add up to lock_{name}"
    if result.held is None:
        return
    for word, name in enumerate(run.plan.words.names):
        held = result.held[result.held[:, 0] == word]
        held = held[np.lexsort((held[:, 3], held[:, 2]))]
        early = np.flatnonzero(held[1:, 2] < held[:-1, 3])
        if len(early):
            _, actor, start_ps, _ = held[early[0] + 1].tolist()
            yield f"{name!r} is granted to {actor} at {start_ps} ps, while {int(held[early[0], 1])} holds it"
        if int((held[:, 3] - held[:, 2]).sum()) != int(result.sync_objects["hold_ps"][word]):
            yield f"{name!r} was not held for as long as was counted"
        if len(held) != int(result.sync_objects["acquisitions"][word]):
            yield f"{name!r} was held {len(held)} times, not as often as it was acquired"


def objects_exclude(run: Run, result: Result, log: Log) -> Iterator[str]:
    """Aborts add up, and one worker alone has no aborts. With a log: while a transaction that committed has an object
    open to write it, no other worker's transaction that committed has the object open (model 4.11).
    """
    aborts = result.counters["aborts"]
    if aborts and run.plan.workers.workers == 1:
        yield f"{aborts} attempts aborted, but there is one worker alone"
    if not int(result.node_conflicts.sum()) == int(result.object_conflicts.sum()) == aborts:
        yield f"{aborts} attempts aborted, but node pairs and objects have other sums"
    if result.held is None:
        return
    words = len(run.plan.words)
    opened: dict[int, list[tuple[int, int, int, bool]]] = defaultdict(list)
    for word, actor, start_ps, end_ps in result.held[(result.held[:, 0] < 0) | (result.held[:, 0] >= words)].tolist():
        opened[word - words if word >= words else -1 - word].append((start_ps, end_ps, actor, word >= words))
    for obj, holdings in opened.items():
        holdings.sort()
        # {whether the object is written: (latest end of a holding, worker of this holding)}
        latest: dict[bool, tuple[int, int]] = {}
        for start_ps, end_ps, actor, writes in holdings:
            for kind in (True, False) if writes else (True,):
                until_ps, other = latest.get(kind, (0, actor))
                if other != actor and until_ps > start_ps:
                    yield f"worker {actor} opens object {obj} at {start_ps} ps, while worker {other} has it"
                    return
            latest[writes] = max(latest.get(writes, (0, actor)), (end_ps, actor))


INVARIANTS: tuple[Invariant, ...] = (
    every_task_runs,
    one_thing_at_a_time,
    parents_come_first,
    time_bounds,
    time_adds_up,
    steals_add_up,
    bytes_are_conserved,
    pages_are_conserved,
    locks_exclude,
    objects_exclude,
)
