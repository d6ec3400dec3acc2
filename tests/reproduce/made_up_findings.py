"""A reproduction that nobody ran: the published tables of the thesis, and beside them the same numbers with noise.

It has every shape that a page must show: columns over workers, benchmarks on many scales, inputs, mixed roles, cells
that were not simulated, a regression, scores that are met and missed, ablations and fitted parameters.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from numasim.reproduce.calibration.record import FittedParameter, RefusedParameter
from numasim.reproduce.findings import Ablation, Choice, Findings, Reading, Tried
from numasim.reproduce.score.scores import class_scores, table_scores
from numasim.reproduce.study.selection import ScoreRule
from numasim.reproduce.table_cells import Cell, ReadingRole, Role, Table

PUBLISHED = Path(__file__).resolve().parents[2] / "experiments" / "thesis" / "published"
SEEDS = 3
RULES = (
    ScoreRule("times", "mape", 0.15),
    ScoreRule("volumes", "mape", 0.25),
    ScoreRule("steals", "median-factor", 1.5),
    ScoreRule("miss-ratios", "mean-absolute-error", 0.06),
    ScoreRule("remote-share", "pooled-share", 0.03, of="steals", tables=("4.2",), part="steal_attempts_remote"),
    ScoreRule("overheads", "mape", 0.15),
    ScoreRule("signs", "sign-agreement", 0.8, of="times"),
    ScoreRule("step", "mape", of="times", question="one-step", unknown="what ran beside it"),
    ScoreRule("ranks", "rank-correlation", 0.8, of="times"),
)


@dataclass(frozen=True)
class Column:
    name: str
    quantity: str
    unit: str
    role: Role = Role.PREDICTED
    variant: str = ""
    score: str = ""
    baseline: str = ""


def time(name: str, role: Role = Role.PREDICTED, baseline: str = "") -> Column:
    variant = name.removesuffix("_execution_time_s").replace("_", "-")
    if variant == "serial":
        return Column(name, "serial_s", "s", role)
    score = "times" if baseline else ""
    return Column(name, "makespan_s", "s", role, variant, score, f"{baseline}_execution_time_s" if baseline else "")


SERIAL, RANDOMIZED = (time(f"{name}_execution_time_s", Role.FITTED) for name in ("serial", "randomized"))
TABLES: dict[str, tuple[str, str, str, tuple[Column, ...]]] = {
    "3.1": (
        "3_1_steal_counts",
        "Steal counts of MATMUL under randomized stealing",
        "worker_threads",
        (
            Column("false_steal_count", "steal_false", "count", Role.FITTED, "randomized"),
            Column("success_steal_count", "steal_success", "count", Role.FITTED, "randomized"),
        ),
    ),
    "3.3": (
        "3_3_steal_miss_ratios_randomized_vs_threshold",
        "Steal-miss ratios under randomized and threshold-constrained stealing",
        "worker_threads",
        (
            Column("randomized_average_steal_miss_ratio", "steal_miss_ratio", "1", variant="randomized"),
            Column(
                "threshold_constrained_average_steal_miss_ratio",
                "steal_miss_ratio",
                "1",
                variant="threshold",
                score="miss-ratios",
                baseline="randomized_average_steal_miss_ratio",
            ),
        ),
    ),
    "3.4": (
        "3_4_execution_times_randomized_vs_threshold",
        "Execution times under randomized and threshold-constrained stealing",
        "benchmark",
        (SERIAL, RANDOMIZED, time("threshold_constrained_execution_time_s", baseline="randomized")),
    ),
    "3.6": (
        "3_6_bots_steal_miss_ratios",
        "Steals of the BOTS programs",
        "benchmark",
        (
            Column("success_steal_count", "steal_success", "count", score="steals"),
            Column("steal_attempt_count", "steal_attempts", "count"),
            Column("steal_miss_ratio", "steal_miss_ratio", "1"),
        ),
    ),
    "4.2": (
        "4_2_remote_local_steal_counts_randomized",
        "Remote and local steals under randomized stealing",
        "worker_threads",
        (
            Column("average_remote_steal_count", "steal_attempts_remote", "count", score="steals"),
            Column("average_local_steal_count", "steal_attempts_local", "count", score="steals"),
        ),
    ),
    "4.5": (
        "4_5_execution_times_randomized_vs_topology_aware",
        "Execution times under randomized and topology-aware stealing",
        "benchmark",
        (SERIAL, RANDOMIZED, time("topology_aware_execution_time_s", baseline="randomized")),
    ),
    "5.2": (
        "5_2_execution_times_topology_aware_vs_locality_binding",
        "Execution times with and without binding tasks to their data",
        "benchmark",
        (
            SERIAL,
            time("topology_aware_execution_time_s"),
            time("locality_binding_execution_time_s", baseline="topology_aware"),
        ),
    ),
    "5.3": (
        "5_3_remote_data_volumes_topology_aware_vs_locality_binding",
        "Remote data volumes with and without binding tasks to their data",
        "benchmark",
        (
            Column("topology_aware_remote_gb", "remote_gb", "GB", variant="topology-aware", score="volumes"),
            Column(
                "locality_binding_remote_gb",
                "remote_gb",
                "GB",
                variant="locality-binding",
                score="volumes",
                baseline="topology_aware_remote_gb",
            ),
        ),
    ),
    "6.2": (
        "6_2_spin_lock_access_times",
        "Spin lock access times",
        "scenario",
        (Column("average_lock_access_time_ns", "lock_access_ns", "ns", Role.INPUT),),
    ),
    "6.4": (
        "6_4_synchronization_overheads",
        "Overheads of OpenMP constructs",
        "openmp_construct",
        (
            Column("numa_oblivious_overhead_ms", "overhead_ms", "ms", Role.FITTED, "oblivious"),
            Column(
                "affinity_aware_overhead_ms",
                "overhead_ms",
                "ms",
                variant="affinity-aware",
                score="overheads",
                baseline="numa_oblivious_overhead_ms",
            ),
        ),
    ),
    "6.6": (
        "6_6_execution_times_numa_oblivious_vs_affinity_aware",
        "Execution times with oblivious and affinity-aware synchronization",
        "benchmark",
        (
            SERIAL,
            time("numa_oblivious_execution_time_s"),
            time("affinity_aware_execution_time_s", baseline="numa_oblivious"),
        ),
    ),
}
NOTES = {
    "3.6": ("Strategy and number of workers are not stated; randomized stealing on 24 workers is assumed.",),
    "4.2": ("2 workers, one per node: 21 local steals cannot happen unless a thief picks itself <(equation 4.2)>.",),
}


@cache
def made_up(noise: float = 0.1) -> Findings:
    """The whole of it; ``noise`` is the relative error of what was "simulated"."""
    tables = tuple(_table(identity, noise) for identity in TABLES)
    scores = class_scores(tables, RULES)
    worse = class_scores(tuple(_table(identity, 3 * noise) for identity in TABLES), RULES)
    return Findings(
        title="Adaptive Work Stealing Run-times for NUMA Multi-core Architecture",
        source="B. Vikranth, PhD thesis, University of Hyderabad, 2018",
        machine="xeon-e5-2620-2s",
        published_machine="xeon-e5-2620-2s",
        quick=False,
        without=(),
        runs=123,
        tables=tables,
        rules=RULES,
        scores=scores,
        columns=table_scores(tables, RULES),
        readings=(
            Reading(
                name="workers",
                question="How many workers ran chapter 3?",
                role=ReadingRole.INPUT,
                choices=(
                    Choice("12", "section 2.3.1", "workers: 12", scored=True),
                    Choice("24", "Table 3.1", "workers: 24", scored=False, scores=worse),
                ),
            ),
            Reading("heap", "Whose heap?", ReadingRole.CHOSEN, (Choice("its own", "nobody says", "", scored=True),)),
        ),
        ablations=(
            Ablation("nothing", "", scores),
            Ablation("caches", "model.cache: none", worse),
            Ablation("contention", "model.contention: none", scores),
            Ablation("thresholds", "strategy.thresholds: none", worse),
        ),
        parameters=(
            FittedParameter(
                name="memory-level parallelism",
                field="model.mlp",
                programs=("bots",),
                value=Decimal("0.8"),
                unit="1",
                table="3.4",
                columns=("randomized",),
                residual=0.07,
            ),
            FittedParameter(
                name="polling interval",
                field="runtime.poll_ns",
                programs=("bots",),
                value=110,
                unit="ns",
                table="3.6",
                columns=("attempts",),
            ),
        ),
        command="numasim reproduce thesis",
        version="0",
        refused=(
            RefusedParameter(
                name="overlap",
                field="model.overlap",
                programs=("bots",),
                found=Decimal(1),
                unit="1",
                table="3.4",
                columns=("randomized",),
                searched=(Decimal(0), Decimal(1)),
                reason="the best value is an end of the range",
            ),
        ),
        only_rates=worse,
        tried=(
            Tried("times", "mape", "threads are pinned <b>", "mapping", "", 0.15, 0.12, True, True),
            Tried("steals", "median-factor", "locks park", "spin_ns", "Table 4.2", 1.5, 1.7, False, False),
        ),
        lead="times",
        learned=("The error of times is {times}, that of the null model {times/null}.", "No {score} of that name."),
    )


@dataclass(frozen=True)
class Report:
    """A written report: its page, and how often its progress was told."""

    page: Path
    advanced: int


def written(factory: pytest.TempPathFactory) -> Report:
    """The report of all of it, written once a session because its figures take seconds to draw."""
    return _written(factory.getbasetemp() / "made-up" / "report")


@cache
def _written(folder: Path) -> Report:
    from numasim.reproduce.pages.report_page import write_pages  # it draws

    advanced: list[int] = []
    page = write_pages(made_up(), folder, lambda: advanced.append(1))
    return Report(page, len(advanced))


def _table(identity: str, noise: float) -> Table:
    stem, title, key, columns = TABLES[identity]
    with open(PUBLISHED / f"thesis_table_{stem}.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    draws = np.random.default_rng(int(identity.replace(".", "")))
    cells = [cell for row in rows for cell in _cells(identity, row[key], row, columns, draws, noise)]
    source = f"Table {identity}"
    return Table(identity, title, source, "runs", (key,), tuple(cells), NOTES.get(identity, ()))


def _cells(
    identity: str, key: str, row: dict[str, str], columns: tuple[Column, ...], draws: np.random.Generator, noise: float
) -> Iterator[Cell]:
    for column in columns:
        published = float(row[column.name])
        factors = draws.normal(1 + draws.normal(0, noise), noise / 5, SEEDS)
        cell = Cell(
            table=identity,
            row=key,
            column=column.name,
            variant=column.variant,
            quantity=column.quantity,
            unit=column.unit,
            role=column.role,
            score=column.score,
            published=published,
            simulated=tuple(float(value) for value in published * factors),
            baseline=column.baseline,
            null=float(row[column.baseline]) if column.baseline else None,
        )
        yield _special(cell)


def _special(cell: Cell) -> Cell:
    """One fitted cell in a predicted column, and one that was not simulated."""
    if (cell.row, cell.column) == ("Strassen-4096", "steal_attempt_count"):
        return replace(cell, role=Role.FITTED)
    if (cell.row, cell.column) == ("Strassen-8192", "steal_attempt_count"):
        return replace(cell, simulated=(), note="left out by --quick")
    return cell
