"""Units of work in a worklist, as plain work or as transactions (Goes et al. 2014, section 3).

A worklist is one queue of tasks for all workers; its tasks are called units. A unit looks up records of shared data by
random keys and computes for a random time. It may add other units, and writes the data of the units that it adds. A
unit of `transactions` does a part of this work in a transaction (model 4.11): the transaction reads records, loads
objects, stores objects, and writes records at its end. An iteration may begin with work that one worker does alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from numasim.draws import DrawClass, U64Array, base_array, below_array, draw_array
from numasim.parts.base import Bytes, Exact, Fraction, Nanoseconds, Seed, Whole, YesNo, ps
from numasim.parts.unit_factors import MILLION
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.graph import I64, Deal, Kind, Loop, Mode, Op, Pattern, Phase, Region, Workload
from numasim.workload.parameters import Family, Size, TaskCount, TimedParameters
from numasim.workload.sync_parameters import MAX_PARTIES, MOST_SKEW_PPM, Role, SyncObject, running_weights
from numasim.workload.totals import NOTHING, Totals, access, memory, segment, task

# ----------------------------------------------------------------------------------------------------------------------
# Draws by laws with heavy tails: lengths by Pareto's law, keys by Zipf's law, from class-8 streams (model 1.4 and 9.7).

_UNIT = 2.0**-64


def pareto(draws: U64Array, low: int, high: int, tail: Decimal) -> I64:
    """Return [draws] integers from ``low`` to ``high`` by Pareto's law of exponent ``tail``, truncated to these bounds.

    If ``tail`` is 0, the logarithm of the result is uniform.
    """
    first, share, exponent = max(low, 1), draws * _UNIT, float(tail)
    if high <= first:
        return np.full(len(draws), high, np.int64)
    ratio = high / first
    factor = (1 - share * (1 - ratio**-exponent)) ** (-1 / exponent) if exponent else ratio**share
    found: I64 = np.clip(np.rint(first * factor), low, high).astype(np.int64)
    return found


def zipf(draws: U64Array, count: int, skew: Decimal) -> I64:
    """Return [draws] numbers below ``count`` by Zipf's law of exponent ``skew`` (model 4.11)."""
    sums = running_weights(count, round(skew * MILLION))
    if not len(sums):
        return below_array(draws, count).astype(np.int64)
    places = below_array(draws, int(sums[-1])).astype(np.int64)
    return np.searchsorted(sums, places, side="right")


KERNELS = ("alone", "process")
ALONE, PROCESS = range(len(KERNELS))
DATA, ADDED = range(2)  # regions
PARENT, LENGTH, PLACE, FIRST_KEY = range(4)  # random numbers of a unit, and (PLACE) of a record

