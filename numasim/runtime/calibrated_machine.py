"""The measurements of ``numasim-runtime probe``, put into the machine file and the runtime file of the running system.

A finding is the median of the samples of one quantity at one place. If a value in a file applies to several places,
such as all nodes, it is the median of their findings. A comment in the file says how each value was measured, with the
interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from numasim.errors import CheckError
from numasim.machine.draft import Draft, draft_machine, label
from numasim.machine.inventory import Inventory, Thread
from numasim.machine.sysfs import read_sysfs
from numasim.parts.models.machine_model import LEVELS
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.yaml.document import yaml_text
from numasim.runtime.runtime_program import answer, find_program
from numasim.spec.single_part import read_runtime

FORMAT = "numasim probe 1"


@dataclass(frozen=True)
class Finding:
    """A median of samples, and the interval that covers the true median with 95 %. ``unit`` is ns or GB/s.

    ``source`` and ``target`` are the system's numbers: of nodes for memory, of hardware threads for all other names.
    """

    name: str
    unit: str
    median: Decimal
    low: Decimal
    high: Decimal
    samples: int
    discarded: int
    source: int | None = None
    target: int | None = None

    def interval(self) -> str:
        """Describe the samples and the interval."""
        lost = f", {self.discarded} more disturbed and discarded" if self.discarded else ""
        return f"median of {self.samples} samples{lost}, 95 % interval {short(self.low)} to {short(self.high)}"


@dataclass(frozen=True)
class Gap:
    """A quantity that was not measured, and the reason."""

    name: str
    why: str

    def __str__(self) -> str:
        """Describe the gap."""
        return f"{self.name}: {self.why}"


@dataclass(frozen=True)
class Probe:
    """The findings and the gaps of one probe."""

    findings: tuple[Finding, ...]
    gaps: tuple[Gap, ...]
    quick: bool

    def all(self, name: str) -> Iterator[Finding]:
        """Yield all findings of the quantity ``name``."""
        return (each for each in self.findings if each.name == name)

    def one(self, name: str) -> Finding | None:
        """Return the first finding of the quantity ``name``, or None."""
        return next(self.all(name), None)

    def why_missing(self, name: str) -> str:
        """Return the reason why there is no finding with the given name."""
        return next((gap.why for gap in self.gaps if gap.name == name), "this version of the program does not know it")


def short(value: Decimal) -> str:
    """Return a number as text, with three significant digits, or with all digits before the point."""
    digits = max(0, 2 - value.adjusted()) if value else 0
    return f"{round(value, digits):f}"


def run_probe(*, quick: bool, cores_alone: bool = False, program: Path | None = None) -> Probe:
    """Measure this machine, which takes seconds, or a minute on many cores.

    With ``cores_alone`` measure only the speed of the cores. Raise InputError if the runtime is not built.
    """
    options = ["--quick"] * quick + ["--cores"] * cores_alone
    return parse_probe(answer([program or find_program(), "probe", *options]))


def parse_probe(found: Any) -> Probe:
    """Return findings and gaps in the program's answer. Raise CheckError for the format of another version."""
    try:
        if found["format"] != FORMAT:
            raise CheckError(f"numasim-runtime answers in the format {found['format']!r}, not {FORMAT!r}")
        findings = tuple(_finding(each) for each in found["findings"])
        gaps = tuple(Gap(each["name"], each["why"]) for each in found["missing"])
        return Probe(findings, gaps, bool(found["quick"]))
    except (KeyError, TypeError, ArithmeticError) as error:
        raise CheckError(f"numasim-runtime's probe cannot be understood: {type(error).__name__} {error}") from None


def _finding(found: dict[str, Any]) -> Finding:
    middle, low, high = (round(Decimal(str(found[key])), 3) for key in ("median", "low", "high"))
    samples, discarded, source, target = found["samples"], found["discarded"], found.get("from"), found.get("to")
    return Finding(found["name"], found["unit"], middle, low, high, samples, discarded, source, target)


# ---- the machine file ------------------------------------------------------------------------------------------------

Matrix = list[list[Finding]]
STEPS_PER_KILOSTEP = 1000
NS_PER_S = 10**9


