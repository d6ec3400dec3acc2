"""The shape of a task graph in JSON, as models, and the way to and from arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator, Field

from numasim.errors import InputError
from numasim.parts.base import Model
from numasim.parts.choices import Choices
from numasim.schema.enumerations import (
    LONGEST_PS,
    MOST_ACCESS_ROWS,
    MOST_BYTES,
    MOST_COST_PS,
    MOST_ITEMS,
    MOST_STRIDE,
)
from numasim.workload.algorithms.object_memories import MOST_SKEW_PPM
from numasim.workload.amounts import Amounts
from numasim.workload.builder import ACCESS_TYPES, accesses_of, frozen
from numasim.workload.graph import (
    I64,
    Accesses,
    Deal,
    Kind,
    Loop,
    Mode,
    Op,
    Pattern,
    Phase,
    RangeFamily,
    Region,
    Workload,
    compute_bounds,
)
from numasim.workload.graph_rules import parents
from numasim.workload.json_form.access_names import MODE_MEANS, PATTERN_MEANS, ModeName, PatternName
from numasim.workload.json_form.amount_models import (
    AmountsEntry,
    NodeAccessEntry,
    amounts_entry,
    amounts_of,
    node_access_entry,
    node_access_of,
    whole,
)
from numasim.workload.phases import parts, places
from numasim.workload.sync_parameters import MAX_PARTIES, Role, SyncObject

FORMAT = "numasim task graph 1"
ARGUMENT_OPS: dict[Op, str] = {op: op.name.lower() for op in Op if op != Op.WAIT}
OPS = {name: code for code, name in ARGUMENT_OPS.items()}
WAIT = ["wait"]
MOST_PHASES = 100_000
MOST_KERNELS = 256  # a segment names its own in 8 bits


def _op(value: Any) -> Any:
    if value == WAIT:
        return (Op.WAIT, 0)
    match value:
        case [str(name), int(number)] if name in OPS and not isinstance(number, bool) and 0 <= number < 2**32:
            return (OPS[name], number)
    others = ", ".join(op.name.lower() for op in Op if op > Op.LOCK)
    raise ValueError(
        'an op is ["run", segment], ["spawn", task], ["call", task], ["wait"], ["lock", number] '
        f"or another synchronisation op: {others}"
    )


Bytes = Annotated[int, BeforeValidator(whole), Field(ge=0, le=MOST_BYTES)]
Distance = Annotated[int, BeforeValidator(whole), Field(ge=0, le=MOST_STRIDE)]
Step = Annotated[int, BeforeValidator(whole), Field(ge=-MOST_STRIDE, le=MOST_STRIDE)]
Time = Annotated[int, BeforeValidator(whole), Field(ge=0, le=LONGEST_PS)]
Positive = Annotated[int, BeforeValidator(whole), Field(ge=1, le=MOST_ITEMS)]
Index = Annotated[int, BeforeValidator(whole), Field(ge=0, lt=2**32)]
OpName = Annotated[
    Literal[
        "run",
        "spawn",
        "call",
        "lock",
        "unlock",
        "atomic",
        "barrier",
        "await",
        "signal",
        "broadcast",
        "begin",
        "load",
        "store",
        "commit",
    ],
    Choices(
        {
            "run": "Execute a segment.",
            "spawn": "Make a child task, which may run anywhere.",
            "call": "Execute a child here and now.",
            "lock": "Wait for a lock.",
            "unlock": "Release a lock.",
            "atomic": "One atomic operation on a word.",
            "barrier": "Wait until all parties have arrived.",
            "await": "Wait for a condition.",
            "signal": "Let one waiter of a condition pass.",
            "broadcast": "Let as many waiters pass as the condition has parties.",
            "begin": "Begin a transaction on a memory of objects (model 4.11).",
            "load": "Open an object that is drawn from the memory, to read it.",
            "store": "Open an object that is drawn from the memory, to write it.",
            "commit": "End the transaction.",
        }
    ),
]
WaitName = Annotated[Literal["wait"], Choices({"wait": "Wait until all children spawned so far have finished."})]
OpEntry = Annotated[tuple[Op, int], BeforeValidator(_op, json_schema_input_type=tuple[OpName, Index] | tuple[WaitName])]


class RegionEntry(Model):
    """A range of memory."""

    name: str = Field(description="Its name, to which accesses refer.")
    bytes: Bytes = Field(description="Its size.")
    initialised: bool = Field(
        False,
        description="Whether the program has written it before its parallel part, so that its pages have homes.",
    )


class AccessEntry(Model):
    """``rows`` pieces of ``row_bytes`` bytes, ``stride`` bytes apart."""

    region: str = Field(description="Name of the region.")
    offset: Bytes = Field(0, description="Where the access begins in the region.")
    row_bytes: Annotated[Bytes, Field(ge=1)] = Field(description="Bytes of each piece.")
    rows: Annotated[Positive, Field(le=MOST_ACCESS_ROWS)] = Field(1, description="Number of pieces.")
    stride: Distance = Field(
        0,
        description="Distance from the beginning of one piece to the beginning of the next.",
    )
    mode: ModeName = Field("read", description=MODE_MEANS)
    pattern: PatternName = Field("sequential", description=PATTERN_MEANS)
    passes: Annotated[int, BeforeValidator(whole), Field(ge=1, lt=2**32)] = Field(
        1,
        description="How often the segment walks over the bytes.",
    )


class TemplateEntry(AccessEntry):
    """An access of a range's items, moved by an affine rule."""

    divisor: Annotated[int, BeforeValidator(whole), Field(ge=1, lt=2**62)] = Field(
        1,
        description="The divisor d of the item's number i.",
    )
    step_div: Step = Field(0, description="Bytes that the offset moves for each i div d.")
    step_mod: Step = Field(0, description="Bytes that the offset moves for each i mod d.")


