"""Arrays become a task graph in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from numasim.workload.builder import ACCESS_TYPES
from numasim.workload.graph import Accesses, Kind, Loop, Mode, Op, Pattern, Phase, RangeFamily, Workload
from numasim.workload.json_form.graph_models import ARGUMENT_OPS, FORMAT, PLAIN_OPS, member_name
from numasim.workload.phases import parts
from numasim.workload.sync_parameters import Role, SyncObject


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
        **({"recorded": workload.recorded.document()} if workload.recorded else {}),
    }


def _word_entry(word: SyncObject) -> dict[str, Any]:
    entry = {"name": word.name, "role": member_name(word.role), "owner": word.owner, "parties": word.parties}
    if word.role != Role.OBJECTS:
        return entry
    drawn = {"skew_ppm": word.skew_ppm, "undo_ps": word.undo_ps}
    return {**entry, **drawn, **({"same": True} if word.same else {})}


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
        **_page_keys(family),
    }


def _time_keys(family: RangeFamily) -> dict[str, Any]:
    if family.compute is None:
        return {"low_ps": family.low_ps, "high_ps": family.high_ps}
    return {"compute_ps": amounts_entry(family.compute)}


def _node_keys(family: RangeFamily) -> dict[str, Any]:
    accesses = [node_access_entry(access) for access in family.node_accesses]
    return {"node_accesses": accesses} if accesses else {}


def _page_keys(family: RangeFamily) -> dict[str, Any]:
    given = {"fresh": family.fresh, "freed": family.freed}
    return {key: amounts_entry(amounts) for key, amounts in given.items() if amounts is not None}


def _task_entries(workload: Workload) -> list[dict[str, Any]]:
    codes, arguments = workload.op_code.tolist(), workload.op_arg.tolist()
    ops = [PLAIN_OPS.get(Op(code)) or [ARGUMENT_OPS[Op(code)], arg] for code, arg in zip(codes, arguments, strict=True)]
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


def amounts_entry(amounts: Amounts) -> dict[str, list[int]]:
    """The entry of amounts."""
    if len(amounts.items):
        return {"items": amounts.items.tolist()}
    return {"weight": amounts.weight.tolist(), "low": amounts.low.tolist(), "high": amounts.high.tolist()}


def node_access_entry(access: NodeAccess) -> dict[str, Any]:
    """The entry of a node access."""
    returned = {"returned_ppm": access.returned_ppm} if access.returned_ppm else {}
    return {
        "nodes": list(access.nodes),
        "shares": list(access.shares),
        "mode": Mode(access.mode).name.lower().replace("_", "-"),
        "pattern": Pattern(access.pattern).name.lower(),
        "bytes": amounts_entry(access.amounts),
        **returned,
    }