def core_rate(probe: Probe) -> tuple[int, Finding] | None:
    """Return the steps per second of the fastest core, and its finding; None if no core was measured."""
    best = min(probe.all("kilostep"), key=lambda each: each.median, default=None)
    return (round(STEPS_PER_KILOSTEP * NS_PER_S / best.median), best) if best else None


def _matrix(draft: Draft, probe: Probe, name: str) -> Matrix | None:
    """Return the findings for all pairs of nodes in the machine's order; None if findings are missing."""
    found = {(each.source, each.target): each for each in probe.all(name)}
    pairs = [[(a, b) for b in draft.nodes] for a in draft.nodes]
    if not all(pair in found for row in pairs for pair in row):
        draft.remarks.append(f"{name} is assumed: not all pairs of nodes were measured")
        return None
    return [[found[pair] for pair in row] for row in pairs]


def _put_latency(draft: Draft, probe: Probe) -> None:
    matrix = _matrix(draft, probe, "memory_latency")
    method = "pointer chasing through four times the last-level cache, in random order"
    if matrix is None:
        return
    if len(matrix) == 1:
        draft.put("local_latency_ns", matrix[0][0].median, f"measured: {method}; {matrix[0][0].interval()}")
        return
    fewest = min(each.samples for row in matrix for each in row)
    source = f"measured: {method}; medians of {fewest} samples or more; their intervals are above"
    draft.put("latency_ns", [[each.median for each in row] for row in matrix], source)
    _remark_intervals(draft, "latency", "ns", matrix)


def _put_bandwidth(draft: Draft, probe: Probe) -> None:
    matrix = _matrix(draft, probe, "memory_bandwidth")
    method = "one hardware thread of every core of a node reads at once"
    if matrix is None:
        return
    own = [matrix[node][node] for node in range(len(matrix))]
    draft.put_bandwidth(_middle(own), f"measured: {method} from its memory; {_sure(own)}")
    if len(matrix) > 1:
        for link in draft.values["links"]:
            a, b = link["between"]
            link["bandwidth_gbs"] = min(matrix[a][b].median, matrix[b][a].median)
        draft.sources["links.bandwidth_gbs"] = f"measured: {method} from the other's, the slower direction"
        _remark_intervals(draft, "bandwidth", "GB/s", matrix)


def _put_coherence(draft: Draft, inventory: Inventory, probe: Probe) -> None:
    threads = {thread.id: thread for thread in inventory.threads}
    transfers = [each for each in probe.all("line_transfer") if {each.source, each.target} <= set(threads)]
    last = max((cache.level for cache in inventory.caches), default=0)
    shared = [cache.threads for cache in inventory.caches if cache.level == last]
    found: dict[str, list[Finding]] = {key: [] for key in LEVELS}
    for each in transfers:
        found[_level(threads[each.source or 0], threads[each.target or 0], shared)].append(each)
    within = [key for key in LEVELS if key not in ("same_core_ns", "cross_socket_ns") and found[key]]
    if within and within[-1] != "same_socket_ns":  # then all cores of a socket share the last-level cache, or the node
        found["same_socket_ns"], found[within[-1]] = found[within[-1]], []
    assumed = draft.sources.pop("coherence")
    for key in LEVELS:
        if found[key]:
            method = "two threads pass a line to and fro, half of the time for both ways"
            draft.put(f"coherence.{key}", _middle(found[key]), f"measured: {method}; {_sure(found[key])}")
        elif key in draft.values["coherence"]:
            draft.sources[f"coherence.{key}"] = assumed


def _level(a: Thread, b: Thread, shared: Sequence[frozenset[int]]) -> str:
    """Return the field of `CoherenceSpec` for a line between two hardware threads; ``shared``: last-level caches."""
    if a.core == b.core:
        return "same_core_ns"
    if a.socket != b.socket:
        return "cross_socket_ns"
    if any({a.id, b.id} <= threads for threads in shared):
        return "same_llc_ns"
    return "same_node_ns" if a.node == b.node else "same_socket_ns"


