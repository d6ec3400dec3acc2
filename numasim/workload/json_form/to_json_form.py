"""The JSON form of a workload, as text and as a document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from numasim.workload.amounts import Amounts
from numasim.workload.builder import ACCESS_TYPES
from numasim.workload.graph import (
    WITHOUT_ARGUMENT,
    Accesses,
    Kind,
    Loop,
    Mode,
    NodeAccess,
    Op,
    Pattern,
    Phase,
    RangeFamily,
    Workload,
)
from numasim.workload.json_form.graph_models import FORMAT, member_name
from numasim.workload.phases import parts
from numasim.workload.sync_parameters import Role, SyncObject


def text_of(workload: Workload) -> str:
    """Return the text of the JSON file of ``workload``. Equal workloads have equal texts."""
    long = {"tasks": _task_texts, "segments": _segment_texts}
    members = (
        f"{_dumped(key)}:[{','.join(long[key](workload))}]" if key in long else f"{_dumped(key)}:{_dumped(value)}"
        for key, value in around_tasks(workload).items()
    )
    return "{" + ",".join(members) + "}\n"


def to_file(workload: Workload) -> dict[str, Any]:
    """Return the JSON document of ``workload``."""
    found: dict[str, Any] = json.loads(text_of(workload))
    return found


def around_tasks(workload: Workload) -> dict[str, Any]:
    """Return the JSON document of ``workload`` in the order of keys; its lists of tasks and segments are empty."""
    return {
        "format": FORMAT,
        "name": workload.name,
        "parameters": workload.parameters,
        "kernels": list(workload.kernels),
        "regions": [asdict(region) for region in workload.regions],
        "phases": _phase_entries(workload, 0, len(workload.phases), workload.loops),
        "ranges": [_range_entry(workload, family) for family in workload.ranges],
        "tasks": [],
        "segments": [],
        "words": [_word_entry(word) for word in workload.words],
        "facts": workload.facts,
        **({"recorded": workload.recorded.document()} if workload.recorded else {}),
    }


def _dumped(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _task_texts(workload: Workload) -> Iterator[str]:
    names = {int(op): f'["{member_name(op)}"' for op in Op}
    ops = [
        f"{names[code]}]" if code in WITHOUT_ARGUMENT else f"{names[code]},{argument}]"
        for code, argument in zip(workload.op_code.tolist(), workload.op_arg.tolist(), strict=True)
    ]
    then = list(map(str, workload.successor.tolist()))
    kinds = {int(kind): member_name(kind) for kind in Kind}
    op_ptr, then_ptr = workload.op_ptr.tolist(), workload.successor_ptr.tolist()
    for task, kind in enumerate(workload.kind.tolist()):
        own, waiting = ops[op_ptr[task] : op_ptr[task + 1]], then[then_ptr[task] : then_ptr[task + 1]]
        yield f'{{"kind":"{kinds[kind]}","ops":[{",".join(own)}],"then":[{",".join(waiting)}]}}'


def _segment_texts(workload: Workload) -> Iterator[str]:
    accesses = [_dumped(entry) for entry in _access_entries(workload, workload.accesses)]
    kernels = [_dumped(name) for name in workload.kernels]
    first = workload.segment_accesses.tolist()
    columns = zip(workload.segment_compute_ps.tolist(), workload.segment_kernel.tolist(), strict=True)
    for segment, (compute, kernel) in enumerate(columns):
        own = ",".join(accesses[first[segment] : first[segment + 1]])
        yield f'{{"compute_ps":{compute},"kernel":{kernels[kernel]},"accesses":[{own}]}}'


def _access_entries(workload: Workload, accesses: Accesses) -> Iterator[dict[str, Any]]:
    columns = {name: getattr(accesses, name).tolist() for name in ACCESS_TYPES}
    columns["region"] = [workload.regions[region].name for region in columns["region"]]
    columns["mode"] = [member_name(Mode(mode)) for mode in columns["mode"]]
    columns["pattern"] = [member_name(Pattern(pattern)) for pattern in columns["pattern"]]
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _word_entry(word: SyncObject) -> dict[str, Any]:
    entry = {**asdict(word), "role": member_name(word.role)}
    drawn = ("skew_ppm", "undo_ps") if word.role == Role.OBJECTS else ()
    return {key: entry[key] for key in ("name", "role", "owner", "parties", *drawn, *["same"] * word.same)}


def _phase_entries(workload: Workload, first: int, end: int, loops: Sequence[Loop]) -> list[dict[str, Any]]:
    return [
        _phase_entry(workload.phases[part])
        if isinstance(part, int)
        else {"loop": _phase_entries(workload, part[0].first, part[0].end, part[1]), "repeat": part[0].repeat}
        for part in parts(first, end, loops)
    ]


def _phase_entry(phase: Phase) -> dict[str, Any]:
    entry = {("range" if key == "range_family" else key): value for key, value in vars(phase).items()}
    return {**entry, "roots": list(phase.roots), "deal": member_name(phase.deal)}


def _range_entry(workload: Workload, family: RangeFamily) -> dict[str, Any]:
    steps = {key: getattr(family, key).tolist() for key in ("divisor", "step_div", "step_mod")}
    rules = (dict(zip(steps, row, strict=True)) for row in zip(*steps.values(), strict=True))
    times: dict[str, Any] = {"low_ps": family.low_ps, "high_ps": family.high_ps}
    node_accesses = [_node_access_entry(access) for access in family.node_accesses]
    pages = {"fresh": family.fresh, "freed": family.freed}
    return {
        "name": family.name,
        "count": family.count,
        **(times if family.compute is None else {"compute_ps": _amounts_entry(family.compute)}),
        "kernel": workload.kernels[family.kernel],
        "accesses": [a | rule for a, rule in zip(_access_entries(workload, family.accesses), rules, strict=True)],
        **({"node_accesses": node_accesses} if node_accesses else {}),
        **{key: _amounts_entry(amounts) for key, amounts in pages.items() if amounts is not None},
    }


def _amounts_entry(amounts: Amounts) -> dict[str, list[int]]:
    keys = ("items",) if len(amounts.items) else ("weight", "low", "high")
    return {key: getattr(amounts, key).tolist() for key in keys}


def _node_access_entry(access: NodeAccess) -> dict[str, Any]:
    entry = {
        "nodes": list(access.nodes),
        "shares": list(access.shares),
        "mode": member_name(Mode(access.mode)),
        "pattern": member_name(Pattern(access.pattern)),
        "bytes": _amounts_entry(access.amounts),
    }
    return entry | ({"returned_ppm": access.returned_ppm} if access.returned_ppm else {})
