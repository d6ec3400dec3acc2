"""A workload family: its parameters, its generators, and the sizes at which it is tested and timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from numasim.workload.graph import Workload
from numasim.workload.parameters import WorkloadParameters

Sizes = Mapping[str, Any]  # parameters by name


@dataclass(frozen=True)
class Family:
    """One family of task graphs; the tuple ``FAMILIES`` of a module of `families` registers it.

    ``parameters`` is its model, whose field ``name`` has the family's name as its only value; ``generate`` makes
    the task graph, ``folded`` the form whose rows are classes of equal subtrees, where there is one. ``small`` takes
    some dozens of tasks, for tests of every cell; ``benchmark`` a few tenths of a second on the reference engine.
    ``benchmark_runtime`` is the runtime preset for timing, if not the family's default.
    """

    parameters: type[WorkloadParameters]
    generate: Callable[..., Workload]
    small: Sizes
    benchmark: Sizes
    folded: Callable[..., Workload] | None = None
    benchmark_runtime: str | None = None
    name: str = field(init=False)

    def __post_init__(self) -> None:
        """Take the name from the parameters."""
        (name,) = get_args(self.parameters.model_fields["name"].annotation)
        object.__setattr__(self, "name", name)
