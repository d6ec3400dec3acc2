"""The compiled engine of numasim."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

class Deadlock(RuntimeError):  # noqa: N818
    """Tasks are left that no worker can run; ``args``: their number, the time in ps, whether thieves pass them on."""

class Plan:
    """A plan that has been read and checked. Any number of runs may share it, also at the same time."""

    def __init__(self, fields: dict[str, Any]) -> None:
        """Read a plan from a dict of arrays (`numasim.engine.native.native_engine`), which this object keeps alive.

        Raises ValueError for arrays that do not fit together.
        """

def longest_chains_ps(plan: Plan, segment_ps: npt.NDArray[np.int64]) -> list[int]:
    """Return [phases] the longest chain of work of a pass if segment s takes ``segment_ps[s]`` and nothing else does.

    Raises ValueError unless there is a time for each segment.
    """

def run(
    plan: Plan,
    seed: int,
    keep_log: bool,
    listener: Callable[[npt.NDArray[np.uint64]], None] | None,
    watcher: Callable[[npt.NDArray[np.int64]], None] | None = None,
    control: Any = None,
) -> dict[str, Any]:
    """Run ``plan`` with ``seed`` and return a dict of arrays.

    ``listener`` gets batches of trace records, ``watcher`` batches of rows (numasim.engine.observe.watch); a plan that
    skips cannot be watched. ``control`` (numasim.engine.iteration_control) is asked before the first iteration and
    between two.

    Raises ValueError for a watch or control of a run that skips, Deadlock, OverflowError for times beyond 2**62 ps.
    """
