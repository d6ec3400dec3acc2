"""`numasim calibrate`: the running system as a machine file, its task runtime as a runtime file, with measured values.

Nothing is fitted: every value is read from the system, measured by the probe, or assumed and marked so.
"""

from __future__ import annotations

from dataclasses import dataclass

from numasim.machine.draft import draft_machine
from numasim.machine.importing import label
from numasim.machine.inventory import Inventory
from numasim.machine.sysfs import read_sysfs
from numasim.runtime.calibrated_machine import calibrate_machine
from numasim.runtime.calibrated_runtime import BASE, runtime_yaml
from numasim.runtime.probe_findings import Probe, run_probe
from numasim.spec.single_part import read_runtime


@dataclass(frozen=True)
class Calibration:
    """The two files, and a sentence for each value that could not be measured."""

    machine: str
    runtime: str
    gaps: tuple[str, ...]


def calibrate(*, quick: bool, name: str | None = None) -> Calibration:
    """Read and measure this machine. InputError where the task runtime is not built."""
    return calibration(read_sysfs(), run_probe(quick=quick), name or label(None))


def calibration(inventory: Inventory, probe: Probe, name: str) -> Calibration:
    """The files of a system that was read and probed."""
    draft = draft_machine(inventory, name)
    calibrate_machine(draft, inventory, probe)
    draft.check()
    gaps = tuple(map(str, probe.gaps))
    return Calibration(draft.text(), runtime_yaml(probe, name, read_runtime(BASE)), gaps)
