"""What `numasim record` says of a recording."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from numasim.runtime.record.recording import Recording
from numasim.schema.enumerations import Kind

_PS_PER_MS = 10**9
MOST_NAMED = 5
SMALL = 0.01  # of the work of the program: less of a part of a region is not named


def lines_of(found: Recording) -> Iterator[str]:
    """The lines, the most important first."""
    work = found.workload
    tasks = int(np.count_nonzero(work.kind == Kind.TASK))
    calls = int(np.count_nonzero(work.kind == Kind.CALL))
    total_ms = int(work.segment_compute_ps.sum()) / _PS_PER_MS
    chunks = f" (of which {found.chunks:,} are chunks of loops)" if found.chunks else ""
    yield f"{tasks:,} tasks{chunks}, {calls:,} calls, {len(work.phases)} phases, {total_ms:,.3f} ms of work"
    yield f"recorded with {found.threads} {'thread' if found.threads == 1 else 'threads'} through {found.openmp}"
    yield _runs(found)
    if work.recorded:
        unknown = "" if work.recorded.core_steps_per_s else "; how fast its cores compute was not measured"
        yield f"recorded on {work.recorded.place}{unknown}"
    if found.status:
        yield f"the program ended with status {found.status}"
    yield from _without_tasks(found, total_ms)
    yield from _blocked(found)
    if found.left_out_ps:
        yield f"left out: {found.left_out_ps / _PS_PER_MS:,.3f} ms of work between the parallel regions"
    yield _data(found)
    for what, count in sorted(found.odd.items()):
        yield f"not in the graph as in the program: {count:,} {what}"


def _without_tasks(found: Recording, total_ms: float) -> Iterator[str]:
    """The parts of regions that work long without any task, the longest first."""
    long = [(name, each) for name, each in found.parts if not each.tasks]
    long = [(name, each) for name, each in long if each.body_ps > SMALL * total_ms * _PS_PER_MS]
    for name, each in sorted(long, key=lambda pair: -pair[1].body_ps)[:MOST_NAMED]:
        shares = "the share of its only thread" if each.team == 1 else f"the shares of its {each.team} threads"
        own = f"{each.body_ps / _PS_PER_MS:,.3f} ms without any task"
        yield f"{name}: {own}, {shares}, of which no other worker takes any"
    if len(long) > MOST_NAMED:
        yield f"and {len(long) - MOST_NAMED:,} more parts of regions without any task"


def _blocked(found: Recording) -> Iterator[str]:
    total_ps = sum(found.blocked_ps.values())
    if total_ps:
        most = sorted(found.blocked_ps.items(), key=lambda pair: -pair[1])[:MOST_NAMED]
        where = ", ".join(f"{ps / _PS_PER_MS:,.3f} ms {name}" for name, ps in most)
        yield (
            f"no work of the graph: {total_ps / _PS_PER_MS:,.3f} ms for which the program waited without a processor, "
            f"as for files or a time to pass ({where})"
        )


def _data(found: Recording) -> str:
    data = found.data
    if not data.source:
        return (
            "the graph has no accesses to memory, so that simulations of it say nothing about memory: "
            "declare them with numasim/record.h"
        )
    count = sum(map(len, data.accesses.values()))
    moved = sum(access.row_bytes * access.rows for each in data.accesses.values() for access in each)
    said = f"{count:,} accesses to {moved:,} bytes in {len(data.regions):,} regions, by {data.source}"
    if not data.guessed:
        return said
    lines = f", {data.unknown:,} addresses in no block as a cache line each" if data.unknown else ""
    return (
        f"{said}; {data.guessed:,} of {count:,} sizes are guesses{lines}, made of the addresses of dependences: "
        "declare accesses with numasim/record.h (ns_record_access, ns_record_tile)"
    )


def _runs(found: Recording) -> str:
    if found.spread is None:
        return (
            f"{found.runs} {'run' if found.runs == 1 else 'runs'}, of which one was taken: its times hold disturbances"
        )
    left = f"a spread of {100 * found.spread:.1f} % is left"
    return f"{found.runs} runs, of which {found.joined} had the same events and were joined; {left}"
