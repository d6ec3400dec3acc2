"""The measured costs of queues, tasks, threads and pages, as a runtime file for numasim's own task runtime.

Costs that were not measured are taken from the preset ``ompi`` and marked as assumed. Distance enters only by the
transfer of the queue's cache line, whose time is in the machine file. So probes and takes are measured within one core.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from numasim.machine.draft import draft_machine, label
from numasim.machine.inventory import Inventory
from numasim.machine.sysfs import read_sysfs
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.yaml.document import yaml_text
from numasim.runtime.calibrated_machine import Probe, calibrate_machine, run_probe, short
from numasim.spec.single_part import read_runtime

BASE = "ompi"


@dataclass(frozen=True)
class Cost:
    """The value of a cost (in ns if its key says so), and a sentence on the measurement."""

    value: Decimal
    source: str


def runtime_yaml(probe: Probe, name: str, base: RuntimeSpec) -> str:
    """Return the text of the runtime file. ``base`` has the assumed costs for all costs that were not measured."""

    def known(key: str, found: Cost | str) -> Cost:
        """Return a cost. If ``found`` is the name of a missing finding (perhaps empty), return the cost of ``base``."""
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
    """Return each cost by its key; or the name of a missing finding, "" if the probe does not measure the cost."""

    def measured(name: str, method: str) -> Cost | str:
        found = probe.one(name)
        return Cost(found.median, f"{method}; {found.interval()}") if found else name

    # the wake of a core on another node, if there is one
    pairs = zip(probe.all("wake"), probe.all("wake_call"), strict=False)
    wake, wake_call = max(pairs, key=lambda pair: pair[0].median, default=(None, None))
    together = probe.one("page_fault_together")
    return {
        "push_ns": measured("push", "a push into the own queue"),
        "locate_ns": "",
        "pop_ns": measured("pop", "a pop from the own queue"),
        "join_ns": _combined(
            ("spawn_join",), ("push", "pop"), "spawning and joining an empty task, less push and pop", probe
        ),
        "wait_ns": measured("join_nothing", "a join with nothing to wait for"),
        "resume_ns": measured("fiber_switch", "a switch of fibers"),
        "probe_ns": measured("probe", "a probe of an empty queue"),
        "probe_remote_ns": measured("probe", "as probe_ns, distance enters by the line"),
        "take_ns": measured("take", "a task from the steal end of a queue"),
        "move_ns": _combined(("take", "push"), (), "each further task is taken and pushed", probe),
        "wake_ns": _combined(
            ("wake",), ("wake_call",), "from the end of the call that wakes a thread to its running", probe
        ),
        "wake_remote_ns": Cost(
            max(Decimal(0), wake.median - wake_call.median),
            f"as wake_ns, of the core that takes longest to wake; from the call's begin {wake.interval()}",
        )
        if wake and wake_call
        else "wake",
        "fault_ns": measured("page_fault", "the first touch of a page, zeroing included"),
        "faults_per_s": Cost(
            Decimal(round(10**9 / together.median)),
            f"first touches of all cores together, one each {short(together.median)} ns; {together.interval()}",
        )
        if together
        else "page_fault_together",
        "migrate_ns": measured("page_migration", "a page that moves to another node"),
        "signal_ns": "",
        "futex_ns": measured("wake_call", "the call that wakes a sleeping thread"),
        "pause_ns": measured("pause", "a pause of the processor"),
        "unpark_ns": measured("wake_call", "as futex_ns"),
    }


def _beside(probe: Probe, name: str, text: str = ", which") -> str:
    """Return a text on a finding that no cost has; an empty text if the finding is missing."""
    found = probe.one(name)
    return f"{text} takes {short(found.median)}; {found.interval()}" if found else ""


def _combined(plus: tuple[str, ...], minus: tuple[str, ...], method: str, probe: Probe) -> Cost | str:
    """Return the sum of the findings ``plus`` minus the sum of ``minus``, at least 0, or the name of a missing finding.

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
    calibrate_machine(draft, inventory, probe)
    draft.check()
    gaps = tuple(map(str, probe.gaps))
    return Calibration(draft.text(), runtime_yaml(probe, name, read_runtime(BASE)), gaps)
