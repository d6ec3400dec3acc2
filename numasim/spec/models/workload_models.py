"""The parameters of every benchmark, one model each, registered by the benchmark's name.

Names and defaults are those of the programs themselves: BOTS (Duran et al., ICPP 2009; the thesis, section 3.6) for
strassen, sort, sparselu, nqueens, fft and uts; the thesis, section 3.3.2, for matmul. Times that no paper publishes are
parameters and their defaults are marked "assumed".
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, TypeAdapter, model_validator

from numasim.errors import InputError
from numasim.spec.base import Bytes, Fraction, Model, Nanoseconds, Seed, _integer

MAX_TASKS = 8_000_000  # more materialised tasks than this do not fit a laptop's memory
MAX_WORK_NS = 2**62 // 1000  # sums of times are counted in 63 bits of picoseconds


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        near = 1 << value.bit_length() - 1
        raise ValueError(f"a power of two is needed here, for example {near} or {2 * near}")
    return value


Size = Annotated[int, BeforeValidator(_integer), Field(ge=1)]
TaskCount = Annotated[int, BeforeValidator(_integer), Field(ge=1, le=MAX_TASKS)]
PowerOfTwo = Annotated[int, BeforeValidator(_integer), Field(ge=2), AfterValidator(_power_of_two)]
WorkTime = Annotated[int, BeforeValidator(_integer), Field(ge=0, le=10**12)]  # ps per 1000 units of work


class WorkloadParameters(Model):
    """What a benchmark is asked for. ``default_runtime`` is the runtime preset that the thesis ran it on."""

    default_runtime: ClassVar[str] = "bare"
    name: str


class MatmulParameters(WorkloadParameters):
    """C = A x B by one task per element of C (thesis, section 3.3.2): ``n`` squared tasks of ``2 n`` operations."""

    name: Literal["matmul"]
    n: Annotated[int, BeforeValidator(_integer), Field(ge=1, le=2**20)]
    ps_per_1000_flops: WorkTime = 600_000  # assumed: one add per 3 cycles at 2.5 GHz, a scalar dot product


class StrassenParameters(WorkloadParameters):
    """BOTS Strassen on ``n`` x ``n`` doubles; sub-matrices of at most ``cutoff`` are multiplied directly.

    ``cutoff_version: manual`` makes plain calls instead of tasks from depth ``cutoff_depth`` on. ``heap`` says who
    takes the memory of temporaries again that are freed: the thread that freed it, any, or nobody. Products and
    additions take ``ps_per_1000_flops``.
    """

    default_runtime: ClassVar[str] = "ompi"
    name: Literal["strassen"]
    n: Annotated[PowerOfTwo, Field(le=2**16)]
    cutoff: Annotated[PowerOfTwo, Field(le=2**12)] = 64
    cutoff_version: Literal["none", "manual"] = "none"
    cutoff_depth: Annotated[int, BeforeValidator(_integer), Field(ge=1, le=20)] = 3
    heap: Literal["shared", "arenas", "fresh"] = "shared"
    ps_per_1000_flops: WorkTime = 148_400  # fits the serial times of thesis Table 3.4

    @model_validator(mode="after")
    def _fits(self) -> StrassenParameters:
        levels = max(0, (self.n // self.cutoff).bit_length() - 1)
        if (7 ** (levels + 1) - 1) // 6 > MAX_TASKS:
            most = self.cutoff << 8
            raise ValueError(f"n = {self.n} with cutoff {self.cutoff} makes too many tasks; n is at most {most} there")
        return self


class SortParameters(WorkloadParameters):
    """BOTS Sort of ``n`` elements.

    Arrays below ``quicksort_cutoff`` are sorted serially; merges whose shorter side has at most ``merge_cutoff``
    elements are serial.
    """

    default_runtime: ClassVar[str] = "ompi"
    name: Literal["sort"]
    n: Annotated[int, BeforeValidator(_integer), Field(ge=4, le=2**27)]
    quicksort_cutoff: Annotated[int, BeforeValidator(_integer), Field(ge=4)] = 2048
    merge_cutoff: Annotated[int, BeforeValidator(_integer), Field(ge=2)] = 2048
    element_bytes: Literal[4, 8] = 8  # BOTS sorts longs; the thesis counts 4 bytes
    ps_per_1000_comparisons: WorkTime = 7_983_000  # fits the serial time of thesis Table 3.4

    @model_validator(mode="after")
    def _fits(self) -> SortParameters:
        if self.n // min(self.quicksort_cutoff, self.merge_cutoff) > MAX_TASKS // 100:
            raise ValueError(f"n = {self.n} needs larger cut-offs; n / cut-off is at most {MAX_TASKS // 100}")
        return self


class SparseLuParameters(WorkloadParameters):
    """BOTS SparseLU of ``blocks`` x ``blocks`` blocks of ``block_size`` x ``block_size`` floats."""

    default_runtime: ClassVar[str] = "ompi"
    blocks: Annotated[int, BeforeValidator(_integer), Field(ge=1, le=256)] = 128
    block_size: Annotated[int, BeforeValidator(_integer), Field(ge=1, le=4096)] = 64
    ps_per_1000_flops: WorkTime = 117_200  # fits the serial times of thesis Table 3.4


class SparseLuSingleParameters(SparseLuParameters):
    """SparseLU whose tasks one thread creates."""

    name: Literal["sparselu-single"]


class SparseLuForParameters(SparseLuParameters):
    """SparseLU whose rows are dealt to all threads, each of which creates the tasks of its rows."""

    name: Literal["sparselu-for"]


def fib_calls(n: int) -> tuple[int, int]:
    """(calls, those of them that are leaves) which the recursive Fibonacci function of ``n`` makes."""
    leaves, following = 1, 1
    for _ in range(n):
        leaves, following = following, leaves + following
    return 2 * leaves - 1, leaves


class FibParameters(WorkloadParameters):
    """A task per call of the recursive Fibonacci function, with given times for its three parts.

    Above 32 there are too many for the reference engine, which needs a row for each.
    """

    name: Literal["fib"]
    n: Annotated[int, BeforeValidator(_integer), Field(ge=0, le=50)]
    spawn_ns: Nanoseconds = Decimal(50)  # assumed
    leaf_ns: Nanoseconds = Decimal(100)  # assumed
    join_ns: Nanoseconds = Decimal(50)  # assumed

    @model_validator(mode="after")
    def _fits(self) -> FibParameters:
        calls, leaves = fib_calls(self.n)
        work_ns = leaves * self.leaf_ns + (calls - leaves) * (self.spawn_ns + self.join_ns)
        if work_ns > MAX_WORK_NS:
            raise ValueError(f"n = {self.n} with these times is {work_ns} ns of work; at most {MAX_WORK_NS} ns fit")
        return self


class NqueensParameters(WorkloadParameters):
    """BOTS N-Queens: a task per tried column of every row; from row ``cutoff`` on the search is serial."""

    default_runtime: ClassVar[str] = "ompi"
    name: Literal["nqueens"]
    n: Annotated[int, BeforeValidator(_integer), Field(ge=1, le=13)]
    cutoff: Annotated[int, BeforeValidator(_integer), Field(ge=1)] | None = None
    row_ns: Nanoseconds = Decimal(2)  # assumed: copying and testing one earlier row of a board

    @model_validator(mode="after")
    def _fits(self) -> NqueensParameters:
        if self.n > 11 and (self.cutoff is None or self.cutoff > 6):
            raise ValueError(f"n = {self.n} makes too many tasks; give a cutoff of at most 6, or n of at most 11")
        return self


class FftParameters(WorkloadParameters):
    """BOTS FFT of ``n`` complex doubles."""

    default_runtime: ClassVar[str] = "ompi"
    name: Literal["fft"]
    n: Annotated[int, BeforeValidator(_integer), Field(ge=2, le=2**24), AfterValidator(_power_of_two)]
    ps_per_1000_flops: WorkTime = 500_000  # assumed: 2 Gflop/s


class UtsParameters(WorkloadParameters):
    """Unbalanced tree search (Olivier et al., LCPC 2006), a task per node.

    ``binomial``: the root has ``root_children``, any other node has ``children`` with probability ``probability``.
    ``geometric``: a node at depth d has a geometric number of children with mean b(d), where b follows ``shape`` from
    ``root_children`` and ``depth`` bounds the tree.
    """

    default_runtime: ClassVar[str] = "ompi"
    name: Literal["uts"]
    tree: Literal["binomial", "geometric"] = "binomial"
    tree_seed: Seed = 0
    root_children: Annotated[int, BeforeValidator(_integer), Field(ge=1, le=100_000)] | None = None
    children: Annotated[int, BeforeValidator(_integer), Field(ge=1, le=100)] | None = None
    probability: Fraction | None = None
    shape: Literal["linear", "exponential", "cyclic", "fixed"] | None = None
    depth: Annotated[int, BeforeValidator(_integer), Field(ge=1, le=1000)] | None = None
    node_ns: Nanoseconds = Decimal(400)  # assumed: one SHA-1 of a node's state

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {**UTS_DEFAULTS.get(given.get("tree", "binomial"), {}), **given}

    @model_validator(mode="after")
    def _consistent(self) -> UtsParameters:
        foreign = [key for key in UTS_KEYS - set(UTS_DEFAULTS[self.tree]) if getattr(self, key) is not None]
        if foreign:
            raise ValueError(f"{sorted(foreign)[0]} is no parameter of a {self.tree} tree")
        if self.tree == "binomial" and (self.children or 0) * (self.probability or 0) >= 1:
            raise ValueError("children x probability is below 1 in a binomial tree, or the tree never ends")
        return self


UTS_DEFAULTS: dict[str, dict[str, Any]] = {
    "binomial": {"root_children": 2000, "children": 8, "probability": Decimal("0.12")},
    "geometric": {"root_children": 4, "shape": "fixed", "depth": 6},
}
UTS_KEYS = frozenset().union(*UTS_DEFAULTS.values())


class TimedParameters(WorkloadParameters):
    """Tasks whose compute times are drawn uniformly from ``low_ns`` to ``high_ns``."""

    low_ns: Nanoseconds
    high_ns: Nanoseconds

    @model_validator(mode="after")
    def _ordered(self) -> TimedParameters:
        if self.low_ns > self.high_ns:
            raise ValueError(f"low_ns = {self.low_ns} is above high_ns = {self.high_ns}; swap them")
        return self


class IndependentParameters(TimedParameters):
    """``tasks`` tasks without accesses or dependences, dealt round robin; never materialised."""

    name: Literal["independent"]
    tasks: Annotated[int, BeforeValidator(_integer), Field(ge=1, le=2**40)]


class RandomForkJoinParameters(TimedParameters):
    """A random tree: every task but the root hangs under a uniformly drawn earlier one, and waits for its children.

    Each task reads ``task_bytes`` bytes of its own.
    """

    name: Literal["random-fork-join"]
    tasks: TaskCount
    graph_seed: Seed = 0
    task_bytes: Bytes = 0


class RandomLayeredParameters(TimedParameters):
    """``layers`` layers of ``width`` tasks; each depends on up to ``degree`` drawn tasks of the layer before.

    Each task reads ``task_bytes`` bytes of its own.
    """

    name: Literal["random-layered"]
    layers: Size
    width: Size
    degree: Size = 2
    graph_seed: Seed = 0
    task_bytes: Bytes = 0

    @model_validator(mode="after")
    def _fits(self) -> RandomLayeredParameters:
        if self.layers * self.width * max(1, min(self.degree, self.width)) > MAX_TASKS:
            raise ValueError(f"layers x width x degree is at most {MAX_TASKS}")
        return self


class TeamParameters(WorkloadParameters):
    """A body for each of ``threads`` threads, by default as many as the run has workers; one where there is no run."""

    threads: Annotated[int, BeforeValidator(_integer), Field(ge=1, le=2**16)] | None = None

    @property
    def team(self) -> int:
        """Number of threads."""
        return self.threads or 1

    def for_team(self, workers: int) -> Self:
        """The parameters of a run with ``workers`` workers."""
        return self if self.threads else self.model_copy(update={"threads": workers})


class SpinlockParameters(TeamParameters):
    """Threads that take one lock ``acquisitions`` times each (thesis, section 6.2), after thinking for ``think_ns``."""

    name: Literal["spinlock"]
    acquisitions: TaskCount = 1000
    critical_ns: Nanoseconds = Decimal(0)
    think_ns: Nanoseconds = Decimal(0)

    @model_validator(mode="after")
    def _fits(self) -> SpinlockParameters:
        if self.acquisitions * self.team > MAX_TASKS:
            raise ValueError(f"threads x acquisitions is at most {MAX_TASKS}")
        return self


class SyncbenchParameters(TeamParameters):
    """EPCC syncbench (thesis, section 6.4.1): ``repetitions`` of one construct of OpenMP around a delay."""

    default_runtime: ClassVar[str] = "ompi"
    name: Literal["syncbench"]
    kind: Literal["parallel", "for", "parallel-for", "barrier", "single", "critical", "lock", "atomic", "reduction"] = (
        Field(alias="construct")
    )
    repetitions: TaskCount = 100
    delay_ns: Nanoseconds = Decimal(100)  # assumed: EPCC's default of a tenth of a microsecond
    serial_ns: Nanoseconds = Decimal(5000)  # assumed: what the master does alone before each parallel region
    construct_ns: Nanoseconds = Decimal(0)  # what the runtime itself does for a construct, beside locks and lines

    @model_validator(mode="after")
    def _fits(self) -> SyncbenchParameters:
        if self.repetitions * self.team > MAX_TASKS:
            raise ValueError(f"threads x repetitions is at most {MAX_TASKS}")
        return self


class WorkloadFile(Model):
    """A task graph that is read from a JSON file."""

    default_runtime: ClassVar[str] = "bare"
    file: Annotated[str, Field(min_length=1)]


PARAMETERS: dict[str, type[WorkloadParameters]] = {
    "matmul": MatmulParameters,
    "strassen": StrassenParameters,
    "sort": SortParameters,
    "sparselu-single": SparseLuSingleParameters,
    "sparselu-for": SparseLuForParameters,
    "fib": FibParameters,
    "nqueens": NqueensParameters,
    "fft": FftParameters,
    "uts": UtsParameters,
    "independent": IndependentParameters,
    "random-fork-join": RandomForkJoinParameters,
    "random-layered": RandomLayeredParameters,
    "spinlock": SpinlockParameters,
    "syncbench": SyncbenchParameters,
}
FILE_TAG = "file"


def workload_tag(value: Any) -> str | None:
    """Which member of `WorkloadSpec` a mapping or model means: a registered name, or ``file``."""
    if isinstance(value, WorkloadFile) or (isinstance(value, dict) and "name" not in value and "file" in value):
        return FILE_TAG
    name = value.get("name") if isinstance(value, dict) else getattr(value, "name", None)
    return name if isinstance(name, str) else None


WorkloadSpec = Annotated[
    Annotated[MatmulParameters, Tag("matmul")]
    | Annotated[StrassenParameters, Tag("strassen")]
    | Annotated[SortParameters, Tag("sort")]
    | Annotated[SparseLuSingleParameters, Tag("sparselu-single")]
    | Annotated[SparseLuForParameters, Tag("sparselu-for")]
    | Annotated[FibParameters, Tag("fib")]
    | Annotated[NqueensParameters, Tag("nqueens")]
    | Annotated[FftParameters, Tag("fft")]
    | Annotated[UtsParameters, Tag("uts")]
    | Annotated[IndependentParameters, Tag("independent")]
    | Annotated[RandomForkJoinParameters, Tag("random-fork-join")]
    | Annotated[RandomLayeredParameters, Tag("random-layered")]
    | Annotated[SpinlockParameters, Tag("spinlock")]
    | Annotated[SyncbenchParameters, Tag("syncbench")]
    | Annotated[WorkloadFile, Tag(FILE_TAG)],
    Discriminator(workload_tag),
]


def workload_spec(name: str, **parameters: Any) -> WorkloadParameters:
    """The checked parameters of benchmark ``name``.

    Raises `InputError` for a name that is not registered, pydantic's ``ValidationError`` for bad parameters.
    """
    if name not in PARAMETERS:
        raise InputError(
            f"there is no workload {name!r}",
            path=("name",),
            expected=f"one of {', '.join(PARAMETERS)}",
            value=name,
            known=PARAMETERS,
        )
    return TypeAdapter(PARAMETERS[name]).validate_python({"name": name, **parameters})
