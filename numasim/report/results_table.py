"""The table of results that a comparison or a figure is asked for: of a sweep, or a DataFrame."""

from __future__ import annotations

from typing import Any, Protocol

import pandas as pd

from numasim.errors import InputError


class HasFrame(Protocol):
    """Results that can be had as a table, such as those of `numasim.sweep` and `numasim.run`."""

    def to_frame(self) -> pd.DataFrame:
        """One row for each run."""


def table_of(results: HasFrame | pd.DataFrame) -> pd.DataFrame:
    """The results as a table, one row for each run; `InputError` for anything else."""
    if isinstance(results, pd.DataFrame):
        return results
    to_frame: Any = getattr(results, "to_frame", None)
    frame = to_frame() if to_frame is not None else None
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"got {results!r}", expected="what ns.sweep or ns.run returned, or its to_frame()")
    return frame
