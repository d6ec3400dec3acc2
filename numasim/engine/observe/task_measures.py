"""What tasks took and moved since an iteration began, for a controller (model 4.12)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]


class TaskMeasures:
    """Sums over the own segments of each task: ``ps`` [tasks] how long they took, ``bytes`` [tasks, nodes] what they
    moved from and to memory, by home.
    """

    __slots__ = ("bytes", "ps")

    def __init__(self, tasks: int, nodes: int) -> None:
        self.ps = [0] * tasks
        self.bytes = np.zeros((tasks, nodes), np.int64)

    def take(self) -> tuple[I64, I64]:
        """Both as arrays; the sums begin anew."""
        taken = np.array(self.ps, np.int64), self.bytes
        self.ps[:] = [0] * len(self.ps)
        self.bytes = np.zeros_like(self.bytes)
        return taken