Few = Annotated[Whole, Field(ge=0, le=1000)]
Skew = Annotated[Exact, Field(ge=0, le=MOST_SKEW_PPM // MILLION)]


class UnitParameters(TimedParameters):
    """Units of work, their data, and the share of units that other units add."""

    units: TaskCount = Field(description="Units of work, added units included.")
    tail: Annotated[Exact, Field(ge=0, le=8)] = Field(
        Decimal(1),
        description="Exponent of Pareto's law by which compute times are drawn between low_ns and high_ns: a smaller "
        "exponent gives a heavier tail; with 0 the logarithm of the times is uniform.",
    )
    added: Fraction = Field(Decimal(0), description="Share of the units that other units add.")
    added_bytes: Bytes = Field(0, description="Bytes that the adding unit writes and the added unit reads.")
    records: Annotated[Whole, Field(ge=1, le=MAX_PARTIES)] = Field(1, description="Records of the shared data.")
    record_bytes: Annotated[Bytes, Field(ge=1)] = Field(64, description="Bytes of a record.")
    lookups: Few = Field(0, description="Records that a unit looks up.")
    skew: Skew = Field(
        Decimal(0),
        description="Exponent of Zipf's law by which a unit draws its records; with 0 all records are equally likely.",
    )
    iterations: Size = Field(1, description="How often the whole worklist is worked off.")
    alone_ns: Nanoseconds = Field(Decimal(0), description="Compute time of one thread alone before each iteration.")
    graph_seed: Seed = Field(0, description="Seed of times, keys and additions, the same in all runs and repeats.")

    @property
    def seeds(self) -> int:
        """Number of units that are in the worklist from the beginning, at least one."""
        return max(1, self.units - int(self.units * self.added))

    @property
    def parts(self) -> tuple[Decimal, ...]:
        """The shares of a unit's time that its segments take, in order."""
        return (Decimal(1),)

    @property
    def written_share(self) -> Decimal:
        """The share of the lookups in the unit's last segment whose record the unit also writes."""
        return Decimal(0)

    def program(self) -> tuple[list[int], int]:
        """Return the ops of a unit that adds no unit, and the number of ops that use the memory of objects."""
        return [Op.RUN], 0

    def totals(self) -> Totals:
        """Return the size of the program as if all units took the longest time and wrote each record they look up."""
        ops, _ = self.program()
        found = [access(self.record_bytes, mode=Mode.READ_WRITE, pattern=Pattern.RANDOM)] * self.lookups
        rest = Totals(ops=len(ops) - 1, segments=len(self.parts) - 1)
        units = (task(segment(ps(self.high_ns), *found)) + rest).times(self.units)
        handed = access(self.added_bytes, mode=Mode.WRITE) + access(self.added_bytes) if self.added_bytes else NOTHING
        added = (Totals(ops=1) + handed).times(self.units - self.seeds)
        alone = task(segment(ps(self.alone_ns))) if self.alone_ns else NOTHING
        regions = memory(self.records * self.record_bytes) + memory((self.units - self.seeds) * self.added_bytes)
        return (units + added + alone).repeated(self.iterations) + regions


class WorklistParameters(UnitParameters):
    """Units of work of different lengths in a worklist; a unit looks up records of shared data and may add units."""

    name: Literal["worklist"] = Field(description="The name of this workload.")


class TransactionsParameters(UnitParameters):
    """Units of work in a worklist that run as transactions: they conflict, abort and begin again (model 4.11)."""

    name: Literal["transactions"] = Field(description="The name of this workload.")
    objects: Annotated[Whole, Field(ge=1, le=MAX_PARTIES)] = Field(
        description="Objects that transactions open; transactions conflict on objects."
    )
    loads: Few = Field(1, description="Number of objects that a transaction opens for reading.")
    stores: Few = Field(1, description="Number of objects that a transaction opens for writing.")
    object_skew: Skew = Field(
        Decimal(0),
        description="Exponent of Zipf's law by which objects are drawn; with 0 all objects are equally likely.",
    )
    outside: Fraction = Field(Decimal(0), description="Share of a unit's time and lookups before its transaction.")
    undo_ns: Nanoseconds = Field(Decimal(0), description="Time that an attempt takes to abort; at least 1 ns counts.")
    same: YesNo = Field(False, description="Whether the next attempt opens the same objects, not other objects (A-68).")

    written: Fraction = Field(Decimal(1), description="Share of lookups in a transaction's last part that are written.")

    @property
    def parts(self) -> tuple[Decimal, ...]:
        """The shares of a unit's time before its transaction, from its begin to the loads, and behind each store."""
        inside = (1 - self.outside) / (self.stores + 1)
        return (*([self.outside] if self.outside else []), *[inside] * (self.stores + 1))

    @property
    def written_share(self) -> Decimal:
        """The share of lookups that a transaction writes at the commit; 0 if the unit has one part."""
        return self.written if len(self.parts) > 1 else Decimal(0)

    def program(self) -> tuple[list[int], int]:
        """Return the ops of plain work, then of the transaction."""
        before = [Op.RUN] if self.outside else []
        inside = [Op.BEGIN, Op.RUN, *[Op.LOAD] * self.loads, *[Op.STORE, Op.RUN] * self.stores, Op.COMMIT]
        return [*before, *inside], 2 + self.loads + self.stores


def worklist(parameters: UnitParameters, words: Sequence[SyncObject] = ()) -> Workload:
    """Return units: the first are dealt to workers in turn, each other unit is a child of the unit that adds it."""
    units, seeds, alone = parameters.units, parameters.seeds, int(parameters.alone_ns > 0)
    streams = base_array(parameters.graph_seed, DrawClass.ARRIVAL, np.arange(units))
    later = np.arange(seeds, units)  # a drawn earlier unit adds each of these units
    drawn = below_array(draw_array(streams[seeds:], PARENT), later.astype(np.uint64))
    parent = np.concatenate([np.full(seeds, -1), drawn.astype(np.int64)])
    children = np.bincount(parent[seeds:], minlength=units)
    kinds, shape = np.unique(2 * children + (np.arange(units) >= seeds), return_inverse=True)
    shapes = [_shape(parameters, *divmod(kind, 2)) for kind in kinds.tolist()]
    rows = np.append(parent, np.full(alone, -1))
    draft = Draft(
        rows,
        np.append(shape, np.full(alone, len(shapes))),
        [*shapes, Shape((Op.RUN,), (ALONE,), (0,))],
        kind=np.repeat([Kind.TASK, Kind.IMPLICIT], [units, alone]),
    )
    times_ps = pareto(draw_array(streams, LENGTH), ps(parameters.low_ns), ps(parameters.high_ns), parameters.tail)
    for number, kind in enumerate(kinds.tolist()):
        _fill(draft, number, parameters, streams, times_ps)
        _hand_over(draft, number, parameters, parent, *divmod(kind, 2))
    if alone:
        draft.compute(len(shapes), ps(parameters.alone_ns))
    roots = draft.position[np.flatnonzero(rows < 0)].tolist()
    handed = (units - seeds) * parameters.added_bytes
    regions = [Region("data", parameters.records * parameters.record_bytes, True)]
    regions += [Region("added", handed, False)] * bool(handed)
    work = Phase(roots=tuple(sorted(roots[:seeds])), deal=Deal.CYCLIC, name="worklist")
    before = [Phase(roots=tuple(roots[seeds:]), serial=True, name="alone")] * alone
    return draft.finish(
        **made_of(parameters),
        kernels=KERNELS,
        regions=regions,
        phases=[*before, work],
        loops=[Loop(0, 1 + alone, parameters.iterations)] if parameters.iterations > 1 else [],
        words=words,
        facts={"units": units * parameters.iterations},
    )


def transactions(parameters: TransactionsParameters) -> Workload:
    """Return a worklist of units whose transactions open objects of one memory of objects."""
    skew_ppm, undo_ps = round(parameters.object_skew * MILLION), ps(parameters.undo_ns)
    objects = SyncObject("objects", Role.OBJECTS, 0, parameters.objects, skew_ppm, undo_ps, parameters.same)
    return worklist(parameters, [objects])


def _shape(parameters: UnitParameters, children: int, is_added: int) -> Shape:
    """Return the shape of a unit that adds ``children`` units."""
    ops, uses = parameters.program()
    handed = int(parameters.added_bytes > 0)
    accesses = np.diff(_first_lookups(parameters))
    accesses[0] += is_added * handed
    accesses[-1] += children * handed
    return Shape([*ops, *[Op.SPAWN] * children], [PROCESS] * len(accesses), accesses.tolist(), words=[0] * uses)


def _done(parameters: UnitParameters) -> npt.NDArray[np.float64]:
    """Return [segments + 1] the share of a unit that is done before each of its segments, and 1 at the end."""
    return np.array([0.0, *np.cumsum([float(part) for part in parameters.parts[:-1]]), 1.0])


def _first_lookups(parameters: UnitParameters) -> I64:
    """Return [segments + 1] the first lookup of each segment of a unit, and the number of lookups at the end."""
    found: I64 = np.rint(parameters.lookups * _done(parameters)).astype(np.int64)
    return found


def _fill(draft: Draft, shape: int, parameters: UnitParameters, streams: U64Array, times_ps: I64) -> None:
    """Set compute times and lookups of the units of a shape."""
    units = draft.tasks(shape)
    first, parts = _first_lookups(parameters), len(parameters.parts)
    ends_ps = np.rint(times_ps[units][:, None] * _done(parameters)).astype(np.int64)
    draft.compute_runs(shape, np.diff(ends_ps, axis=1))
    records = base_array(parameters.graph_seed, DrawClass.ARRIVAL, np.arange(parameters.records))
    places = np.argsort(draw_array(records, PLACE), kind="stable")  # [keys] in drawn order: popular records lie apart
    for part in range(parts):
        count = int(first[part + 1] - first[part])
        written = round(count * parameters.written_share) if part == parts - 1 else 0
        for lookup in range(first[part], first[part + 1]):
            keys = zipf(draw_array(streams[units], FIRST_KEY + lookup), parameters.records, parameters.skew)
            draft.access(
                shape,
                lookup - int(first[part]),
                run=part,
                region=DATA,
                offset=places[keys] * parameters.record_bytes,
                row_bytes=parameters.record_bytes,
                mode=Mode.READ_WRITE if lookup - first[part] < written else Mode.READ,
                pattern=Pattern.RANDOM,
            )


def _hand_over(draft: Draft, shape: int, parameters: UnitParameters, parent: I64, children: int, is_added: int) -> None:
    """Set that an added unit reads the data that the adding unit has written."""
    if not parameters.added_bytes:
        return
    units, first, parts = draft.tasks(shape), _first_lookups(parameters), len(parameters.parts)
    size, seeds = parameters.added_bytes, parameters.seeds
    if is_added:
        number = int(first[1])
        draft.access(shape, number, region=ADDED, offset=(units - seeds) * size, row_bytes=size, mode=Mode.READ)
    kids = np.argsort(parent, kind="stable")[seeds:]
    begin = np.searchsorted(parent[kids], units)
    number = int(first[-1] - first[-2]) + is_added * (parts == 1)
    for child in range(children):
        offset = (kids[begin + child] - seeds) * size
        draft.access(shape, number + child, run=parts - 1, region=ADDED, offset=offset, row_bytes=size, mode=Mode.WRITE)


TIMES = {"low_ns": 500, "high_ns": 20_000}  # parameters of both benchmarks
SMALL = {"units": 24, "low_ns": 100, "high_ns": 3000, "records": 50, "record_bytes": 256}
PLAIN = {"added": 0.5, "added_bytes": 3000, "lookups": 2, "skew": 0.9, "iterations": 2, "alone_ns": 50}
OPENING = {"added": 0.25, "added_bytes": 100, "lookups": 5, "objects": 6, "loads": 2, "outside": 0.25}
FAMILIES = (
    Family(WorklistParameters, worklist, {**SMALL, **PLAIN}, {"units": 10_000, **TIMES}),
    Family(TransactionsParameters, transactions, {**SMALL, **OPENING}, {"units": 5_000, "objects": 100, **TIMES}),
)
