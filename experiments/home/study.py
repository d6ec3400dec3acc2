"""Home scheduling on the TilePro64: the claims of the paper about its figures, and the scores of predictions.

The paper has no tables, and prints a single number. Each sentence of the paper about a figure is one claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numasim.reproduce.programs import read_programs
from numasim.reproduce.study import ScoreRule, make_study, read_paper
from numasim.reproduce.study_tables import NOTHING, Claim, Claims, Column, Compared, StudyTable
from numasim.reproduce.table_cells import Role

HERE = Path(__file__).resolve().parent
PUBLISHED = HERE / "published"
VARIANTS = ("home-1", "home-4", "home-16", "home-50", "nanos-bf", "nanos-cilk")
STEALING = VARIANTS[1:]
BARS = {"homed": "homed", "hashed": "hashed", "single tile": "single"}


def every(variants: Mapping[str, str], **column: Any) -> dict[str, Column]:
    """Return a column of the same kind for each variant. ``variants`` maps column names to variants."""
    return {name: Column(variant=variant, **column) for name, variant in variants.items()}


def bars(id: str, title: str, figure: str, quantity: str) -> StudyTable:
    """Return a table of the bars of a figure on SparseLU; the paper prints no values at the bars."""
    columns = every(dict(zip(VARIANTS, VARIANTS, strict=True)), quantity=quantity, published=NOTHING)
    source = f"home scheduling section 5.2, {figure}"
    return StudyTable(id, title, source, PUBLISHED / "sparselu.csv", "program", columns, program="sparselu")


HOME_TEST = {
    # "To home data where it is accessed here shows a 43% improvement"
    "homing where the data is used is best": Claim("task_us", "home-test", least="homed", most=("hashed", "single")),
    # "on average a little better than hash-for-home"
    "a single tile is a little better than hashing": Claim("task_us", "home-test", least="single", most="hashed"),
    # "the effect on the maximum task execution time is devastating"
    "a single tile is devastating at the maximum": Claim(
        "makespan_s", "home-test", least=("homed", "hashed"), most="single", times=2
    ),
    # "The home access scheme has virtually no remote data references"
    "homing leaves virtually no remote references": Claim("remote_share", "home-test", of="homed", below=0.01),
}
SPARSELU = {
    # "home based scheduling with stealing performs the best"
    "full stealing is fastest of home scheduling": Claim("makespan_s", "SparseLU", "home-50", VARIANTS[:3]),
    # "poor performance without using work-stealing"
    "no stealing is slowest of home scheduling": Claim("makespan_s", "SparseLU", VARIANTS[1:4], "home-1"),
    # "with BF scheduling approximately as good"
    "breadth-first is about as fast as full stealing": Claim(
        "makespan_s", "SparseLU", alike=("home-50", "nanos-bf"), within=0.1
    ),
    # the paper says that full stealing and breadth-first perform the best
    "full stealing and breadth-first beat Nanos_Cilk": Claim(
        "makespan_s", "SparseLU", ("home-50", "nanos-bf"), "nanos-cilk"
    ),
    # "obviously leads to load imbalance also illustrated in figure 5"
    "without stealing the load is least even": Claim("idle_share", "SparseLU", STEALING, "home-1"),
    # "has the highest fraction of local accesses"
    "without stealing most accesses are local": Claim("local_share", "SparseLU", STEALING, "home-1"),
}
# The guess of somebody who simulates nothing: near memory is fast and one tile for all is slow; the more workers steal,
# the more even the load and the fewer local accesses; which queue a thief looks into does not matter.
GUESSED = dict.fromkeys((*HOME_TEST, *SPARSELU), 1.0) | {
    "a single tile is a little better than hashing": 0,
    "full stealing and breadth-first beat Nanos_Cilk": 0,
}
TABLES = (
    StudyTable(
        "figure-1",
        "Average time of a task of home-test",
        "home scheduling section 2, Figure 1",
        PUBLISHED / "programs.csv",
        "program",
        every(BARS, quantity="task_us", published=NOTHING)
        | every({f"{name}, maximum": each for name, each in BARS.items()}, quantity="makespan_us", published=NOTHING),
        program="home-test",
        repeat=1,
    ),
    StudyTable(
        "figure-1-claims",
        "What is said of home-test",
        "home scheduling section 2, on Figures 1 and 2",
        PUBLISHED / "claims_home_test.csv",
        "claim",
        {"holds": Column("holds", score="claims")},
        program="home-test",
        kind=Claims(HOME_TEST),
        repeat=1,
    ),
    StudyTable(
        "figure-1-gain",
        "Gain of homing data where it is used over hashing it",
        "home scheduling section 2, on Figure 1",
        PUBLISHED / "gain.csv",
        "program",
        {"home_access_gain_percent": Column("task_time_reduction", "homed", role=Role.FITTED)},
        program="home-test",
        kind=Compared(against="hashed"),
        repeat=1,
    ),
    bars("figure-4", "Execution time of SparseLU", "Figure 4", "makespan_s"),
    StudyTable(
        "figure-4-claims",
        "What is said of SparseLU",
        "home scheduling section 5.2, on Figures 4, 5 and 6",
        PUBLISHED / "claims_sparselu.csv",
        "claim",
        {"holds": Column("holds", score="claims")},
        program="sparselu",
        kind=Claims(SPARSELU),
    ),
    bars("figure-6", "Share of local accesses of SparseLU", "Figure 6", "local_share"),
)
STUDY = make_study(
    HERE,
    machine="tilepro64",
    seed=1,
    repeat=5,
    paper=read_paper(HERE / "paper.yaml"),
    programs=read_programs(HERE / "programs"),
    tables=TABLES,
    rules=(ScoreRule("claims", "claims-held", 1, simple={"near is fast, stealing balances": GUESSED}),),
    ablations={"contention": {"model.contention": "none"}},
)
