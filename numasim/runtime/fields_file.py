"""Files of named arrays. The task runtime receives a compiled plan as such a file (lib/runtime/source/fields.h).

The fields are the input of the native engine (`numasim.engine.native.native_engine.fields`). Nested fields get flat
names: ``name.i.key`` is the entry ``key`` of the i-th mapping in the list ``name``, and ``name.count`` is the length of
the list. An integer, a boolean or a length is an array of one 64-bit number. A string is text that ends in a zero byte.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from numasim.errors import InputError
from numasim.files.writer import write_bytes
from numasim.machine.build_machine import build
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan, Run
from numasim.plan.segment_times import local_waits_ps, segment_times
from numasim.spec.run_spec import resolve
from numasim.spec.single_part import read_machine
from numasim.strategy.compile_strategy import effective_runtime

MAGIC = b"NSFIELD1"
NAME_BYTES = 48
ENTRY = struct.Struct(f"<{NAME_BYTES}sIIQQ")
HEADER_BYTES = 24
TEXT = 5
COMPILED = "an installation of numasim on a machine with compilers for C and C++"
KINDS: dict[str, int] = {"uint8": 0, "int32": 1, "uint32": 2, "int64": 3, "uint64": 4}


def write_plan(plan: Plan, seed: int, path: Path | str) -> None:
    """Write all data of ``plan`` that the runtime needs, including its task graph, and ``seed``, the runtime's default
    seed. Raise InputError if the file cannot be written.
    """
    if not 0 <= seed < 2**64:
        raise InputError(f"got {seed}", path=("seed",), expected="a whole number of 64 bits, without a sign")
    write_fields(plan_fields(plan, seed), path)


def plan_fields(plan: Plan, seed: int) -> dict[str, Any]:
    """Return the fields of a plan's file by name.

    The native engine gets the same fields for a run with ``seed``, of a graph with a row for every task. The file has
    further fields: the seed, the hardware thread of each worker, and the compute time of each segment, which a measured
    time may replace. Raise InputError if the native engine is not built.
    """
    try:
        from numasim.engine.native.native_engine import fields
    except ImportError:
        raise InputError("the native engine is not built here", expected=COMPILED) from None
    run = Run(plan, seed).unfolded()
    plan, times = run.plan, segment_times(run.plan, run.placement)
    beside: dict[str, Any] = {
        "seed": seed,
        "subtree_end": plan.workload.subtree_end(),
        "strategy": plan.steal.name,
        "controlled": plan.tuning is not None,
        "thread": plan.workers.thread.astype(np.int32),
        "compute_ps": times.compute_ps,
    }
    if len(plan.workload.accesses):  # then segments wait for memory
        beside |= {"settled_ps": times.settled_ps.ravel(), "local_wait_ps": local_waits_ps(plan).ravel()}
    return {**fields(run), **beside}


def write_fields(fields: Mapping[str, Any], path: Path | str) -> None:
    """Write ``fields``, nested as for `flattened`, to ``path``. Raise InputError if the file cannot be written."""
    leaves = list(flattened(fields))
    table: list[bytes] = []
    body: list[bytes] = []
    offset = HEADER_BYTES + ENTRY.size * len(leaves)
    written: dict[int, tuple[int, int, int, int]] = {}  # by the identity of an object, which is written only once
    for name, value in leaves:
        if len(name.encode()) >= NAME_BYTES:
            raise ValueError(f"the field {name!r} has a name of more than {NAME_BYTES - 1} bytes")
        if id(value) not in written or isinstance(value, int):
            kind, count, data = _encoded(value)
            written[id(value)] = (kind, 0, count, offset)
            body.append(data + bytes(-len(data) % 8))
            offset += len(body[-1])
        table.append(ENTRY.pack(name.encode(), *written[id(value)]))
    hashed = b"".join([*table, *body])
    write_bytes(Path(path), MAGIC + struct.pack("<QQ", len(table), zlib.adler32(hashed)) + hashed)


def flattened(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the name and the value of every leaf of nested mappings and lists."""
    for key, value in fields.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flattened(value, f"{name}.")
        elif isinstance(value, (list, tuple)):
            yield f"{name}.count", len(value)
            yield from flattened({str(i): entry for i, entry in enumerate(value)}, f"{name}.")
        else:
            yield name, value


def _encoded(value: Any) -> tuple[int, int, bytes]:
    """Return the kind, the count and the bytes of a leaf."""
    if isinstance(value, str):
        data = value.encode() + b"\0"
        return TEXT, len(data), data
    array = np.asarray(value)
    if array.ndim == 0:  # a flag becomes an integer
        array = array.astype(np.uint64 if int(array) >= 2**63 else np.int64)[None]
    name = "uint8" if array.dtype == bool else array.dtype.name if array.dtype.name in KINDS else "int64"
    return KINDS[name], array.size, array.astype(np.dtype(name).newbyteorder("<")).tobytes()


# ---- plans for the runtime: a strategy compiled for a machine, a number of workers and a runtime preset --------------
#
# On real threads a plan needs only the strategy. The graph of the plan is then one empty task, and the effects of the
# model are off. In virtual time the program follows its own recorded graph, so that the plan contains this graph.

UNCOUPLED = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}
NOTHING_TO_DO = {"name": "fib", "n": 1, "spawn_ns": 0, "leaf_ns": 0, "join_ns": 0}  # a graph of one empty task


def compile_plan(strategy: str, machine: str, workers: int | None, runtime: str, graph: Path | None = None) -> Plan:
    """Return the plan of ``strategy``. Strategy, machine and runtime are shipped names or paths.

    Without ``workers`` the plan uses every hardware thread of the machine. ``graph``, for virtual time, is the
    recorded task graph of the program; with a graph, the effects of the model that are on by default stay on. Raise
    InputError for names that do not exist, and for parts that do not fit together.
    """
    fields: dict[str, Any] = {
        "machine": machine,
        "workload": {"file": str(graph)} if graph else NOTHING_TO_DO,
        "strategy": strategy,
        "runtime": runtime,
        "workers": workers if workers is not None else build(read_machine(machine)).threads,
        "model": {} if graph else UNCOUPLED,
    }
    spec = resolve(fields)
    if graph is None and effective_runtime(spec.strategy, spec.runtime).backoff.first_ns == "task":
        raise InputError(
            "the first wait is the mean time of a task, which only a task graph determines",
            path=("runtime", "backoff", "first_ns"),
            expected="--graph with the recorded graph of the program, or a runtime whose first wait is a time",
        )
    return build_plan(spec)