class SegmentEntry(Model):
    """A piece of work."""

    compute_ps: Time = Field(0, description="Compute time, had all memory been at hand.")
    kernel: str = Field("", description="Name of the kernel, by which traces call the segment.")
    accesses: list[AccessEntry] = Field(default_factory=list, description="The memory that the segment accesses.")


class RangeEntry(Model):
    """Like tasks that are never materialised."""

    name: str = Field("", description="Its name.")
    count: Positive = Field(description="Number of items.")
    low_ps: Time | None = Field(None, description="The shortest compute time of an item.")
    high_ps: Time | None = Field(
        None,
        description="The longest compute time of an item; times are drawn uniformly between the two.",
    )
    compute_ps: AmountsEntry | None = Field(
        None,
        description="In place of the two: the compute time of each item, or a table to draw it from.",
    )
    kernel: str = Field("", description="Name of the kernel.")
    accesses: list[TemplateEntry] = Field(
        default_factory=list,
        description="The memory that each item accesses: the offset of item i is offset + (i div d) step_div + (i "
        "mod d) step_mod.",
    )
    node_accesses: list[NodeAccessEntry] = Field(
        default_factory=list,
        description="The bytes that each item accesses on given nodes; no cache serves them.",
    )


class TaskEntry(Model):
    """An op program, and the tasks that wait for its end."""

    kind: Annotated[
        Literal["task", "call", "implicit"],
        Choices(
            {
                "task": "A task: it is counted and waits in queues.",
                "call": "The frame of an inline call.",
                "implicit": "A body that is given to one worker and cannot be stolen.",
            }
        ),
    ] = Field("task", description="What the entry is (model 3.1).")
    ops: list[OpEntry] = Field(
        default_factory=list,
        description='The steps of its program: ["run", segment], ["spawn", task], ["call", task], ["wait"], or a '
        'synchronisation op such as ["lock", number].',
    )
    then: list[Index] = Field(
        default_factory=list,
        description="Tasks of the same phase that wait for the end of this one.",
    )


class WordEntry(Model):
    """A synchronisation object."""

    name: str = Field("", description="Its name.")
    role: Annotated[
        Literal["lock", "atomic", "condition", "objects", "barrier"],
        Choices(
            {
                "lock": "A lock.",
                "atomic": "A word for atomic operations.",
                "condition": "A condition that waiters sleep on until they are signalled.",
                "objects": "A memory of objects, for transactions (model 4.11).",
                "barrier": "A barrier.",
            }
        ),
    ] = Field(description="What it is.")
    owner: Index = Field(0, description="The worker that it is kept for (model 5).")
    parties: Annotated[int, BeforeValidator(whole), Field(ge=1, le=MAX_PARTIES)] = Field(
        1,
        description="Barrier: workers that it waits for. Condition: waiters that a broadcast lets pass. Objects: how "
        "many there are.",
    )
    skew_ppm: Annotated[int, BeforeValidator(whole), Field(ge=0, le=MOST_SKEW_PPM)] = Field(
        0,
        description="Objects: exponent of Zipf's law by which transactions draw them, in millionths; with 0 all are "
        "equally likely.",
    )
    undo_ps: Annotated[int, BeforeValidator(whole), Field(ge=0, le=MOST_COST_PS)] = Field(
        0,
        description="Objects: what an attempt takes to abort; at least 1,000 ps count.",
    )


