"""The result of a run: integer counters, per-worker and node-pair tables. Definitions: model section 6.

``COLUMNS`` are the names of all columns in the order of a results table; `numasim.engine.columns` describes them. All
columns are equal on every engine except ``engine`` and ``events``: the number of events depends on the engine.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from numasim.engine.assumed_values import depended_on, sentence
from numasim.engine.columns import DESCRIBED, of_group, of_kind
from numasim.engine.phase_rows import columns_of, named, no_rows
from numasim.engine.remarks import phases_left_out, remarks, waits_for_lines
from numasim.engine.unit_text import time_text
from numasim.errors import InputError
from numasim.html import Shown
from numasim.schema import enumerations

if TYPE_CHECKING:
    import pandas as pd

    from numasim.engine.observe.over_time import OverTime
    from numasim.plan.plan import Plan

IDENTITY = of_group("identity")
OUTCOME = of_group("outcome")
STEALS = of_group("steals")
MEMORY = of_group("memory")
LOCKS = of_group("locks")
REST = of_group("rest")
TRANSACTIONS = of_group("transactions")
TIME = of_group("time")
COST = of_group("cost")
COLUMNS = tuple(DESCRIBED)
LEADING = ("worker", "role", "node", "node_from", "node_to")

COUNTS = tuple(enumerations.COUNTS)  # the counters of each worker, beside TIME

TEXT = of_kind("text")
RATIOS = of_kind("ratio")  # null where the denominator is 0; event_hash is null in a skipped run


@dataclass(repr=False)
class Result(Shown):
    """One finished run.

    The columns of a results table are attributes and items of the result: ``result.makespan_ps`` and
    ``result["makespan_ps"]``. ``workers`` is a table of all workers, as in a sweep; the number of workers is
    ``result["workers"]``. Shapes in comments: first the thief's node, or the node that accesses memory; then the
    victim's node, or the home of the bytes.
    """

    counters: dict[str, Any]  # the columns of groups OUTCOME to COST except ratios; hashes are 16 hex digits
    per_worker: dict[str, npt.NDArray[Any]]  # each counter of workers: [workers, then producers]
    node_bytes: npt.NDArray[np.int64]  # [nodes, nodes] bytes, as the tables of attempts and steals
    node_attempts: npt.NDArray[np.int64]
    node_success: npt.NDArray[np.int64]
    node_pages: npt.NDArray[np.int64]  # [nodes] pages on each node at the end
    node_conflicts: npt.NDArray[np.int64]  # [node of the worker that aborted, node of the worker that had the object]
    object_conflicts: npt.NDArray[np.int64]  # aborts at each object of all memories of transactions (model 4.11)
    # Bytes read, fetched for ownership and written back, which add up to ``node_bytes``, and bytes from other caches
    # [accessing node, sending node]; empty if segment durations are known before the run.
    traffic: dict[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    sync_objects: dict[str, npt.NDArray[Any]] = field(default_factory=dict)  # a row for each: name, place, `SyncCounts`
    held: npt.NDArray[np.int64] | None = field(default=None, compare=False)  # [n, (object, actor, start, end)]
    identity: dict[str, Any] = field(default_factory=dict)
    phase_table: npt.NDArray[np.int64] = field(default_factory=no_rows)  # [first 100,000 runs of phases, COLUMNS]
    phase_names: tuple[str, ...] = ()
    phases_run: int = 0  # all runs of phases
    passed_items: int = 0  # range items counted in closed form, which have no records
    over_time: OverTime | None = field(default=None, compare=False)  # tables over time, if they were requested
    left_out: tuple[str, ...] = field(default=(), compare=False)  # remarks about parts that requested files do not hold
    assumed: tuple[str, ...] = field(default=(), compare=False)  # assumed fields of the machine, by dotted name
    engine_s: float = field(default=0.0, compare=False)  # wall-clock time of the engine alone

    def __repr__(self) -> str:
        names = [str(self.identity[name]) for name in ("workload", "machine", "strategy") if name in self.identity]
        what = ", ".join([*names, f"{self.worker_count} worker{'s' * (self.worker_count != 1)}"])
        return f"<Result: {what}; makespan {time_text(self.counters['makespan_ps'])}>"

    def __getattr__(self, name: str) -> Any:
        """Return a column of the results table; AttributeError for any other name."""
        row = self.row() if name in DESCRIBED and "counters" in vars(self) else {}
        if name not in row:
            raise AttributeError(f"a result has no attribute or column {name!r}", name=name, obj=self)
        return row[name]

    def __getitem__(self, name: str) -> Any:
        """Return a column of the results table; `InputError` for any other name."""
        row = self.row()
        if name not in row:
            raise InputError(f"a result has no column {name!r}", value=name, known=row)
        return row[name]

    def __dir__(self) -> list[str]:
        """Return the names that a notebook completes behind a dot."""
        return sorted({*super().__dir__(), *self.row()})

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names that a notebook completes inside of brackets."""
        return list(self.row())

    def to_frame(self) -> pd.DataFrame:
        """Return the row of this run as a results table, which can be drawn."""
        import pandas as pd

        unnamed = dict.fromkeys(("machine", "workload", "strategy"), "") | {"workers": self.worker_count}
        return pd.DataFrame([{**unnamed, **self.row(), "run_id": self._run_id, "error": None}])

    @property
    def workers(self) -> pd.DataFrame:
        """Return a row for each worker, then for each producer, with the columns of ``SweepResult.workers()``."""
        import pandas as pd

        return pd.DataFrame({"run_id": self._run_id, **_in_order(worker_columns(self))})

    @property
    def node_pairs(self) -> pd.DataFrame:
        """Return a row for each ordered pair of nodes, with the columns of ``SweepResult.node_pairs()``."""
        import pandas as pd

        return pd.DataFrame({"run_id": self._run_id, **_in_order(node_pair_columns(self))})

    @property
    def _run_id(self) -> str:
        return str(self.identity.get("run_id") or "run")

    @property
    def words(self) -> dict[str, npt.NDArray[Any]]:
        """Return ``sync_objects`` by its name in version 0.1.0, in which its first column was called ``word``."""
        advice = "Result.words is called Result.sync_objects now, and its column 'word' is 'object'"
        warnings.warn(advice, FutureWarning, 2)
        return {"word" if name == "object" else name: column for name, column in self.sync_objects.items()}

    @property
    def worker_count(self) -> int:
        """Return the number of workers, without producers."""
        return int((self.per_worker["role"] == "worker").sum())

    @property
    def remarks(self) -> list[str]:
        """Return remarks for the user about the run, for example that thieves found nothing to steal."""
        machine = str(self.identity.get("machine", "the machine"))
        return [
            *remarks(self.counters, self.worker_count),
            *waits_for_lines(self.counters, self.worker_count),
            *phases_left_out(self.phases_run),
            *self.left_out,
            *sentence(machine, depended_on(self.assumed, self.counters)),
        ]

    @property
    def phase_rows(self) -> dict[str, npt.NDArray[np.int64]]:
        """Return the columns of ``phase_table`` by name."""
        return columns_of(self.phase_table)

    @property
    def iterations(self) -> pd.DataFrame:
        """Return a row for each of the first 100,000 runs of phases, in order: number and name of the phase, iteration
        and turn, begin and time in ps, and counts.
        """
        return named(self.phase_rows, self.phase_names)

    def row(self) -> dict[str, Any]:
        """Return the columns of the results table, with ratios; columns of identity that are not known are left out."""
        return self.row_of(self.identity)

    def row_of(self, identity: dict[str, Any]) -> dict[str, Any]:
        """Return `row` with other columns of identity."""
        c = self.counters
        row = {**identity, **c}
        row["speedup"] = ratio(c["serial_ps"], c["makespan_ps"])
        workers = identity.get("workers") or self.worker_count
        row["efficiency"] = ratio(c["serial_ps"], c["makespan_ps"] * workers)
        row["steal_miss_ratio"] = ratio(c["steal_false"], c["steal_attempts"])
        row["steal_remote_ratio"] = ratio(c["steal_attempts_remote"], c["steal_attempts"])
        row["abort_ratio"] = ratio(c["aborts"], c["commits"] + c["aborts"])
        return {name: row[name] for name in COLUMNS if name in row}


