"""A. Souris on the reduce phase of Phoenix++: the times on three machines, and the scores of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from numasim.reproduce.programs import read_programs
from numasim.reproduce.quantities import read_published
from numasim.reproduce.study import ScoreRule, make_study, read_paper
from numasim.reproduce.study_tables import NOTHING, Column, Elsewhere, Peaks, StudyTable

from . import simple

HERE = Path(__file__).resolve().parent
POLICIES = ("balanced", "interleave", "locality", "locality-balanced", "locality-interleave")
TOURNAMENTS = ("horizontal", "vertical")
KEYS = {
    "disjoint": "Equal and Disjoint-Subranges",
    "equal-prob": "Equal and Equal-Prob",
    "heavy": "One-Numa-Heavy and Equal-Prob",
}
COUNTS = tuple(range(4, 129, 4))  # numbers of threads on the machine parade
INTERLEAVE = Elsewhere("parade-32-equal-prob", "interleave_s")
EQUAL, HEAVY, PARAGON = (
    simple.of_interleave(read_published(HERE / "published" / f"{name}.csv"))
    for name in ("parade_32gb_equal_prob", "parade_32gb_heavy", "paragon_4gb_equal_prob")
)
BY_KEYS = simple.tournaments(PARAGON, tuple(PARAGON))
UNFITTED = {
    "workload.key_ns": 10_000,
    "workload.heavy_share": 0.9,
    "runtime.costs.faults_per_s": 0,
}
NO_CHANGE = {"interleave is as fast": 1.0}


def latency(machine: str, size: int, keys: str, where: str, published: str = "", **special: Column) -> StudyTable:
    """Return a table of the times of the reduce phase, by threads and policy; without ``published`` only simulated."""
    policies = (*TOURNAMENTS, *POLICIES) if machine == "paragon" else POLICIES
    prefix = "64 GB " if size == 64 else ""
    threads = f"{machine}_64gb_threads" if size == 64 else f"{machine}_threads"
    columns: Mapping[str, Column] = {
        f"{policy.replace('-', '_')}_s": Column(
            "makespan_s", f"{prefix}{keys} {policy}", published="" if published else NOTHING
        )
        for policy in policies
    }
    return StudyTable(
        f"{machine}-{size}-{keys}",
        f"Latency of the reduce phase, {machine}, {size} GB: {KEYS[keys]}",
        f"Souris 2020 section {where}",
        HERE / "published" / f"{published or threads}.csv",
        "threads",
        {**columns, **special},
        machine,
    )


def peaks(
    id: str, title: str, where: str, published: str, rows: str, columns: Mapping[str, Column], program: str, kind: Peaks
) -> StudyTable:
    """Return a table of quantities that follow from the times over numbers of threads."""
    source = f"Souris 2020 section {where}"
    return StudyTable(id, title, source, HERE / "published" / f"{published}.csv", rows, columns, program, kind=kind)


def mean_ratios(keys: str, name: str, figure: str, counts: tuple[int, ...]) -> StudyTable:
    """Return a table: for each policy the mean of time / time of interleave over the numbers of threads."""
    word = keys.replace("-", "_")
    return peaks(
        f"mean-ratio-{keys}",
        f"Mean over 4 to 128 threads of a policy's time over that of interleave, {name}",
        f"6.3.2, computed from the table under Figure {figure}",
        f"mean_ratios_{word}",
        "policy",
        {f"{word}_mean_ratio": Column("mean_ratio", keys, score=f"{name.removesuffix('-Subranges')} ratios")},
        "policies",
        Peaks("workers", counts, f"{keys} interleave"),
    )


def interleave(keys: str, score: str = "", fitted: str = "") -> Column:
    """Return the column of the times under interleave; the times are scored, or parameters are fitted to them."""
    return Column("makespan_s", f"{keys} interleave", score=score, fitted=tuple(fitted.split()))


TABLES = (
    peaks(
        "growth",
        "Growth of the vertical tournament from 1 to 24 threads on paragon, Equal-Prob",
        "6.3.5, computed from the table under Figure 6.14",
        "growth",
        "column",
        {"growth": Column("rise", "equal-prob", score="growth")},
        "growth",
        Peaks("workers", (1, 24)),
    ),
    # The runs with 112 and 116 threads were disturbed.
    mean_ratios("disjoint", "Disjoint-Subranges", "6.6", tuple(each for each in COUNTS if each not in (112, 116))),
    mean_ratios("equal-prob", "Equal-Prob", "6.5", COUNTS),
    peaks(
        "near-the-minimum",
        "Counts within 5 % of the least time of interleave on parade, Disjoint-Subranges",
        "6.3.2, computed from the table under Figure 6.6",
        "near_the_minimum",
        "column",
        {f"disjoint_{end}": Column(end, "disjoint") for end in ("near_from", "near_to")},
        "rise",
        Peaks("workers", COUNTS),
    ),
    latency(
        "parade",
        32,
        "disjoint",
        "6.3.2, table under Figure 6.6",
        "parade_32gb_disjoint",
        interleave_s=interleave("disjoint", "Disjoint times"),
    ),
    latency(
        "parade",
        32,
        "equal-prob",
        "6.3.2, table under Figure 6.5",
        "parade_32gb_equal_prob",
        interleave_s=interleave("equal-prob", "Equal-Prob times", fitted="4 12 24 36 64 128"),
    ),
    latency(
        "parade",
        32,
        "heavy",
        "6.3.2, table under Figure 6.7",
        "parade_32gb_heavy",
        interleave_s=interleave("heavy", "One-Numa-Heavy times", "4"),
    ),
    latency("parade", 64, "disjoint", "6.3.3, Figure 6.9"),
    latency("parade", 64, "equal-prob", "6.3.3, Figure 6.8"),
    latency("parade", 64, "heavy", "6.3.3, Figure 6.10"),
    latency("paragon", 4, "disjoint", "6.3.5, Figure 6.15"),
    latency(
        "paragon",
        4,
        "equal-prob",
        "6.3.5, table under Figure 6.14",
        "paragon_4gb_equal_prob",
        horizontal_s=Column("makespan_s", "equal-prob horizontal", score="horizontal times"),
        vertical_s=Column("makespan_s", "equal-prob vertical", score="vertical times"),
        interleave_s=interleave("equal-prob", fitted="1 2 4 8 16 24"),
    ),
    latency("parallax", 16, "disjoint", "6.3.4, Figure 6.12"),
    latency("parallax", 16, "equal-prob", "6.3.4, Figure 6.11"),
    latency("parallax", 16, "heavy", "6.3.4, Figure 6.13"),
)
STUDY = make_study(
    HERE,
    machine="xeon-6130-4s",
    seed=1,
    paper=read_paper(HERE / "paper.yaml"),
    programs=read_programs(HERE / "programs"),
    tables=TABLES,
    rules=(
        ScoreRule(
            "Equal-Prob times",
            "mape",
            0.06,
            simple={"straight lines between the fitted times": simple.between_fitted(EQUAL)},
        ),
        ScoreRule(
            "Disjoint times",
            "mape",
            0.10,
            simple={"the published times of Equal-Prob": INTERLEAVE, "keys over threads": simple.by_keys(EQUAL)},
        ),
        ScoreRule(
            "One-Numa-Heavy times",
            "mape",
            0.15,
            simple={
                "the published times of Equal-Prob": INTERLEAVE,
                "the same, as much longer as with four threads": simple.scaled(EQUAL, HEAVY),
            },
        ),
        ScoreRule("Equal-Prob ratios", "largest-absolute-error", 0.03, simple=NO_CHANGE),
        ScoreRule("Disjoint ratios", "largest-absolute-error", 0.05, simple=NO_CHANGE),
        ScoreRule(
            "horizontal times",
            "mape",
            0.12,
            simple={"interleave, times the keys of both phases": BY_KEYS["horizontal"]},
        ),
        ScoreRule("vertical times", "mape", 0.25, simple={"keys of all rounds, with one thread": BY_KEYS["vertical"]}),
        ScoreRule(
            "growth",
            "largest-absolute-error",
            0.6,
            simple={"keys of all rounds": simple.vertical_keys(24) / simple.vertical_keys(1)},
        ),
    ),
    ablations={
        "distinct keys": {"workload.combiner": "buffer"},
        "growing vectors": {"workload.vector_values": 4_000_000},
        "lock of the address space": {"runtime.costs.unmap_ns": 0, "runtime.costs.faults_per_s": 0},
        "fitted parameters": UNFITTED,
    },
    lead="Disjoint times",
)