class PhaseEntry(Model):
    """Roots and a range that start together, or a loop over phases."""

    roots: list[Index] = Field(
        default_factory=list,
        description="Numbers of the tasks that the phase starts with; those that wait for others come when these "
        "have finished. A task may be in several phases.",
    )
    range: Index | None = Field(None, description="Number of the range of the phase. Default: none.")
    deal: Annotated[
        Literal["master", "block", "cyclic"],
        Choices(
            {
                "master": "All to worker 0.",
                "block": "Number i of n to worker i * P div n.",
                "cyclic": "Number i to worker i mod P.",
            }
        ),
    ] = Field(
        "master",
        description="To which workers roots and items are given at the start.",
    )
    serial: bool = Field(False, description="Whether worker 0 works alone and the others wait.")
    repeat: Positive = Field(1, description="How often the phase is run in a row, or the loop gone through.")
    name: str = Field("", description="Its name, to which changes of the placement refer.")
    loop: list[PhaseEntry] = Field(
        default_factory=list,
        description="In place of a phase, a loop: phases and loops that are gone through `repeat` times, one after the "
        "other (model 3.6). Beside it, an entry has `repeat` alone.",
    )


class GraphFile(Model):
    """A whole file."""

    format: Literal["numasim task graph 1"] = Field(
        "numasim task graph 1",
        description="The format of the file and its version.",
    )
    name: str = Field("graph", description="Name of the program in results.")
    parameters: dict[str, Any] = Field(
        default_factory=dict,
        description="Parameters that the program was made with, for its readers.",
    )
    kernels: Annotated[list[str], Field(max_length=MOST_KERNELS)] = Field(
        default_factory=lambda: [""],
        description="Names of the kernels of segments and ranges. Default: one without a name.",
    )
    regions: list[RegionEntry] = Field(default_factory=list, description="The memory of the program.")
    phases: list[PhaseEntry] | None = Field(
        None,
        description="The phases and loops over phases, one after the other. Default: one phase, whose roots are all "
        "tasks that nobody spawns or calls.",
    )
    ranges: list[RangeEntry] = Field(
        default_factory=list,
        description="Ranges of items, like tasks that are never written down (model 3.5).",
    )
    tasks: list[TaskEntry] = Field(
        default_factory=list,
        description="The tasks; their numbers are their places in this list.",
    )
    segments: list[SegmentEntry] = Field(
        default_factory=list,
        description="The segments; their numbers are their places in this list.",
    )
    words: list[WordEntry] = Field(
        default_factory=list,
        description="Synchronisation objects; their numbers are their places in this list.",
    )
    facts: dict[str, int] = Field(
        default_factory=dict,
        description="Whole numbers that a generator knows of its program, for its readers.",
    )

    @classmethod
    def known_keys(cls, path: Sequence[str | int]) -> list[str]:
        """The keys of the object that holds the last part of ``path``."""
        parts = [part for part in path[:-1] if isinstance(part, str) and part != "loop"]
        model = ENTRIES.get(tuple(parts), cls)
        return list(model.model_fields)


ENTRIES: dict[tuple[str, ...], type[Model]] = {
    ("regions",): RegionEntry,
    ("phases",): PhaseEntry,
    ("ranges",): RangeEntry,
    ("ranges", "accesses"): TemplateEntry,
    ("ranges", "compute_ps"): AmountsEntry,
    ("ranges", "node_accesses"): NodeAccessEntry,
    ("ranges", "node_accesses", "bytes"): AmountsEntry,
    ("tasks",): TaskEntry,
    ("segments",): SegmentEntry,
    ("segments", "accesses"): AccessEntry,
    ("words",): WordEntry,
}


@dataclass(frozen=True)
class Columns:
    """The tasks and segments of a file; kernels and regions are numbers of names, in the order of their first use."""

    op_ptr: I64
    op_code: npt.NDArray[np.uint8]
    op_arg: npt.NDArray[np.uint32]
    kind: npt.NDArray[np.uint8]
    then_ptr: I64
    successor: npt.NDArray[np.uint32]
    compute_ps: I64
    kernel: I64
    kernels: tuple[str, ...]
    access_ptr: I64
    accesses: dict[str, npt.NDArray[Any]]
    regions: tuple[str, ...]

    def path_of_access(self, access: int) -> tuple[str | int, ...]:
        """Where an access stands in the file."""
        segment = int(np.searchsorted(self.access_ptr, access, side="right")) - 1
        return ("segments", segment, "accesses", access - int(self.access_ptr[segment]))


