"""The text of a task graph's JSON file, without an object for each of its tasks and segments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from numasim.workload.graph import Kind, Op, Workload
from numasim.workload.json_models import ARGUMENT_OPS, access_entries, around_tasks, member_name

WAIT = '["wait"]'


def text_of(workload: Workload) -> str:
    """The text of the file of ``workload``, which is that of its document: equal workloads have the same."""
    long = {"tasks": _tasks, "segments": _segments}
    members = (
        f"{_json(key)}:[{','.join(long[key](workload))}]" if key in long else f"{_json(key)}:{_json(value)}"
        for key, value in around_tasks(workload).items()
    )
    return "{" + ",".join(members) + "}\n"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _tasks(workload: Workload) -> Iterator[str]:
    begins = {int(code): f'["{name}",' for code, name in ARGUMENT_OPS.items()}
    ops = [
        WAIT if code == Op.WAIT else f"{begins[code]}{argument}]"
        for code, argument in zip(workload.op_code.tolist(), workload.op_arg.tolist(), strict=True)
    ]
    then = list(map(str, workload.successor.tolist()))
    kinds = {int(kind): member_name(kind) for kind in Kind}
    op_ptr, then_ptr = workload.op_ptr.tolist(), workload.successor_ptr.tolist()
    for task, kind in enumerate(workload.kind.tolist()):
        own, waiting = ops[op_ptr[task] : op_ptr[task + 1]], then[then_ptr[task] : then_ptr[task + 1]]
        yield f'{{"kind":"{kinds[kind]}","ops":[{",".join(own)}],"then":[{",".join(waiting)}]}}'


def _segments(workload: Workload) -> Iterator[str]:
    accesses = [_json(entry) for entry in access_entries(workload, workload.accesses)]
    kernels = [_json(name) for name in workload.kernels]
    first = workload.segment_accesses.tolist()
    columns = zip(workload.segment_compute_ps.tolist(), workload.segment_kernel.tolist(), strict=True)
    for segment, (compute, kernel) in enumerate(columns):
        own = ",".join(accesses[first[segment] : first[segment + 1]])
        yield f'{{"compute_ps":{compute},"kernel":{kernels[kernel]},"accesses":[{own}]}}'
