"""numasim: a discrete-event simulator of work stealing on NUMA multicores.

import numasim as ns
result = ns.run("quickstart", workers=24, strategy="topology-aware")
frame = ns.sweep("quickstart").to_frame()
ns.plot.remote_steal_ratio(frame)
"""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # the constant of `typing`, whose import would delay the command
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__version__ = "0.1.0"

_LATE = {
    "compare": "numasim.report.answers.question",
    "Distribution": "numasim.objects.distributions",
    "Graph": "numasim.objects.graph_object",
    "Machine": "numasim.objects.machine_object",
    "Stage": "numasim.objects.graph_arrays",
    "Strategy": "numasim.objects.strategy_object",
    "machines": "numasim.objects.shipped",
    "run": "numasim.api",
    "runtimes": "numasim.objects.shipped",
    "simulate": "numasim.api",
    "strategies": "numasim.objects.shipped",
    "sweep": "numasim.api",
    "sweeps": "numasim.objects.shipped",
    "workloads": "numasim.objects.shipped",
}


class _Package(ModuleType):
    """The package: its attribute ``sweep`` stays the function, although a sub-package has the same name."""

    @property
    def sweep(self) -> Any:
        """Return the function `sweep` of the Python interface."""
        return import_module(_LATE["sweep"]).sweep

    @sweep.setter
    def sweep(self, module: ModuleType) -> None:
        """Ignore the sub-package that the import system assigns to ``sweep``; ``sys.modules`` keeps the sub-package."""


sys.modules[__name__].__class__ = _Package


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep Python's garbage collector off during a block that makes many objects and hardly any garbage.

    After the block, objects that are left belong to the collector's oldest generation, which it seldom searches.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.freeze()
            gc.unfreeze()  # moves the objects from the permanent to the oldest generation
            gc.enable()


def __getattr__(name: str) -> Any:
    """Return a public name; its module is imported at the first use, since these imports take long."""
    if name in _LATE:
        with no_collection():
            return getattr(import_module(_LATE[name]), name)
    if name == "plot":
        return import_module("numasim.plot")
    raise AttributeError(f"module 'numasim' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted([*_LATE, "plot", "__version__"])