def _middle(found: Iterable[Finding]) -> Decimal:
    """Return the median of the findings' medians."""
    return round(Decimal(median(each.median for each in found)), 3)


def _sure(found: list[Finding]) -> str:
    """Describe the uncertainty of a value that comes from ``found``, one finding or several."""
    if len(found) == 1:
        return found[0].interval()
    lowest, highest = min(each.low for each in found), max(each.high for each in found)
    return f"median of {len(found)} places, whose 95 % intervals lie from {short(lowest)} to {short(highest)}"


def _remark_intervals(draft: Draft, what: str, unit: str, matrix: Matrix) -> None:
    for node, row in enumerate(matrix):
        intervals = ", ".join(f"{short(each.low)} to {short(each.high)}" for each in row)
        draft.remarks.append(f"{what} of node {node} reading each node, 95 % intervals in {unit}: {intervals}")


# ---- the runtime file of numasim's own task runtime: the measured costs of queues, tasks, threads and pages ----------

# Costs that were not measured are taken from the preset ``ompi`` and marked as assumed. Only the transfer of a queue's
# cache line depends on distance; its time is in the machine file. So probes and takes are measured within one core.

BASE = "ompi"


class Cost(NamedTuple):
    """The value of a cost (in ns if the cost's key ends in ``_ns``), and a sentence on the measurement."""

    value: Decimal
    source: str


def runtime_yaml(probe: Probe, name: str, base: RuntimeSpec) -> str:
    """Return the text of the runtime file. ``base`` has the assumed costs for all costs that were not measured."""

    def known(key: str, found: Cost | str) -> Cost:
        """Return ``found`` if it is a cost. Text names a finding that is missing: return the cost of ``base``."""
        if isinstance(found, Cost):
            return found
        why = f", {probe.why_missing(found)}" if found else ""
        return Cost(getattr(base.costs, key), f"assumed, as in {BASE}: not measured{why}")

    costs = {key: known(key, found) for key, found in _costs(probe).items()}
    comments = {
        "poll_ns": f"a pause instruction; the runtime also yields the processor now and then{_beside(probe, 'yield')}",
        **{f"costs.{key}": cost.source for key, cost in costs.items()},
        "costs.line": "probes, takes, joins and pushes elsewhere move the queue's cache line"
        + _beside(probe, "line_contended", "; each transfer while all cores want one line"),
    }
    document = {
        "name": name,
        "join": "help",
        "capacity": "none",
        "on_full": "grow",
        "producer": "none",
        "queue_order": "lifo-fifo",
        "poll_ns": costs["pause_ns"].value,
        "s_rule": "avail",
        "costs": {**{key: cost.value for key, cost in costs.items()}, "line": True},
    }
    heading = f"{name}: numasim's task runtime, measured on this machine. Times in nanoseconds."
    return yaml_text(document, heading=heading, blocks=("costs",), comments=comments)


