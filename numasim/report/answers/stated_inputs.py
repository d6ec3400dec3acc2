"""What the answers of a table take for granted of their inputs: how fast cores are, guessed bytes, assumed values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.engine.assumed_values import of_table
from numasim.report.answers.varying_axes import Axis
from numasim.report.comparison_cells import finished
from numasim.sweep.recording_columns import RECORDING, TIME_FACTOR
from numasim.workload.recording.recorded import scaled_on

EQUAL_CORES = "no machine is called faster: cores of all machines are taken to be equally fast"
SOME_EQUAL = (
    "no machine is called faster than one on which times are not scaled, whose cores are taken to be as fast as those "
    "of the recording"
)


def assumed_cores(frame: pd.DataFrame, axis: Axis, value: int, baseline: int) -> str:
    """What a comparison of two values of ``axis`` takes for granted of how fast cores are; "" for nothing."""
    if "machine" not in axis.columns:
        return ""
    scaled = _scaled(frame)
    unscaled = [axis.texts[each] for each in (value, baseline) if not scaled[axis.codes == each].all()]
    if len(unscaled) == 1:
        return f"with cores of {unscaled[0]} taken to be as fast as those of the recording"
    return "with cores taken to be equally fast" if unscaled else ""


def stated_inputs(frame: pd.DataFrame) -> list[str]:
    """Sentences about the runs of ``frame`` that have ended; none where nothing is taken for granted."""
    done = finished(frame)
    return [*_of_recordings(done), *_of_machines(done), *of_table(done)]


def _scaled(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """[rows] whether compute times are those of the machine's cores."""
    return frame[TIME_FACTOR].notna().to_numpy() if TIME_FACTOR in frame else np.zeros(len(frame), bool)


def _of_machines(frame: pd.DataFrame) -> list[str]:
    scaled = _scaled(frame)
    if frame["machine"].nunique() < 2 or scaled.all():
        return []
    return [SOME_EQUAL if scaled.any() else EQUAL_CORES]


def _of_recordings(frame: pd.DataFrame) -> Iterator[str]:
    """What is known of recorded programs, and by what their times are multiplied."""
    if RECORDING not in frame:
        return
    recorded = frame[frame[RECORDING].notna()]
    for (program, text), runs in recorded.groupby(["workload", RECORDING], sort=False):
        yield from str(text).split("\n")
        factors = runs.drop_duplicates("machine")[["machine", TIME_FACTOR]].itertuples(index=False)
        yield from scaled_on(str(program), {name: None if pd.isna(factor) else factor for name, factor in factors})