def to_workload(file: GraphFile, columns: Columns) -> Workload:
    """The arrays of a file whose tasks and segments are ``columns``; an `InputError` for unknown names and for tasks
    that are not started exactly once.
    """
    op_ptr, op_code, op_arg = columns.op_ptr, columns.op_code, columns.op_arg
    phases, loops = _phases(file, columns)
    _check_roots(phases, loops, len(columns.kind))
    regions = [region.name for region in file.regions]
    return Workload(
        name=file.name,
        parameters=file.parameters,
        kernels=tuple(file.kernels),
        regions=tuple(Region(entry.name, entry.bytes, entry.initialised) for entry in file.regions),
        phases=phases,
        loops=loops,
        ranges=_ranges(file, regions),
        op_ptr=frozen(op_ptr),
        op_code=frozen(op_code),
        op_arg=frozen(op_arg),
        kind=frozen(columns.kind),
        parent=frozen(parents(op_ptr, op_code, op_arg, _trees(phases))),
        segment_compute_ps=frozen(columns.compute_ps),
        segment_kernel=frozen(_segment_kernels(file, columns)),
        segment_accesses=frozen(columns.access_ptr),
        accesses=accesses_of(**{**columns.accesses, "region": _regions_of_accesses(regions, columns)}),
        successor_ptr=frozen(columns.then_ptr),
        successor=frozen(columns.successor),
        facts=file.facts,
        words=tuple(
            SyncObject(w.name, member(Role, w.role), w.owner, w.parties, w.skew_ppm, w.undo_ps) for w in file.words
        ),
    )


def _phases(file: GraphFile, columns: Columns) -> tuple[tuple[Phase, ...], tuple[Loop, ...]]:
    if file.phases is None:
        tasks = len(columns.kind)
        spawned = columns.op_arg[(columns.op_code == Op.SPAWN) | (columns.op_code == Op.CALL)]
        root = np.ones(tasks, np.bool_)
        root[spawned[spawned < tasks]] = False
        return (Phase(roots=tuple(np.flatnonzero(root).tolist())),), ()
    return flat_phases(file.phases)


def flat_phases(entries: Sequence[PhaseEntry]) -> tuple[tuple[Phase, ...], tuple[Loop, ...]]:
    """The phases of these entries in their order, and the loops over them; an `InputError` for loops without phases
    and with keys that only phases have.
    """
    phases: list[Phase] = []
    loops: list[Loop] = []
    _flatten(entries, ("phases",), phases, loops)
    if len(phases) > MOST_PHASES:
        raise InputError(f"there are {len(phases):,} phases", path=("phases",), expected=f"at most {MOST_PHASES:,}")
    return tuple(phases), tuple(loops)


def _flatten(
    entries: Sequence[PhaseEntry], path: tuple[str | int, ...], phases: list[Phase], loops: list[Loop]
) -> None:
    for number, entry in enumerate(entries):
        if "loop" not in entry.model_fields_set:
            phases.append(_phase(entry))
            continue
        _check_loop(entry, (*path, number))
        place, first = len(loops), len(phases)
        loops.append(Loop(first, first, entry.repeat))
        _flatten(entry.loop, (*path, number, "loop"), phases, loops)
        loops[place] = Loop(first, len(phases), entry.repeat)


def _check_loop(entry: PhaseEntry, path: tuple[str | int, ...]) -> None:
    if not entry.loop:
        raise InputError("the loop is empty", path=(*path, "loop"), expected="phases, or loops over phases")
    for key in sorted(entry.model_fields_set - {"loop", "repeat"}):
        raise InputError(f"a loop has no {key}", path=(*path, key), expected="loop and repeat, and the rest in phases")


def _phase(entry: PhaseEntry) -> Phase:
    return Phase(
        roots=tuple(entry.roots),
        range_family=entry.range,
        deal=member(Deal, entry.deal),
        serial=entry.serial,
        repeat=entry.repeat,
        name=entry.name,
    )


def _trees(phases: Iterable[Phase]) -> Sequence[int]:
    """The roots of all phases, each once."""
    return list(dict.fromkeys(root for phase in phases for root in phase.roots))


