"""Fit the time of an operation on each of the two servers of LAWS to one printed saving of time.

    python experiments/laws/calibrate.py [--seeds N]

writes calibrated.yaml beside this file. The paper prints no time, so the ratio of computing to waiting is unknown. One
number for each machine is therefore fitted: the time of a thousand operations. With the fitted time, LAWS saves the
printed share of Cilk's time for the smaller size of one program (section 6.4 of the paper). The study marks this share
as fitted; all other values are predictions. The interval of the fitted time has all times whose savings differ from the
printed saving by at most its rounding and the scatter over seeds. The time is refused if no time gives the printed
saving, or if the interval reaches an end of the searched range. The workloads then keep the time of their own files.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from statistics import fmean, stdev

from numasim.draws import repeat_seed
from numasim.engine.simulate import simulate_spec
from numasim.files.writer import write_text
from numasim.reproduce.calibration_file import Calibration
from numasim.reproduce.programs import Change, Fields, Wanted
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study, read_study

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of the studies

from parameter_search import TWO_SIDED, Axis, Readings, Source, Verdict, calibration_yaml, identified_root, joined

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "calibrated.yaml"
COMMENT = """Written by calibrate.py; do not edit. One number a machine, what it was fitted to, and how well.
Errors are (printed - simulated) / printed."""

FIELD = "workload.ps_per_1000_ops"
COLUMN = "execution_time_reduction_percent"
LEAST, MOST = 40_000, 4_000_000  # ps for a thousand operations: a tenth of a cycle to ten cycles of 0.4 ns each
GRAIN = 1_000
"""The search tries multiples of this time in ps."""


@dataclass(frozen=True)
class Machine:
    """A server: the program, the table and the row of the fit, and all programs of the study on this server."""

    name: str
    program: str
    table: str
    row: str
    programs: tuple[str, ...]


MACHINES = (
    Machine("AMD operation", "amd-sizes", "times-amd", "Heat-ir 1k", ("amd", "amd-sizes")),
    Machine("Intel operation", "intel-sizes", "times-intel", "SOR-ir 2k", ("intel", "intel-sizes")),
)


def saved_percent(study: Study, machine: Machine, rate: int, seeds: int) -> list[float]:
    """Return the percentage of Cilk's time that LAWS saves, for each seed; 1,000 operations take ``rate`` ps."""
    setting = Setting(replace(study, calibration=Calibration()), changes=(Change(Fields({FIELD: rate})),))

    def time(variant: str, number: int) -> float:
        spec = setting.spec(Wanted(study.programs[machine.program], machine.row, variant))
        return float(simulate_spec(spec, repeat_seed(spec.seed, number)).counters["makespan_ps"])

    return [100 * (1 - time("laws", number) / time("cilk", number)) for number in range(seeds)]


def fit(study: Study, readings: Readings, machine: Machine, seeds: int, say: Callable[[str], None]) -> Calibration:
    """Return the time of a thousand operations at which LAWS saves the printed percentage."""
    printed = readings.values(machine.table, COLUMN, [machine.row])[machine.row]
    rounding = readings.rounding(machine.table, COLUMN, [machine.row])[machine.row]

    @cache
    def savings(number: int) -> list[float]:
        found = saved_percent(study, machine, GRAIN * number, seeds)
        say(f"{machine.row}: {GRAIN * number} ps for 1,000 operations, saved {fmean(found):.1f} %, printed {printed}")
        return found

    def error(number: int) -> float:
        return (printed - fmean(savings(number))) / printed

    unit = "ps per 1000 operations"
    axis = Axis(machine.name, 1000, LEAST // GRAIN, MOST // GRAIN, 100, 1, FIELD, Decimal(GRAIN), unit)
    coarse = [axis.clipped(10 * 2**power) for power in range(2, 9)]
    start = min(coarse, key=lambda number: abs(error(number)))
    axis = replace(axis, start=start)
    source = Source(1, machine.programs, machine.table, (COLUMN,), (machine.row,))
    noise = max(rounding, stdev(savings(start)) / math.sqrt(seeds) / printed)
    if min(map(error, coarse)) > TWO_SIDED * noise:
        (parameter,) = Verdict(axis, start, axis.low, axis.high, abs(error(start))).calibration(source).refused
        most = max(fmean(savings(number)) for number in coarse)
        reason = f"No value in the range saves {printed} %; the most that any saves is {most:.0f} %."
        return Calibration(refused=(parameter.model_copy(update={"reason": reason}),))
    return identified_root(error, axis, noise, tolerance=noise).calibration(source)


def calibrate(study: Study, seeds: int, say: Callable[[str], None]) -> Calibration:
    """Return the fitted number of each machine."""
    readings = Readings(study)
    found = Calibration()
    for machine in MACHINES:
        found = joined(found, fit(study, readings, machine, seeds, say))
    return found


def main() -> None:
    """Read the command line, calibrate, write the file."""
    parser = argparse.ArgumentParser(description="Fit the time of an operation on the two servers of LAWS.")
    parser.add_argument("--seeds", type=int, default=3, help="runs that are averaged")
    chosen = parser.parse_args()
    found = calibrate(read_study(str(HERE)), chosen.seeds, lambda line: print(line, flush=True))
    write_text(OUTPUT, calibration_yaml(found, COMMENT))


if __name__ == "__main__":
    main()
