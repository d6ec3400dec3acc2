"""Fit the share of memory references that caches serve in the program home-test, which the paper does not print (A-60).

    python experiments/home/calibrate.py

writes calibrated.yaml beside this file. The only published value is the gain of 43 % in section 2 of the paper: tasks
whose memory is on the tile of their worker take 43 % less time than tasks with hashed memory. One parameter is fitted
to this value, so the simulated gain is no evidence for the model.
"""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from pathlib import Path

from numasim.engine.simulate import simulate_spec
from numasim.files.writer import write_text
from numasim.reproduce.calibration_file import Calibration
from numasim.reproduce.programs import Wanted
from numasim.reproduce.quantities import Outcome, task_us
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study, read_study
from numasim.spec.overrides import Assignment, from_mapping

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of the studies

from parameter_search import Axis, Source, calibration_yaml, identified_root

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "calibrated.yaml"
COMMENT = """Written by calibrate.py; do not edit. The value that was fitted, on what, and how well.
The error is that of the time of a homed task over that of a hashed one, of which 1 less 43 % is published."""
PROGRAM, TABLE, COLUMN = "home-test", "figure-1-gain", "home_access_gain_percent"
HITS = Axis("share of hits", 900, 0, 999, 100, 1, "workload.hit_share", Decimal("0.001"))
HALF_A_POINT = 0.005 / math.sqrt(3)  # standard deviation of the rounding to a whole per cent: uniform in +-0.005


def time_ratio(study: Study, hits: int) -> float:
    """Return the mean time of homed tasks over that of hashed tasks, if ``hits`` of 1,000 references hit caches."""
    changes = tuple(from_mapping({HITS.sets: HITS.value(hits)}))
    homed, hashed = (task_time(study, variant, changes) for variant in ("homed", "hashed"))
    return homed / hashed


def task_time(study: Study, variant: str, changes: tuple[Assignment, ...]) -> float:
    """Return the mean time of a task in microseconds."""
    spec = Setting(study).spec(Wanted(study.programs[PROGRAM], PROGRAM, variant, changes))
    return task_us(Outcome(spec, simulate_spec(spec, spec.seed).counters))


def calibrate(study: Study) -> Calibration:
    """Return the share of hits with which the simulated gain equals the published gain."""
    gain = study.published(TABLE, COLUMN)[PROGRAM]
    published = 1 - gain / 100
    root = identified_root(
        lambda hits: time_ratio(study, hits) / published - 1, HITS, HALF_A_POINT / published, tolerance=1e-3
    )
    return root.calibration(Source(2, (PROGRAM,), TABLE, (COLUMN,), (PROGRAM,)))


if __name__ == "__main__":
    write_text(OUTPUT, calibration_yaml(calibrate(read_study(str(HERE))), COMMENT))