def node_pairs(result: Result) -> dict[str, npt.NDArray[np.int64]]:
    """Return the tables [nodes, nodes] of a result by column name, with the two nodes; kinds of bytes if known."""
    source, target = _pairs(*result.node_bytes.shape)
    return {
        "node_from": source,
        "node_to": target,
        "steal_attempts": result.node_attempts,
        "steal_success": result.node_success,
        "conflicts": result.node_conflicts,
        "bytes": result.node_bytes,
        **{f"bytes_{kind}": pairs for kind, pairs in result.traffic.items()},
    }


def worker_columns(result: Result) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of `Result.workers`, each [workers and producers]; ``worker`` alone if there is no table."""
    count = len(next(iter(result.per_worker.values()), ()))
    return {"worker": np.arange(count), **result.per_worker}


def node_pair_columns(result: Result) -> dict[str, npt.NDArray[np.int64]]:
    """Return the columns of `Result.node_pairs`, each [nodes x nodes]; kinds of bytes if known."""
    return {name: table.ravel() for name, table in node_pairs(result).items()}


def column_place(name: str) -> tuple[int, str]:
    """Return the place of a column in tables: identities, counters as in the results table, other columns by name."""
    order = (*LEADING, *COLUMNS)
    return (order.index(name), "") if name in order else (len(order), name)


def _in_order(columns: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    return {name: columns[name] for name in sorted(columns, key=column_place)}


@lru_cache(maxsize=2)
def _pairs(sources: int, targets: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first and the second node of every pair, as read-only tables."""
    first, second = np.indices((sources, targets), np.int64)
    first.setflags(write=False)
    second.setflags(write=False)
    return first, second


def mode_of(plan: Plan, passed_items: int) -> str:
    """Return the mode of a run, which follows from its plan and the range items that were counted in closed form:
    ``skipping`` if only steals need be events (model 1.7), ``bulk`` if items were counted without events (1.8), else
    ``eager``.
    """
    if plan.skipping:
        return "skipping"
    return "bulk" if passed_items else "eager"


def ratio(part: int, whole: int) -> float | None:
    """Return ``part / whole``, or None if the whole is zero."""
    return part / whole if whole else None
