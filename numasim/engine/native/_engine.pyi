"""The compiled engine of numasim."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

class Deadlock(RuntimeError):  # noqa: N818
    """Tasks are left that no worker can run; ``args`` are their number and the time in picoseconds."""

class Plan:
    """A plan that has been read and checked; any number of runs may share it, at the same time too."""

    def __init__(self, fields: dict[str, Any]) -> None:
        """Read the plan given as a dict of arrays (made by numasim.engine.native), which live as long as this.

        Raises ValueError for arrays that do not fit together.
        """

def longest_chains_ps(plan: Plan, segment_ps: npt.NDArray[np.int64]) -> list[int]:
    """[phases] the longest chain of work of a pass if segment s takes ``segment_ps[s]`` and nothing else takes time.

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
