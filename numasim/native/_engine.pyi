"""The compiled engine of numasim."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

class Deadlock(RuntimeError):  # noqa: N818
    """Tasks are left that no worker can run; ``args`` are their number and the time in picoseconds."""

def run(
    plan: dict[str, Any],
    keep_log: bool,
    listener: Callable[[npt.NDArray[np.uint64]], None] | None,
    watcher: Callable[[npt.NDArray[np.int64]], None] | None = None,
) -> dict[str, Any]:
    """Run the plan given as a dict of arrays (made by numasim.engine.native) and return a dict of arrays.

    ``listener`` gets batches of trace records, ``watcher`` batches of rows (numasim.engine.observe.watch); a plan that
    skips cannot be watched.

    Raises ValueError for arrays that do not fit together, Deadlock, OverflowError for times beyond 2**62 ps.
    """
