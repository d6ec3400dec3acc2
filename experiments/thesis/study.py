"""B. Vikranth's thesis on adaptive work stealing for NUMA multicores: its tables, and the scores of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numasim.reproduce.programs import read_programs
from numasim.reproduce.study import ScoreRule, make_study, read_paper
from numasim.reproduce.study_tables import Column, Elsewhere, StudyTable, Totals
from numasim.reproduce.table_cells import Role

from . import guesses
from .ceilings import ceilings
from .fitted_ranges import fitted_sides
from .kinds import Latency, Regression, RowPlacement
from .measures import best_constant

HERE = Path(__file__).resolve().parent
TIMES = {  # the files with execution times, by table
    "3.4": "table_3_4_execution_times_randomized_vs_threshold",
    "4.5": "table_4_5_execution_times_randomized_vs_topology_aware",
    "5.2": "table_5_2_execution_times_topology_aware_vs_locality_binding",
    "6.6": "table_6_6_execution_times_numa_oblivious_vs_affinity_aware",
}
SERIAL, RANDOMIZED = "serial_execution_time_s", "randomized_execution_time_s"
FALSE, SUCCESS = "false_steal_count", "success_steal_count"
CLAIMED = {"threshold_constrained": "threshold"}  # column name -> variant, if the two differ


def table(
    id: str,
    title: str,
    section: str,
    published: str,
    program: str,
    rows: str | tuple[str, ...],
    columns: Mapping[str, Column],
    **more: Any,
) -> StudyTable:
    """Return a table of the thesis; ``section`` has the section, or section and figure."""
    place = section if "," in section else f"{section}, Table {id}"
    file = HERE / "published" / f"thesis_{published}.csv"
    return StudyTable(id, title, f"thesis section {place}", file, rows, columns, program, **more)


def matmul(id: str, title: str, section: str, published: str, columns: Mapping[str, Column]) -> StudyTable:
    """Return a table of counts of MATMUL by the number of workers."""
    return table(id, title, section, f"table_{id.replace('.', '_')}_{published}", "matmul", "worker_threads", columns,
                 key="workers")  # fmt: skip


def bots(id: str, title: str, section: str, published: str, columns: Mapping[str, Column]) -> StudyTable:
    """Return a table of the programs of the Barcelona OpenMP Tasks Suite."""
    return table(id, title, section, published, "bots", "benchmark", columns)


def variant(name: str) -> str:
    """Return the variant of a column with this name."""
    return CLAIMED.get(name, name.replace("_", "-"))


def times(id: str, title: str, section: str, before: str, after: str) -> StudyTable:
    """Return the execution times before and after a contribution, and on one worker."""
    columns = {
        f"{before}_execution_time_s": Column("makespan_s", variant(before)),
        f"{after}_execution_time_s": Column(
            "makespan_s", variant(after), score="times", baseline=f"{before}_execution_time_s"
        ),
        SERIAL: Column("serial_s", "randomized", role=Role.FITTED),
    }
    return bots(id, f"Execution times under {title}", section, TIMES[id], columns)


def latencies(id: str, section: str) -> StudyTable:
    """Return the memory latencies of the machine file."""
    keys, title = ("row_numa_node", "column_numa_node"), "Memory latency between the two nodes"
    columns = {"latency_ns": Column("latency_ns", role=Role.INPUT)}
    published = f"table_{id.replace('.', '_')}_memory_latency"
    return table(id, title, section, published, "", keys, columns, kind=Latency(*keys))


NODES = {f"node_{node}_row_access_count": node for node in (0, 1)}
TABLES = (
    matmul(
        "3.1",
        "False and successful steals of MATMUL under randomized stealing",
        "3.3.2",
        "steal_counts",
        {
            FALSE: Column("steal_false", "randomized", role=Role.FITTED),
            SUCCESS: Column("steal_success", "randomized", role=Role.FITTED),
        },
    ),
    matmul(
        "3.2",
        "Steal-miss ratio of MATMUL under randomized stealing",
        "3.3.2",
        "steal_miss_ratios_randomized",
        {"average_steal_miss_ratio": Column("steal_miss_ratio", "randomized")},
    ),
    matmul(
        "3.3",
        "Steal-miss ratio of MATMUL under randomized and threshold-constrained stealing",
        "3.5",
        "steal_miss_ratios_randomized_vs_threshold",
        {
            "randomized_average_steal_miss_ratio": Column("steal_miss_ratio", "randomized"),
            "threshold_constrained_average_steal_miss_ratio": Column(
                "steal_miss_ratio", "threshold", score="miss-ratios", baseline="randomized_average_steal_miss_ratio"
            ),
        },
    ),
    times("3.4", "randomized and threshold-constrained stealing", "3.6.1", "randomized", "threshold_constrained"),
    bots(
        "3.5",
        "Speedups under randomized and threshold-constrained stealing",
        "3.6.1",
        "table_3_5_speedups_randomized_vs_threshold",
        {f"{name}_speedup": Column("speedup", variant(name)) for name in ("randomized", "threshold_constrained")},
    ),
    bots(
        "3.6",
        "Successful steals, attempts and miss ratios of the BOTS programs",
        "3.6.1",
        "table_3_6_bots_steal_miss_ratios",
        {
            "success_steal_count": Column("steal_success", "randomized", score="steals"),
            "steal_attempt_count": Column("steal_attempts", "randomized", fitted=("Strassen-4096",)),
            "steal_miss_ratio": Column("steal_miss_ratio", "randomized"),
        },
    ),
    latencies("4.1", "4.1"),
    matmul(
        "4.2",
        "Remote and local steal counts of MATMUL under randomized stealing",
        "4.2",
        "remote_local_steal_counts_randomized",
        {
            f"average_{where}_steal_count": Column(f"steal_attempts_{where}", "randomized-self", score="steals")
            for where in ("remote", "local")
        },
    ),
    matmul(
        "4.3",
        "Remote and local steal counts of MATMUL with stealing domains",
        "4.4",
        "remote_local_steal_counts_stealing_domains",
        {
            f"{where}_steal_count": Column(
                f"steal_attempts_{where}",
                "topology-aware",
                score="steals",
                null_from=Elsewhere("4.2", f"average_{where}_steal_count"),
            )
            for where in ("remote", "local")
        }
        | {
            f"{where}_steal_count_as_successes": Column(
                f"steal_success_{where}", "topology-aware", published=f"{where}_steal_count"
            )
            for where in ("remote", "local")
        },
    ),
    bots(
        "4.4",
        "Remote data volumes of the BOTS programs",
        "4.6",
        "table_4_4_remote_data_volumes",
        {"remote_gb": Column("remote_gb", "topology-aware")},
    ),
    times("4.5", "randomized and topology-aware stealing", "4.6", "randomized", "topology_aware"),
    table(
        "5.1",
        "Rows of matrices found on each node under first touch",
        "5.2.1",
        "table_5_1_matrix_row_placement",
        "matmul",
        "matrix_size",
        {name: Column("rows_on_node", role=Role.INPUT) for name in NODES},
        key="workload.n",
        kind=RowPlacement(element_bytes=8, nodes=NODES),
    ),
    times("5.2", "topology-aware stealing and locality binding", "5.6.1", "topology_aware", "locality_binding"),
    bots(
        "5.3",
        "Remote data volumes under topology-aware stealing and locality binding",
        "5.6.1",
        "table_5_3_remote_data_volumes_topology_aware_vs_locality_binding",
        {
            "topology_aware_remote_gb": Column(
                "remote_gb", "topology-aware", score="volumes", null_from=Elsewhere("4.4", "remote_gb")
            ),
            "locality_binding_remote_gb": Column(
                "remote_gb", "locality-binding", score="volumes", baseline="topology_aware_remote_gb"
            ),
        },
    ),
    latencies("6.1", "6.2"),
    table(
        "6.2",
        "Access time of a spin lock",
        "6.2",
        "table_6_2_spin_lock_access_times",
        "spinlock",
        "scenario",
        {"average_lock_access_time_ns": Column("lock_access_ns", role=Role.INPUT)},
    ),
    matmul(
        "6.3",
        "Remote steal-miss ratio of MATMUL with stealing domains",
        "6.3.1",
        "remote_steal_miss_ratios_stealing_domains",
        {"remote_steal_miss_ratio": Column("steal_remote_success_ratio", "topology-aware")},
    ),
    table(
        "6.4",
        "Overheads of synchronisation constructs",
        "6.4.1",
        "table_6_4_synchronization_overheads",
        "syncbench",
        "openmp_construct",
        {
            "numa_oblivious_overhead_ms": Column("overhead_us", "oblivious", role=Role.FITTED),
            "affinity_aware_overhead_ms": Column(
                "overhead_us", "affinity-aware", score="overheads", baseline="numa_oblivious_overhead_ms"
            ),
        },
    ),
    table(
        "6.5",
        "Remote data volume of synchronisation",
        "6.4.1",
        "table_6_5_synchronization_remote_data_volumes",
        "syncbench",
        "synchronization_method",
        {"remote_gb": Column("remote_line_gb")},
        kind=Totals({"Affinity aware": "affinity-aware", "NUMA Oblivious": "oblivious"}),
    ),
    times("6.6", "oblivious and affinity-aware synchronisation", "6.4.2", "numa_oblivious", "affinity_aware"),
    table(
        "regression-4-3",
        "Execution time of MATMUL over remote steals",
        "4.4.1, equation 4.3 and Figure 4.5",
        "equation_4_3_regression",
        "matmul",
        "statistic",
        {"printed": Column("statistic")},
        kind=Regression("steal_attempts_remote", "makespan_s", "randomized", {"workers": 12}),
        repeat=50,
    ),
)


def printed(table: str, column: str) -> dict[str, float]:
    """Return the numbers of a published column by row."""
    (found,) = (each for each in TABLES if each.id == table)
    return {label: found.published.number(row, column) for row, label in enumerate(found.labels)}


SERIAL_S = printed("3.4", SERIAL)
RULES = (
    ScoreRule("times", "mape", 0.12, simple=guesses.times(SERIAL_S), null=Elsewhere("3.4", RANDOMIZED)),
    ScoreRule("times, one step", "mape", 0.10, of="times", question="one-step", simple=guesses.STEPS),
    ScoreRule("times, interaction", "mape", of="times", question="interaction", simple=guesses.ALIKE),
    ScoreRule("volumes", "mape", 0.25, simple=guesses.volumes(SERIAL_S)),
    ScoreRule("steals", "median-factor", 1.5, simple=guesses.steals(printed("3.1", FALSE), printed("3.1", SUCCESS))),
    ScoreRule("miss-ratios", "mean-absolute-error", 0.06, null=best_constant),
    ScoreRule("remote-share", "pooled-share", 0.03, of="steals", tables=("4.2",), simple=guesses.SHARES),
    ScoreRule("overheads", "mape", 0.12, simple=guesses.OVERHEADS),
    ScoreRule("signs", "sign-agreement", 0.8, of="times", question="departure", simple=guesses.DEPARTURES),
    ScoreRule("ranks, least", "least-rank-correlation", 0.5, of="times", simple=guesses.ORDERS),
    ScoreRule("ranks", "rank-correlation", 0.8, of="times", simple=guesses.ORDERS),
)
ABLATIONS = {  # fields that switch a mechanism off, set after all others
    "caches": {"model.cache": "none"},
    "contention": {"model.contention": "none"},
    "smt": {"model.smt": "none"},
    "placement": {"strategy.placement": "first-touch"},  # chapters 5 and 6 then place data as earlier chapters
    "lock-lines": {"runtime.costs.line": False},  # queues are reached without moving their cache lines
    "thresholds": {"strategy.thresholds": {"max": 2, "min": 1, "when": "fixed"}},  # the smallest thresholds
}
STUDY = make_study(
    HERE,
    machine="xeon-e5-2620-2s",
    seed=1,
    repeat=5,
    paper=read_paper(HERE / "paper.yaml"),
    programs=read_programs(HERE / "programs"),
    tables=TABLES,
    rules=RULES,
    ablations=ABLATIONS,
    lead="times",
    ceilings=ceilings,
    fitted_sides=fitted_sides,
)
