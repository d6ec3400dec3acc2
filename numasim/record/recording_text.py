"""What `numasim record` says of a recording."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from numasim.record.recording import Recording
from numasim.schema.enumerations import Kind

_PS_PER_MS = 10**9


def lines_of(found: Recording) -> Iterator[str]:
    """The lines, the most important first."""
    work = found.workload
    tasks = int(np.count_nonzero(work.kind == Kind.TASK))
    calls = int(np.count_nonzero(work.kind == Kind.CALL))
    total_ms = int(work.segment_compute_ps.sum()) / _PS_PER_MS
    yield f"{tasks:,} tasks, {calls:,} calls, {len(work.phases)} phases, {total_ms:,.3f} ms of work"
    yield f"recorded with {found.threads} {'thread' if found.threads == 1 else 'threads'} through {found.openmp}"
    yield _runs(found)
    if found.status:
        yield f"the program ended with status {found.status}"
    for what, count in sorted(found.odd.items()):
        yield f"not in the graph as in the program: {count:,} {what}"


def _runs(found: Recording) -> str:
    if found.spread is None:
        return (
            f"{found.runs} {'run' if found.runs == 1 else 'runs'}, of which one was taken: its times hold disturbances"
        )
    left = f"a spread of {100 * found.spread:.1f} % is left"
    return f"{found.runs} runs, of which {found.joined} had the same tasks and were joined; {left}"
