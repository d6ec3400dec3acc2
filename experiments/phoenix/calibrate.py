"""Fit the costs that the thesis of Souris does not print, only to the times that the study marks as fitted.

    python experiments/phoenix/calibrate.py

writes calibrated.yaml beside this file. Steps:

1. the times of interleave with six numbers of threads on paragon give the time of a value and of a key on paragon, if
   page faults do not wait for each other;
2. the times of interleave with six numbers of threads on parade give the time of a key on parade, and the number of
   page faults a second that the lock of the address space allows. parallax has the processors of parade and gets the
   same values; paragon gets the number of page faults. The time of giving back a page is not fitted: the more page
   faults, the more pages are given back, so that the times cannot distinguish the two;
3. the time of One-Numa-Heavy with one number of threads on parade gives the share of the heavy node.

A parameter is refused if the data cannot distinguish the best value from an end of the searched range. The field of a
refused parameter keeps the value of the machine's or the program's file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from numasim.engine.simulate import simulate_spec
from numasim.files.writer import write_text
from numasim.parts.unit_factors import PS_PER_S
from numasim.reproduce.calibration_file import Calibration
from numasim.reproduce.programs import Wanted
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study, read_study
from numasim.spec.overrides import Assignment, from_mapping

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of the studies

from parameter_search import (
    Axis,
    Evidence,
    Point,
    Readings,
    Source,
    calibration_yaml,
    fit,
    identified_root,
    joined,
    rms,
    values_at,
)

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "calibrated.yaml"
COMMENT = """Written by calibrate.py; do not edit. What was fitted to which counts, and how well.
Errors are (simulated - published) / published."""
COLUMN = "interleave_s"
PARADE = ("parade", "parallax", "policies", "rise")
PARAGON = ("paragon", "growth")
NOISE = 0.02  # relative standard deviation of a mean of two or three runs, from the scatter of neighbouring times

VALUE = Axis("value", 16, 0, 80, 4, 1, "workload.emit_ns", Decimal(500), "ns")
PARAGON_KEY = Axis("key on paragon", 76, 10, 200, 4, 1, "workload.key_ns", Decimal(1000), "ns")
PARADE_KEY = Axis("key on parade", 25, 4, 120, 4, 1, "workload.key_ns", Decimal(500), "ns")
FAULTS = Axis("faults a second", 72, 10, 400, 16, 1, "runtime.costs.faults_per_s", Decimal(100_000), "1/s")
HEAVY = Axis("heavy share", 80, 30, 100, 10, 1, "workload.heavy_share", Decimal("0.01"))


class Column:
    """Some rows of the column of interleave in a table; simulates their times."""

    def __init__(self, study: Study, readings: Readings, program: str, table: str, counts: Sequence[int]) -> None:
        self.counts = tuple(map(str, counts))
        self._setting = Setting(study)
        self._program = study.programs[program]
        self._variant = study.tables[table].columns[COLUMN].variant
        self._published = readings.values(table, COLUMN, self.counts)

    def errors(self, fields: Mapping[str, object]) -> list[float]:
        """Return the relative error of each row, with these values of ``fields``."""
        changes = tuple(from_mapping(dict(fields)))
        return [self._time_s(count, changes) / self._published[count] - 1 for count in self.counts]

    def _time_s(self, count: str, changes: tuple[Assignment, ...]) -> float:
        spec = self._setting.spec(Wanted(self._program, count, self._variant, changes))
        return float(simulate_spec(spec, spec.seed).counters["makespan_ps"]) / PS_PER_S


def searched(column: Column, axes: Sequence[Axis], base: Mapping[str, object], source: Source) -> Calibration:
    """Return the parameters on ``axes`` with the least root mean square of the errors of ``column``."""

    def costs(points: Sequence[Point]) -> list[float]:
        return [rms(column.errors({**base, **values_at(axes, point)})) for point in points]

    found = Calibration()
    for verdict in fit(axes, costs, Evidence(len(column.counts), noise=NOISE), say):
        found = joined(found, verdict.calibration(source))
    return found


def set_by(found: Calibration, program: str) -> dict[str, object]:
    """Return field -> value of the parameters that are fitted for a program."""
    return {each.field: each.value for each in found.parameters if program in each.programs}


def calibrate(study: Study) -> Calibration:
    """Return the parameters of all steps; each step uses the parameters of earlier steps."""
    readings = Readings(study)
    table = "paragon-4-equal-prob"
    column = Column(study, readings, "paragon", table, (1, 2, 4, 8, 16, 24))
    source = Source(1, PARAGON, table, (COLUMN,), column.counts)
    found = searched(column, (VALUE, PARAGON_KEY), {}, source)

    table = "parade-32-equal-prob"
    column = Column(study, readings, "parade", table, (4, 12, 24, 36, 64, 128))
    source = Source(2, PARADE, table, (COLUMN,), column.counts)
    found = for_all_machines(joined(found, searched(column, (PARADE_KEY, FAULTS), {}, source)))

    table = "parade-32-heavy"
    column = Column(study, readings, "parade", table, (4,))
    base = set_by(found, "parade")

    def error(number: int) -> float:
        return column.errors({**base, HEAVY.sets: HEAVY.value(number)})[0]

    root = identified_root(error, HEAVY, NOISE, tolerance=NOISE / 10)
    return joined(found, root.calibration(Source(3, PARADE, table, (COLUMN,), column.counts)))


def for_all_machines(found: Calibration) -> Calibration:
    """Return ``found`` with the kernel's parameter, the page faults a second, set on paragon too."""
    return found.model_copy(
        update={
            "parameters": tuple(
                each.model_copy(update={"programs": (*PARADE, *PARAGON)}) if each.field == FAULTS.sets else each
                for each in found.parameters
            )
        }
    )


def say(line: str) -> None:
    """Report progress."""
    print(line, flush=True)


if __name__ == "__main__":
    write_text(OUTPUT, calibration_yaml(calibrate(read_study(str(HERE))), COMMENT))
