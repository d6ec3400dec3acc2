"""Columns that the results table of recorded programs has beside all others: where they were recorded, on what cores.

``time_factor``: what compute times were multiplied by on the machine; null where the rate of a core is not known there
or where the program was recorded. ``recording``: sentences about the recording, one a line. Tables of other programs
have neither.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from numasim.spec.workload_identity import recording_of
from numasim.sweep.planned_runs import PlannedRow

TIME_FACTOR, RECORDING = "time_factor", "recording"


def recording_columns(rows: Sequence[PlannedRow], workloads: Sequence[str]) -> dict[str, pa.Array]:
    """The columns of ``rows``, whose workloads have these names; none where no program was recorded."""
    found = {id(row.cell.spec.workload): row.cell.spec.workload for row in rows}
    recordings = {key: recording_of(workload) for key, workload in found.items()}
    by_row = [recordings[id(row.cell.spec.workload)] for row in rows]
    if not any(by_row):
        return {}
    factors = [
        recorded.factor(row.cell.spec.machine.core_steps_per_s or 0) if recorded else None
        for row, recorded in zip(rows, by_row, strict=True)
    ]
    texts = [
        "\n".join(recorded.remarks(name)) if recorded else None
        for name, recorded in zip(workloads, by_row, strict=True)
    ]
    return {TIME_FACTOR: pa.array(factors, pa.float64()), RECORDING: pa.array(texts, pa.string())}