def _check_roots(phases: Sequence[Phase], loops: Sequence[Loop], tasks: int) -> None:
    for number, phase in enumerate(phases):
        for place, root in enumerate(phase.roots):
            if root >= tasks:
                path = (*places(len(phases), loops)[number], "roots", place)
                raise InputError(f"task {root} does not exist", path=path, expected=f"a task below {tasks}")


def _ranges(file: GraphFile, regions: Sequence[str]) -> tuple[RangeFamily, ...]:
    places = {name: number for number, name in enumerate(regions)}
    return tuple(_range(file, number, regions, places) for number in range(len(file.ranges)))


def _range(file: GraphFile, number: int, regions: Sequence[str], places: dict[str, int]) -> RangeFamily:
    entry = file.ranges[number]
    path: tuple[str | int, ...] = ("ranges", number)
    columns: dict[str, list[int]] = {name: [getattr(each, name) for each in entry.accesses] for name in ACCESS_TYPES}
    kernel = _position(entry.kernel, file.kernels, "kernel", path)
    columns["region"] = [
        places[each.region]
        if each.region in places
        else _position(each.region, regions, "region", (*path, "accesses", place))
        for place, each in enumerate(entry.accesses)
    ]
    columns["mode"] = [member(Mode, each.mode) for each in entry.accesses]
    columns["pattern"] = [member(Pattern, each.pattern) for each in entry.accesses]
    low_ps, high_ps, compute = _compute_times(entry, path)
    return RangeFamily(
        name=entry.name,
        count=entry.count,
        low_ps=low_ps,
        high_ps=high_ps,
        compute=compute,
        node_accesses=tuple(
            node_access_of(each, entry.count, (*path, "node_accesses", place))
            for place, each in enumerate(entry.node_accesses)
        ),
        kernel=kernel,
        accesses=accesses_of(**columns),
        divisor=frozen(np.array([access.divisor for access in entry.accesses], np.int64)),
        step_div=frozen(np.array([access.step_div for access in entry.accesses], np.int64)),
        step_mod=frozen(np.array([access.step_mod for access in entry.accesses], np.int64)),
    )


def _compute_times(entry: RangeEntry, path: tuple[str | int, ...]) -> tuple[int, int, Amounts | None]:
    """(lowest, highest, times that are not uniform between the two) of a range."""
    for key in ("low_ps", "high_ps"):
        if (getattr(entry, key) is None) == (entry.compute_ps is None):
            problem = "the time is missing" if entry.compute_ps is None else "the time is given twice"
            raise InputError(problem, path=(*path, key), expected="low_ps and high_ps, or compute_ps")
    if entry.compute_ps is None:
        assert entry.low_ps is not None
        assert entry.high_ps is not None
        return entry.low_ps, entry.high_ps, None
    return compute_bounds(amounts_of(entry.compute_ps, entry.count, (*path, "compute_ps")))


def _segment_kernels(file: GraphFile, columns: Columns) -> npt.NDArray[np.uint8]:
    found, unknown = _positions(columns.kernels, columns.kernel, file.kernels)
    for segment in unknown:
        _position(columns.kernels[columns.kernel[segment]], file.kernels, "kernel", ("segments", segment))
    return found.astype(np.uint8)


def _regions_of_accesses(regions: Sequence[str], columns: Columns) -> I64:
    used = columns.accesses["region"]
    found, unknown = _positions(columns.regions, used, regions)
    for access in unknown:
        _position(columns.regions[used[access]], regions, "region", columns.path_of_access(access))
    return found


def _positions(used: Sequence[str], number: I64, names: Sequence[str]) -> tuple[I64, list[int]]:
    """Where the names ``used[number]`` stand in ``names``, and the first entry whose name does not."""
    places = {name: place for place, name in enumerate(names)}
    table = np.array([places.get(name, -1) for name in used], np.int64)
    found = table[number]
    return found, np.flatnonzero(found < 0)[:1].tolist()


def _position(name: str, names: Sequence[str], key: str, path: tuple[str | int, ...]) -> int:
    if name not in names:
        expected = f"one of {', '.join(map(repr, names))}" if names else f"a {key} that the file declares"
        raise InputError(f"there is no {key} {name!r}", path=(*path, key), expected=expected, value=name, known=names)
    return names.index(name)


def member(kind: Any, name: str) -> Any:
    """The member of an enumeration whose name in a file is ``name``."""
    return kind[name.upper().replace("-", "_")]


def member_name(member: IntEnum) -> str:
    """The name of a member of an enumeration in a file."""
    return member.name.lower().replace("_", "-")


