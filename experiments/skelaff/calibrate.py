"""Fit the numbers of objects of three programs to the numbers of cores up to which the programs scale (Table 2).

    python experiments/skelaff/calibrate.py

writes calibrated.yaml beside this file. The transactions of a program conflict on a number of objects. With few objects
more workers only waste more time; with many objects the program scales to all cores. The fitted programs are those with
a high ratio of aborts in Table 2. Successive tried numbers of objects differ by a factor of the square root of 2. The
error is the number of doublings between the number of workers of the fastest run and the printed number of workers. Of
the numbers of objects with the least error, the largest is taken, which has the fewest conflicts. If this number is the
end of the range, Table 2 does not exclude larger numbers, and the program keeps the number of its own file. The other
end of the range, one object, is the smallest possible number.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

from numasim.engine.simulate import simulate_spec
from numasim.files.writer import write_text
from numasim.reproduce.calibration_file import Calibration
from numasim.reproduce.programs import Wanted
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study, read_study
from numasim.spec.overrides import from_mapping

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of the studies

from parameter_search import Axis, Source, Verdict, calibration_yaml, joined

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "calibrated.yaml"
COMMENT = """Written by calibrate.py; do not edit. How many objects transactions conflict on, fitted to Table 2.
An error is in doublings of the number of workers with which a program is fastest."""
PROGRAM, TABLE, COLUMN, BASELINE = "stamp", "2", "scalable_up_to_cores", "numa32 baseline"
WORKERS = (1, 2, 4, 8, 16, 32)
HIGH = ("intruder", "kmeans", "yada")  # programs with a high "Transaction Abort Ratio" in Table 2; Vacation's is low
TRIED = (1, *(round(2 ** (half / 2)) for half in range(2, 21)))  # to 1024
OBJECTS = Axis("objects", TRIED[0], 0, TRIED[-1], 1, 1, "workload.objects")


def fastest_at(study: Study, row: str, objects: int) -> int:
    """Return the least number of workers with which the baseline is fastest."""
    program, times = study.programs[PROGRAM], {}
    for workers in WORKERS:
        changes = tuple(from_mapping({"workers": workers, OBJECTS.sets: objects}))
        spec = Setting(study).spec(Wanted(program, row, BASELINE, changes))
        times[workers] = simulate_spec(spec, spec.seed).counters["makespan_ps"]
    return min(times, key=times.__getitem__)


def fitted(doublings: Callable[[int], float]) -> Verdict:
    """Return the largest number of objects with the least error; an end of the range is refused."""
    errors = {objects: doublings(objects) for objects in TRIED}
    least = min(map(abs, errors.values()))
    best = [objects for objects in TRIED if abs(errors[objects]) == least]
    return Verdict(OBJECTS, best[-1], best[0], best[-1], least)


def calibrate(study: Study) -> Calibration:
    """Return the fitted or refused number of objects of each program in `HIGH`."""
    found = Calibration()
    published = study.published(TABLE, COLUMN)
    for row in HIGH:
        printed = published[row]
        root = fitted(lambda objects, row=row, printed=printed: math.log2(fastest_at(study, row, objects) / printed))
        source = Source(2, (PROGRAM,), TABLE, (COLUMN,), (row,))
        found = joined(found, root.calibration(source, rows=(row,)))
        print(f"{row}: {root.text}", flush=True)
    return found


if __name__ == "__main__":
    write_text(OUTPUT, calibration_yaml(calibrate(read_study(str(HERE))), COMMENT))
