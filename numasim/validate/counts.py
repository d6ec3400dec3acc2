"""The common form of a predicted and of a measured run: counters under the names of the simulator's results."""

from __future__ import annotations

from numasim.engine.result import Result
from numasim.runtime.runtime_program import KernelRun

OF_COLUMNS = ("makespan_ps", "steal_attempts", "steal_success", "steal_attempts_remote", "tasks")


def predicted_counts(result: Result, serial_ps: int) -> dict[str, int]:
    """What a simulation counted; ``serial_ps`` is how long the serial twin took when the program was recorded."""
    counters = result.counters
    return {
        **{name: int(counters[name]) for name in OF_COLUMNS},
        "serial_ps": serial_ps,
        "steal_false": int(counters["steal_false"]),
        "bytes": int(result.node_bytes.sum()),
        "bytes_remote": int(counters["bytes_remote"]),
        "lock_acquisitions": int(counters["lock_acquisitions"]),
    }


def measured_counts(run: KernelRun) -> dict[str, int]:
    """What a run of the runtime counted."""
    columns = {**run.columns, "makespan_ps": run.makespan_ps}
    moved = sum(map(sum, run.node_bytes))
    return {
        **{name: int(columns[name]) for name in OF_COLUMNS},
        "serial_ps": run.serial_ps or 0,
        "steal_false": columns["steal_attempts"] - columns["steal_success"],
        "bytes": moved,
        "bytes_remote": moved - sum(row[node] for node, row in enumerate(run.node_bytes)),
        "lock_acquisitions": sum(word[0] for word in run.words),
    }
