"""numasim: a discrete-event simulator of work stealing on NUMA multicores.

>>> import numasim as ns                                                    # doctest: +SKIP
>>> result = ns.run("quickstart", workers=24, strategy="topology-aware")    # doctest: +SKIP
>>> frame = ns.sweep("quickstart").to_frame()                               # doctest: +SKIP
>>> ns.plot.remote_steal_ratio(frame)                                       # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_LATE = {"run": "numasim.api", "sweep": "numasim.api", "simulate": "numasim.api"}


def __getattr__(name: str) -> Any:
    """Import the heavy parts when they are first asked for."""
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    if name == "plot":
        return import_module("numasim.plot")
    raise AttributeError(f"module 'numasim' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*_LATE, "plot", "__version__"])
