"""The measured costs of queues, tasks, threads and pages, as a runtime file for numasim's own task runtime.

Costs that were not measured are those of the preset ``ompi``, and marked as assumed. Distance enters by the transfer of
the queue's line, which the machine's file has, so that probes and takes are measured within one core.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from numasim.machine.draft import draft_machine
from numasim.machine.importing import label
from numasim.machine.inventory import Inventory
from numasim.machine.sysfs import read_sysfs
from numasim.parts.models.runtime_model import CostSpec, RuntimeSpec
from numasim.parts.yaml.document import yaml_text
from numasim.runtime.calibrated_machine import Finding, Probe, calibrate_machine, run_probe, short
from numasim.spec.single_part import read_runtime

BASE = "ompi"


@dataclass(frozen=True)
class Cost:
    """The value of a cost, in ns where its key says so, and a sentence on how the value was found."""

    value: Decimal
    source: str


Rule = Callable[[Probe], Cost | str]  # the cost, or the name of what is missing


def runtime_yaml(probe: Probe, name: str, base: RuntimeSpec) -> str:
    """Return the text of the runtime file; ``base`` has the costs that are assumed where nothing was measured."""
    costs: dict[str, object] = {}
    comments = {"poll_ns": "a pause instruction; the runtime also yields the processor now and then"}
    for key, rule in RULES.items():
        found = _found(rule(probe), key, base.costs, probe)
        costs[key] = found.value
        comments[f"costs.{key}"] = found.source
    costs["line"] = True
    comments["costs.line"] = "probes, takes, joins and pushes elsewhere move the queue's cache line"
    poll = _found(_measured("pause", "", probe), "pause_ns", base.costs, probe)
    document = {
        "name": name,
        "join": "help",
        "capacity": "none",
        "on_full": "grow",
        "producer": "none",
        "queue_order": "lifo-fifo",
        "poll_ns": poll.value,
        "s_rule": "avail",
        "costs": costs,
    }
    heading = f"{name}: numasim's task runtime, measured on this machine. Times in nanoseconds."
    return yaml_text(document, heading=heading, blocks=("costs",), comments=comments)


def _found(found: Cost | str, key: str, assumed: CostSpec, probe: Probe) -> Cost:
    if isinstance(found, Cost):
        return found
    return Cost(getattr(assumed, key), f"assumed, as in {BASE}: {_why(found, probe)}")


def _why(missing: str, probe: Probe) -> str:
    return f"not measured, {probe.why_missing(missing)}" if missing else "not measured"


def _measured(name: str, method: str, probe: Probe) -> Cost | str:
    """Return the cost by the first finding of that name, or the name where there is none."""
    found = probe.one(name)
    return _cost(found, method) if found else name


def _cost(found: Finding, method: str) -> Cost:
    return Cost(found.median, f"{method}{'; ' if method else ''}{found.interval()}")


def _combined(plus: tuple[str, ...], minus: tuple[str, ...], method: str, probe: Probe) -> Cost | str:
    """Return the sum of some findings less the sum of others, not below 0, or the name of a missing finding. The
    interval of the result is as wide as the intervals of the findings allow.
    """
    found = {name: probe.one(name) for name in plus + minus}
    missing = next((name for name, each in found.items() if each is None), None)
    if missing:
        return missing
    up = [each for name in plus if (each := found[name])]
    down = [each for name in minus if (each := found[name])]
    value = sum(each.median for each in up) - sum(each.median for each in down)
    low = sum(each.low for each in up) - sum(each.high for each in down)
    high = sum(each.high for each in up) - sum(each.low for each in down)
    kept = [max(Decimal(0), Decimal(each)) for each in (value, low, high)]
    return Cost(kept[0], f"{method}; between {short(kept[1])} and {short(kept[2])} by their intervals")


def _unmeasured(probe: Probe) -> Cost | str:
    return ""


def _wake_elsewhere(probe: Probe) -> Cost | str:
    """Return the longest wake, which is that of a core on another node where there is one."""
    found = max(probe.all("wake"), key=lambda each: each.median, default=None)
    return _cost(found, "as wake_ns, of the core that takes longest to wake") if found else "wake"


def _no_more(probe: Probe) -> Cost | str:
    call = probe.one("wake_call")
    return Cost(Decimal(0), f"within wake_ns; the call alone takes {short(call.median)}") if call else "wake_call"


def _faults_per_s(probe: Probe) -> Cost | str:
    """Return the faults per second of all cores together, the only contention of faults that is modelled."""
    found = probe.one("page_fault_together")
    if not found:
        return "page_fault_together"
    method = f"first touches of all cores together, one each {short(found.median)} ns"
    return Cost(Decimal(round(10**9 / found.median)), f"{method}; {found.interval()}")


RULES: dict[str, Rule] = {
    "push_ns": partial(_measured, "push", "a push into the own queue"),
    "locate_ns": _unmeasured,
    "pop_ns": partial(_measured, "pop", "a pop from the own queue"),
    "join_ns": partial(
        _combined, ("spawn_join",), ("push", "pop"), "spawning and joining an empty task, less push and pop"
    ),
    "wait_ns": partial(_measured, "join_nothing", "a join with nothing to wait for"),
    "resume_ns": partial(_measured, "fiber_switch", "a switch of fibers"),
    "probe_ns": partial(_measured, "probe", "a probe of an empty queue"),
    "probe_remote_ns": partial(_measured, "probe", "as probe_ns, distance enters by the line"),
    "take_ns": partial(_measured, "take", "a task from the steal end of a queue"),
    "move_ns": partial(_combined, ("take", "push"), (), "each further task is taken and pushed"),
    "wake_ns": partial(_measured, "wake", "from waking a sleeping thread to its running"),
    "wake_remote_ns": _wake_elsewhere,
    "fault_ns": partial(_measured, "page_fault", "the first touch of a page, zeroing included"),
    "faults_per_s": _faults_per_s,
    "migrate_ns": partial(_measured, "page_migration", "a page that moves to another node"),
    "signal_ns": _unmeasured,
    "futex_ns": _no_more,
    "pause_ns": partial(_measured, "pause", "a pause of the processor"),
}


# ----------------------------------------------------------------------------------------------------------------------
# `numasim calibrate`: the running system as a machine file, its task runtime as a runtime file, with measured values.
#
# Nothing is fitted: every value is read from the system, measured by the probe, or assumed and marked so.


@dataclass(frozen=True)
class Calibration:
    """The texts of both files, and a sentence for each value that could not be measured."""

    machine: str
    runtime: str
    gaps: tuple[str, ...]


def calibrate(*, quick: bool, name: str | None = None) -> Calibration:
    """Read and measure this machine. InputError where the task runtime is not built."""
    return calibration(read_sysfs(), run_probe(quick=quick), name or label(None))


def calibration(inventory: Inventory, probe: Probe, name: str) -> Calibration:
    """Return the files of a system from its inventory and its probe."""
    draft = draft_machine(inventory, name)
    calibrate_machine(draft, inventory, probe)
    draft.check()
    gaps = tuple(map(str, probe.gaps))
    return Calibration(draft.text(), runtime_yaml(probe, name, read_runtime(BASE)), gaps)
