"""Where a program is recorded: the processor, its clock and how fast its cores compute.

The rate is measured just then, by the loop with which `numasim calibrate` measures that of a machine file.
"""

from __future__ import annotations

import re

from numasim.errors import CheckError, InputError
from numasim.machine.sysfs import cpu_info, read_sysfs
from numasim.parts.unit_factors import GIGA
from numasim.runtime.calibrated_machine import core_rate
from numasim.runtime.probe_findings import run_probe
from numasim.workload.recording.recorded import Recorded

_NAME = re.compile(r"^(?:model name|cpu model|cpu)\s*: *(\S.*?)\s*$", re.MULTILINE)
LONGEST_NAME = 200


def this_place() -> Recorded:
    """The running system; what it does not say, or cannot be measured, is left out."""
    named = _NAME.search(cpu_info())
    return Recorded(named[1][:LONGEST_NAME] if named else "", _clock_hz(), _core_steps_per_s())


def _clock_hz() -> int:
    try:
        clock = read_sysfs().clock
    except InputError:
        return 0
    return int(clock.ghz * GIGA) if clock else 0


def _core_steps_per_s() -> int:
    try:
        found = core_rate(run_probe(quick=False, cores_alone=True))
    except (CheckError, InputError):
        return 0
    return found[0] if found else 0
