"""The common parameters of workload families (generators of programs); `families` has a file with each family's own.

Names and defaults come from the programs: BOTS (Duran et al., ICPP 2009; the thesis, section 3.6) for
strassen, sort, sparselu, nqueens, fft and uts; the thesis, section 3.3.2, for matmul. Times that no paper publishes are
parameters with defaults that are marked "assumed".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self, get_args

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field, model_validator

from numasim.frozen import Frozen
from numasim.parts.base import Model, Nanoseconds, Whole
from numasim.workload.graph import Workload
from numasim.workload.totals import MAX_TASKS, SizedParameters


def power_of_two(value: int) -> int:
    """Return ``value``; raise ValueError with near powers of two if the value is no power of two."""
    if value & (value - 1):
        near = 1 << value.bit_length() - 1
        raise ValueError(f"a power of two is needed here, for example {near} or {2 * near}")
    return value


Size = Annotated[Whole, Field(ge=1)]
TaskCount = Annotated[Whole, Field(ge=1, le=MAX_TASKS)]
PowerOfTwo = Annotated[Whole, Field(ge=2), AfterValidator(power_of_two)]
NodeNumber = Annotated[Whole, Field(ge=0, lt=2**16)]
WorkTime = Annotated[Whole, Field(ge=0, le=10**12)]  # ps per 1000 units of work


class WorkloadParameters(SizedParameters):
    """The parameters of a family of workloads; ``default_runtime`` is the runtime preset for its workloads."""

    default_runtime: ClassVar[str] = "bare"


class TimedParameters(WorkloadParameters):
    """Parameters of tasks whose compute times are drawn uniformly from ``low_ns`` to ``high_ns``."""

    low_ns: Nanoseconds = Field(description="The shortest compute time of a task's segment.")
    high_ns: Nanoseconds = Field(description="The longest compute time of a task's segment; times are drawn uniformly.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low_ns > self.high_ns:
            raise ValueError(f"low_ns = {self.low_ns} is above high_ns = {self.high_ns}; swap them")
        return self


class TeamParameters(WorkloadParameters):
    """Parameters of a program with a fixed piece of work for each of ``threads`` threads (default: for each worker)."""

    threads: Annotated[Whole, Field(ge=1, le=2**16)] | None = Field(
        None, description="Number of threads, each on a worker of its own. Default: as many as the run has workers."
    )

    @property
    def team(self) -> int:
        """Number of threads; 1 while neither the parameters nor a run give a number."""
        return self.threads or 1

    def for_team(self, workers: int) -> Self:
        """Return the parameters for a run with ``workers`` workers, with ``threads`` filled in."""
        return self if self.threads else self.model_copy(update={"threads": workers})


class ColumnParameters(TeamParameters):
    """Parameters of a program whose data has a column for each of ``threads`` threads, on the thread's NUMA node."""

    nodes: Annotated[tuple[NodeNumber, ...], Field(min_length=1, max_length=2**16)] | None = Field(
        None, description="Node of each thread. Default: the nodes of the workers of the run, or node 0 without a run."
    )

    @property
    def column_nodes(self) -> tuple[int, ...]:
        """[threads] the node of each column."""
        return self.nodes or (0,) * self.team

    def on_nodes(self, nodes: Sequence[int]) -> Self:
        """Return the parameters for a run whose workers are on ``nodes`` [workers], with ``nodes`` filled in."""
        return self if self.nodes else self.model_copy(update={"nodes": tuple(nodes[: self.team])})

    @model_validator(mode="after")
    def _one_node_each(self) -> Self:
        if self.nodes and self.threads and len(self.nodes) != self.threads:
            raise ValueError(f"nodes: got {len(self.nodes)} nodes for {self.threads} threads; give one for each thread")
        return self


class WorkloadFile(Model):
    """A task graph that is read from a file."""

    default_runtime: ClassVar[str] = "bare"
    file: Annotated[str, Field(min_length=1)] = Field(
        description="Path of a task graph in JSON or npz; a relative path starts at the folder of the specification."
    )


class WorkloadGraph(Model):
    """A task graph in memory; ``contents`` is its digest."""

    default_runtime: ClassVar[str] = "bare"
    contents: str = Field(description="Digest of the graph.")
    workload: Annotated[Any, Field(exclude=True)] = Field(description="The graph as arrays.")

    @property
    def name(self) -> str:
        """Name of the graph."""
        return str(self.workload.name)


AnyWorkload = WorkloadParameters | WorkloadFile | WorkloadGraph


# ---- Families --------------------------------------------------------------------------------------------------------

Sizes = Mapping[str, Any]  # parameters by name


class Family(Frozen):
    """A family of task graphs. The tuple ``FAMILIES`` of each module in `families` has the module's families.

    ``parameters`` is the model of the parameters; its field ``name`` has the family's name as the only value.
    ``generate`` makes the task graph. ``folded`` makes the folded graph, with one row for all tasks of equal subtrees,
    if the family has such a graph. ``small`` are parameters of some dozens of tasks, for tests; ``benchmark`` are
    parameters of a run of a few tenths of a second on the reference engine. ``benchmark_runtime`` is the runtime preset
    for timing, if it is not the family's default.
    """

    parameters: type[WorkloadParameters]
    generate: Callable[..., Workload]
    small: Sizes
    benchmark: Sizes
    folded: Callable[..., Workload] | None = None
    benchmark_runtime: str | None = None

    @property
    def name(self) -> str:
        """Name of the family, from its parameters."""
        return str(get_args(self.parameters.model_fields["name"].annotation)[0])


def compute_ps(units: npt.NDArray[Any] | int, ps_per_1000: int) -> Any:
    """Return the time of ``units`` of work in ps, rounded to the nearest; a Python int may have any size."""
    if isinstance(units, int):
        return (units * ps_per_1000 + 500) // 1000
    return (np.asarray(units, np.int64) * ps_per_1000 + 500) // 1000
