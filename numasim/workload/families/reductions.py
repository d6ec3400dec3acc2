"""The reduce phase of MapReduce on a container of rows and columns (Souris 2020; Phoenix++, Talbot et al. 2011).

Threads have emitted values under keys into a container: a row for each hash of a key, a column for each thread. A value
lies on the NUMA node of the thread that emitted the value. The reduce phase is a range with an item (a task) for each
row, which reads the row's values in all columns, combines the values of each key, and appends the results (one a key,
or all values) to the vector of the executing worker. `map-reduce` begins with the map phase, which emits the values.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from numasim.parts.base import Bytes, Fraction, Nanoseconds, Seed, Whole, ppm, ps
from numasim.parts.choices import Choices
from numasim.schema.enumerations import MOST_ITEMS
from numasim.workload.algorithms.emitted_keys import (
    Columns,
    Container,
    copies_of_growth,
    disjoint_subranges,
    equal_columns,
    equal_probability,
    one_heavy_node,
)
from numasim.workload.amounts import Amounts
from numasim.workload.builder import Draft, Shape, made_of, ragged_family, workload_of
from numasim.workload.graph import I64, Deal, Kind, Mode, NodeAccess, Op, Pattern, Phase, RangeFamily, Region, Workload
from numasim.workload.json_form.graph_models import PatternName
from numasim.workload.parameters import ColumnParameters, Family, NodeNumber
from numasim.workload.totals import Totals, access, memory, segment, task

PATTERNS = {each.name.lower(): each for each in Pattern}
MOST_ROWS = 2**20
MOST_VALUES = 2**14  # most values of a row, on average, since the generator loops over the values of a row
KERNELS = ("reduce", "map")
REDUCE, MAP = range(len(KERNELS))

EmitFiller = Annotated[
    Literal["equal", "one-numa-heavy"],
    Choices(
        {
            "equal": "All threads emit equally many values.",
            "one-numa-heavy": "The threads of one node emit the share heavy_share together.",
        }
    ),
]
KeyFiller = Annotated[
    Literal["equal-prob", "disjoint-subranges"],
    Choices(
        {
            "equal-prob": "All keys are equally likely for every thread.",
            "disjoint-subranges": "Each thread emits the keys of rows of its own.",
        }
    ),
]
Combiner = Annotated[
    Literal["associative", "buffer"],
    Choices({"associative": "One value comes out under a key.", "buffer": "All emitted values come out."}),
]


class ContainerParameters(ColumnParameters):
    """Values under keys: a row for each hash of a key, a column for each thread that emits values."""

    default_runtime: ClassVar[str] = "phoenix"

    emits: Annotated[Whole, Field(ge=1, le=MOST_ITEMS)] = Field(description="Values that all threads emit together.")
    rows: Annotated[Whole, Field(ge=1, le=MOST_ROWS)] = Field(
        32_768, description="Rows of the container, one for each value of the hash of a key (A-18)."
    )
    key_range: Annotated[Whole, Field(ge=1, le=MOST_ITEMS)] | None = Field(
        None, description="Keys are 0 to key_range - 1. Default: as many keys as emits, which is the least number."
    )
    value_bytes: Annotated[Bytes, Field(ge=1, le=2**30)] = Field(8_000, description="Bytes of a value.")
    emit_filler: EmitFiller = Field(
        "equal",
        description="How many values each thread emits: all threads equally many (equal), or the threads of one "
        "node the share heavy_share together (one-numa-heavy).",
    )
    heavy_share: Fraction = Field(
        Decimal("0.9"), description="Share of values that threads of the heavy node emit; assumed."
    )
    heavy_node: NodeNumber = Field(0, description="The heavy node, for one-numa-heavy.")
    key_filler: KeyFiller = Field(
        "equal-prob",
        description="The keys that a thread emits: all keys are equally likely (equal-prob), or the thread has rows of "
        "its own (disjoint-subranges). No thread emits a key twice.",
    )
    combiner: Combiner = Field(
        "associative", description="The output under a key: one value (associative), or all emitted values (buffer)."
    )
    emit_ns: Nanoseconds = Field(Decimal(1000), description="Time of looking up and combining a value; assumed.")
    key_ns: Nanoseconds = Field(Decimal(10_000), description="Time of an output value: entry and append; assumed.")
    copy_ns: Nanoseconds = Field(Decimal(1000), description="Time of copying a value as its vector grows; assumed.")
    pattern: PatternName = Field("random", description="Order in which the values of a row are read.")
    vector_values: Annotated[Whole, Field(ge=1, le=MOST_ITEMS)] = Field(
        100,
        description="Capacity of a worker's vector of output values at first; a full vector is copied to a vector of "
        "twice the capacity, in memory that is touched first, and given back (A-74).",
    )
    values_returned: Fraction = Field(
        Decimal(0), description="Share of the memory of the emitted values that is given back when their row is done."
    )
    graph_seed: Seed = Field(0, description="Seed of the keys, the same in all runs and repeats.")

    @property
    def keys(self) -> int:
        """Number of keys that can be emitted."""
        return self.key_range or self.emits

    def columns(self) -> Columns:
        """Return the node of each thread, and the number of values that the thread emits."""
        node = np.array(self.column_nodes, np.int64)
        if self.emit_filler == "equal":
            return equal_columns(node, self.emits)
        return one_heavy_node(node, self.emits, ppm(self.heavy_share), self.heavy_node)

    def container(self) -> Container:
        """Return the values that the threads have emitted."""
        fill = equal_probability if self.key_filler == "equal-prob" else disjoint_subranges
        return fill(self.columns(), self.keys, self.rows, self.graph_seed)

    def copies(self, out: I64, vectors: int) -> I64:
        """Return [rows] the values that growing vectors copy, if row i appends ``out[i]`` values to a vector."""
        return copies_of_growth(out, vectors, self.vector_values)

    def totals(self) -> Totals:
        """Return the size of the program if all values of a row have different keys."""
        most = min(self.emits, -(-self.keys // self.rows) * self.team)
        value_ps = ps(self.emit_ns) + ps(self.key_ns) + 2 * ps(self.copy_ns)
        row = access(most * self.value_bytes, pattern=PATTERNS[self.pattern])
        moved = access(self.value_bytes, pattern=PATTERNS[self.pattern]).times(self.emits)
        unfilled = access(1, pattern=PATTERNS[self.pattern]).times(self.rows * self.team)
        return replace(
            moved + unfilled,
            items=self.rows,
            compute_ps=self.emits * value_ps,
            segment_ps=most * value_ps,
            access_bytes=row.access_bytes,
            access_lines=row.access_lines,
            accesses=self.rows * self.team,
        )

    @model_validator(mode="after")
    def _enough_keys(self) -> Self:
        if self.keys < self.emits:
            raise ValueError(
                f"key_range: {self.keys} keys are too few for a thread that emits {self.emits} values, each under a "
                f"key of its own; expected at least {self.emits}"
            )
        least = -(-self.emits // MOST_VALUES)
        if self.rows < least:
            raise ValueError(f"rows: {self.rows} rows of {self.emits} values have too many each; expected {least} rows")
        return self


class ReduceParameters(ContainerParameters):
    """The reduce phase of MapReduce: an item for each row of a container that threads have filled."""

    name: Literal["reduce"] = Field(description="The name of this workload.")


class MapReduceParameters(ContainerParameters):
    """MapReduce: each thread emits its values on its own node, then the rows of the container are reduced."""

    name: Literal["map-reduce"] = Field(description="The name of this workload.")
    map_ns: Nanoseconds = Field(Decimal(1000), description="Compute time of making and emitting a value; assumed.")

    def totals(self) -> Totals:
        """Return the size of the reduce phase, and of a map phase in which one thread writes all values."""
        written = access(self.emits * self.value_bytes, mode=Mode.WRITE)
        emitting = task(segment(self.emits * ps(self.map_ns), written)) + memory(self.emits * self.value_bytes)
        return super().totals() + emitting + task(segment(0, access(1))).times(self.team - 1)


def row_family(parameters: ContainerParameters, name: str, emitted: I64, out: I64, copies: I64) -> RangeFamily:
    """Return a range: item i reads ``emitted[i, n]`` values on node n, outputs ``out[i]`` and copies ``copies[i]``."""
    compute_ps = (
        emitted.sum(axis=1) * ps(parameters.emit_ns) + out * ps(parameters.key_ns) + copies * ps(parameters.copy_ns)
    )
    pattern = PATTERNS[parameters.pattern]
    values_ppm = ppm(parameters.values_returned)
    reads = [
        NodeAccess((node,), (1,), Mode.READ, pattern, Amounts.of_items(values * parameters.value_bytes), values_ppm)
        for node, values in enumerate(emitted.T)
        if values.any()
    ]
    outgrown, appended = copies * parameters.value_bytes, (out + copies) * parameters.value_bytes
    return ragged_family(
        name,
        len(out),
        Amounts.of_items(compute_ps),
        reads,
        REDUCE,
        fresh=Amounts.of_items(appended) if appended.any() else None,
        freed=Amounts.of_items(outgrown) if outgrown.any() else None,
    )


def reduced(parameters: ContainerParameters, container: Container) -> RangeFamily:
    """Return the items that reduce the rows of ``container``."""
    out = container.keys if parameters.combiner == "associative" else container.emitted.sum(axis=1)
    return row_family(parameters, "row", container.emitted, out, parameters.copies(out, parameters.team))


def facts_of(container: Container) -> dict[str, int]:
    """Return the number of emitted values and the number of keys, which `describe` prints."""
    return {"emits": int(container.emitted.sum()), "keys": int(container.keys.sum())}


def reduce(parameters: ReduceParameters) -> Workload:
    """Return a workload of one range: an item for each row, dealt to workers in turn."""
    container = parameters.container()
    return workload_of(
        **made_of(parameters),
        ranges=(reduced(parameters, container),),
        phases=(Phase(range_family=0, deal=Deal.CYCLIC, name="reduce"),),
        kernels=KERNELS[:1],
        facts=facts_of(container),
    )


def map_reduce(parameters: MapReduceParameters) -> Workload:
    """Return one task for each thread, which emits its values and cannot be stolen, and then the range of rows."""
    container, emits = parameters.container(), parameters.columns().emits
    threads = np.arange(parameters.team)
    draft = Draft(
        np.full(len(threads), -1),
        np.zeros(len(threads), np.int64),
        [Shape((Op.RUN,), (MAP,), (1,))],
        np.full(len(threads), Kind.IMPLICIT),
    )
    draft.compute(0, emits * ps(parameters.map_ns))
    sizes = np.maximum(emits * parameters.value_bytes, 1)
    draft.access(0, 0, region=threads, offset=0, row_bytes=sizes, mode=Mode.WRITE)
    made = draft.finish(
        **made_of(parameters),
        kernels=KERNELS,
        regions=[Region(f"column {thread}", int(size), False) for thread, size in enumerate(sizes)],
        phases=[
            Phase(roots=tuple(threads.tolist()), deal=Deal.CYCLIC, name="map"),
            Phase(range_family=0, deal=Deal.CYCLIC, name="reduce"),
        ],
        facts=facts_of(container),
    )
    return replace(made, ranges=(reduced(parameters, container),))


TIMES = {"value_bytes": 100, "emit_ns": 20, "key_ns": 50, "copy_ns": 10}
SMALL = {"emits": 60, "rows": 12, **TIMES}
BENCHMARK = {"emits": 40_000, "rows": 4_000, **TIMES}
TEAM = {**SMALL, "threads": 2, "nodes": (0, 1)}
HEAVY = {"map_ns": 30, "emit_filler": "one-numa-heavy"}
FAMILIES = (
    Family(ReduceParameters, reduce, small={**TEAM, "key_range": 80}, benchmark=BENCHMARK),
    Family(MapReduceParameters, map_reduce, small={**TEAM, **HEAVY}, benchmark=BENCHMARK),
)
