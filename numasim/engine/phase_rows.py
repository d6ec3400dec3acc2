"""The counts of each run of a phase, from its begin to its end: times, bytes, steals (model 3.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from numasim.schema.enumerations import MOST_PHASE_ROWS
from numasim.workload.phases import Step

if TYPE_CHECKING:
    import pandas as pd

I64 = npt.NDArray[np.int64]

SUMS = {  # the sums of a run of a phase; each is also a column of a results table
    "tasks": "tasks and range items that ran",
    "bytes_local": "bytes from and to memory of the own node",
    "bytes_remote": "bytes from and to memory of other nodes",
    "bytes_cache": "bytes that came from caches",
    "steal_attempts": "probes of other workers' queues",
    "steal_success": "probes of other workers' queues that found a task",
    "steal_attempts_remote": "probes of queues of another node",
    "steal_success_remote": "probes of queues of another node that found a task",
}
STEALS = tuple(name for name in SUMS if name.startswith("steal_"))
COLUMNS = {
    "phase": "number of the phase",
    "iteration": "pass through the outermost loop around the phase, from 0",
    "turn": "how often the phase has run before",
    "start_ps": "when the run of the phase began",
    "time_ps": "how long the run of the phase took",
    **SUMS,
}


class PhaseRows:
    """The rows of a run so far, of at most `MOST_PHASE_ROWS` runs of phases."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, ...]] = []
        self._before = (0,) * len(SUMS)

    @property
    def full(self) -> bool:
        """Tell whether no further row is kept."""
        return len(self._rows) == MOST_PHASE_ROWS

    def add(self, step: Step, start_ps: int, end_ps: int, sums: tuple[int, ...]) -> None:
        """Add the row of a phase that has ended; ``sums`` are the `SUMS` from the begin of the run."""
        counted = (after - before for after, before in zip(sums, self._before, strict=True))
        self._rows.append((step.phase, step.iteration, step.turn, start_ps, end_ps - start_ps, *counted))
        self._before = sums

    def table(self) -> I64:
        """Return the rows as an array [rows, COLUMNS]."""
        return np.array(self._rows, np.int64).reshape(-1, len(COLUMNS))


def no_rows() -> I64:
    """Return a table without rows."""
    return np.zeros((0, len(COLUMNS)), np.int64)


def columns_of(table: I64) -> dict[str, I64]:
    """Return the columns of a table [rows, COLUMNS] by name."""
    return dict(zip(COLUMNS, table.T, strict=True))


def named(rows: dict[str, I64], names: tuple[str, ...]) -> pd.DataFrame:
    """Return the rows as a DataFrame, with the names of phases, which have ``names`` [phases]."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    frame.insert(1, "name", [names[phase] for phase in frame["phase"]])
    return frame