def _costs(probe: Probe) -> dict[str, Cost | str]:
    """Return each cost by its key. In place of a missing cost: the name of the missing finding, or "" for no probe."""

    def measured(name: str, method: str) -> Cost | str:
        found = probe.one(name)
        return Cost(found.median, f"{method}; {found.interval()}") if found else name

    def combined(plus: tuple[str, ...], minus: tuple[str, ...], method: str) -> Cost | str:
        """Return the sum of the findings ``plus`` minus the sum of ``minus``, at least 0; or the name of a missing one.

        The interval of the result is the widest that the intervals of the findings allow.
        """
        missing = next((name for name in plus + minus if probe.one(name) is None), None)
        if missing:
            return missing
        up, down = ([found for name in names if (found := probe.one(name))] for names in (plus, minus))
        value = sum(each.median for each in up) - sum(each.median for each in down)
        low = sum(each.low for each in up) - sum(each.high for each in down)
        high = sum(each.high for each in up) - sum(each.low for each in down)
        kept = [max(Decimal(0), Decimal(each)) for each in (value, low, high)]
        return Cost(kept[0], f"{method}; between {short(kept[1])} and {short(kept[2])} by their intervals")

    wake_remote: Cost | str = "wake"
    pairs = zip(probe.all("wake"), probe.all("wake_call"), strict=False)
    slowest = max(pairs, key=lambda pair: pair[0].median, default=None)  # of a core on another node, if there is one
    if slowest:
        wake, call = slowest
        method = "as wake_ns, of the core that takes longest to wake; from the call's begin"
        wake_remote = Cost(max(Decimal(0), wake.median - call.median), f"{method} {wake.interval()}")
    faults: Cost | str = "page_fault_together"
    together = probe.one("page_fault_together")
    if together:
        method = f"first touches of all cores together, one each {short(together.median)} ns"
        faults = Cost(Decimal(round(10**9 / together.median)), f"{method}; {together.interval()}")
    return {
        "push_ns": measured("push", "a push into the own queue"),
        "locate_ns": "",
        "pop_ns": measured("pop", "a pop from the own queue"),
        "join_ns": combined(("spawn_join",), ("push", "pop"), "spawning and joining an empty task, less push and pop"),
        "wait_ns": measured("join_nothing", "a join with nothing to wait for"),
        "resume_ns": measured("fiber_switch", "a switch of fibers"),
        "probe_ns": measured("probe", "a probe of an empty queue"),
        "probe_remote_ns": measured("probe", "as probe_ns, distance enters by the line"),
        "take_ns": measured("take", "a task from the steal end of a queue"),
        "move_ns": combined(("take", "push"), (), "each further task is taken and pushed"),
        "wake_ns": combined(("wake",), ("wake_call",), "from the end of the call that wakes a thread to its running"),
        "wake_remote_ns": wake_remote,
        "fault_ns": measured("page_fault", "the first touch of a page, zeroing included"),
        "faults_per_s": faults,
        "migrate_ns": measured("page_migration", "a page that moves to another node"),
        "signal_ns": "",
        "futex_ns": measured("wake_call", "the call that wakes a sleeping thread"),
        "pause_ns": measured("pause", "a pause of the processor"),
        "unpark_ns": measured("wake_call", "as futex_ns"),
    }


def _beside(probe: Probe, name: str, text: str = ", which") -> str:
    """Return a text on a finding from which no cost is computed; an empty text if the finding is missing."""
    found = probe.one(name)
    return f"{text} takes {short(found.median)}; {found.interval()}" if found else ""


# ---- `numasim calibrate` ---------------------------------------------------------------------------------------------
#
# The command writes the running system as a machine file and its task runtime as a runtime file, with measured values.
# Nothing is fitted: every value is read from the system, measured by the probe, or assumed and marked as assumed.


@dataclass(frozen=True)
class Calibration:
    """The texts of both files, and a sentence for each value that could not be measured."""

    machine: str
    runtime: str
    gaps: tuple[str, ...]


def calibrate(*, quick: bool, name: str | None = None) -> Calibration:
    """Read and measure this machine. Raise InputError if the task runtime is not built."""
    return calibration(read_sysfs(), run_probe(quick=quick), name or label(None))


def calibration(inventory: Inventory, probe: Probe, name: str) -> Calibration:
    """Return the files of a system from its inventory and its probe."""
    draft = draft_machine(inventory, name)
    head = f"{draft.values['name']}: {inventory.origin}, measured."
    draft.remarks[0] = f"{head} Values marked as assumed were neither reported by the system nor measured."
    rate = core_rate(probe)
    if rate:
        method = "1,000 steps of the fixed loop, alone on the fastest core, in ns"
        draft.put("core_steps_per_s", rate[0], f"measured: {method}; {rate[1].interval()}")
    _put_latency(draft, probe)
    _put_bandwidth(draft, probe)
    hit = probe.one("cache_latency")
    if hit and "llc" in draft.values["caches"]:
        method = "pointer chasing through four times the second-level cache"
        draft.put("caches.llc_hit_ns", hit.median, f"measured: {method}; {hit.interval()}")
    _put_coherence(draft, inventory, probe)
    draft.remarks += [f"not measured: {gap}" for gap in probe.gaps]
    draft.check()
    gaps = tuple(map(str, probe.gaps))
    return Calibration(draft.text(), runtime_yaml(probe, name, read_runtime(BASE)), gaps)