def to_file(workload: Workload) -> dict[str, Any]:
    """The JSON document of a workload."""
    accesses = access_entries(workload, workload.accesses)
    first = workload.segment_accesses.tolist()
    segments = [
        {"compute_ps": compute, "kernel": workload.kernels[kernel], "accesses": accesses[low:high]}
        for compute, kernel, low, high in zip(
            workload.segment_compute_ps.tolist(), workload.segment_kernel.tolist(), first[:-1], first[1:], strict=True
        )
    ]
    return {**around_tasks(workload), "tasks": _task_entries(workload), "segments": segments}


def around_tasks(workload: Workload) -> dict[str, Any]:
    """The JSON document of a workload, in the order of its keys, with neither tasks nor segments."""
    return {
        "format": FORMAT,
        "name": workload.name,
        "parameters": workload.parameters,
        "kernels": list(workload.kernels),
        "regions": [{"name": r.name, "bytes": r.bytes, "initialised": r.initialised} for r in workload.regions],
        "phases": _phase_entries(workload, parts(0, len(workload.phases), workload.loops)),
        "ranges": [_range_entry(workload, family) for family in workload.ranges],
        "tasks": [],
        "segments": [],
        "words": [_word_entry(word) for word in workload.words],
        "facts": workload.facts,
    }


def _word_entry(word: SyncObject) -> dict[str, Any]:
    entry = {"name": word.name, "role": member_name(word.role), "owner": word.owner, "parties": word.parties}
    return {**entry, "skew_ppm": word.skew_ppm, "undo_ps": word.undo_ps} if word.role == Role.OBJECTS else entry


def access_entries(workload: Workload, accesses: Accesses) -> list[dict[str, Any]]:
    """The entries of accesses, one for each."""
    columns = {name: getattr(accesses, name).tolist() for name in ACCESS_TYPES}
    columns["region"] = [workload.regions[region].name for region in columns["region"]]
    columns["mode"] = [member_name(Mode(mode)) for mode in columns["mode"]]
    columns["pattern"] = [member_name(Pattern(pattern)) for pattern in columns["pattern"]]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _phase_entries(workload: Workload, those: Iterable[int | tuple[Loop, Sequence[Loop]]]) -> list[dict[str, Any]]:
    return [
        _phase_entry(workload.phases[part])
        if isinstance(part, int)
        else {
            "loop": _phase_entries(workload, parts(part[0].first, part[0].end, part[1])),
            "repeat": part[0].repeat,
        }
        for part in those
    ]


def _phase_entry(phase: Phase) -> dict[str, Any]:
    return {
        "roots": list(phase.roots),
        "range": phase.range_family,
        "deal": member_name(phase.deal),
        "serial": phase.serial,
        "repeat": phase.repeat,
        "name": phase.name,
    }


def _range_entry(workload: Workload, family: RangeFamily) -> dict[str, Any]:
    rules = zip(family.divisor.tolist(), family.step_div.tolist(), family.step_mod.tolist(), strict=True)
    templates = zip(access_entries(workload, family.accesses), rules, strict=True)
    return {
        "name": family.name,
        "count": family.count,
        **_time_keys(family),
        "kernel": workload.kernels[family.kernel],
        "accesses": [
            {**access, "divisor": divisor, "step_div": step_div, "step_mod": step_mod}
            for access, (divisor, step_div, step_mod) in templates
        ],
        **_node_keys(family),
    }


def _time_keys(family: RangeFamily) -> dict[str, Any]:
    if family.compute is None:
        return {"low_ps": family.low_ps, "high_ps": family.high_ps}
    return {"compute_ps": amounts_entry(family.compute)}


def _node_keys(family: RangeFamily) -> dict[str, Any]:
    accesses = [node_access_entry(access) for access in family.node_accesses]
    return {"node_accesses": accesses} if accesses else {}


def _task_entries(workload: Workload) -> list[dict[str, Any]]:
    codes, arguments = workload.op_code.tolist(), workload.op_arg.tolist()
    ops = [
        WAIT if code == Op.WAIT else [ARGUMENT_OPS[Op(code)], arg] for code, arg in zip(codes, arguments, strict=True)
    ]
    op_ptr, then_ptr = workload.op_ptr.tolist(), workload.successor_ptr.tolist()
    then = workload.successor.tolist()
    return [
        {
            "kind": member_name(Kind(kind)),
            "ops": ops[op_ptr[task] : op_ptr[task + 1]],
            "then": then[then_ptr[task] : then_ptr[task + 1]],
        }
        for task, kind in enumerate(workload.kind.tolist())
    ]
