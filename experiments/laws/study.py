"""Q. Chen and M. Guo on locality-aware work stealing: the published tables, and the scores of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numasim.reproduce.programs import read_programs
from numasim.reproduce.study import ScoreRule, make_study, read_paper
from numasim.reproduce.study_tables import NOTHING, Column, Elsewhere, Quotient, StudyTable
from numasim.reproduce.table_cells import Role

from .relative import Relative
from .straggler import COMPARED

HERE = Path(__file__).resolve().parent
GUESS = "mean_of_the_others_percent"  # the null model of a value: the mean of the other three published values


def compared(
    id: str, title: str, source: str, published: str, program: str, columns: Mapping[str, Column], **kind: Any
) -> StudyTable:
    """Return a table that compares each program under a strategy with a reference."""
    file = HERE / "published" / f"laws_{published}.csv"
    kind = Relative(known=COMPARED, **kind)
    return StudyTable(id, title, f"LAWS {source}", file, "program", columns, program, kind=kind)


def misses(id: str, programs: str, published: str) -> StudyTable:
    """Return the table of the misses of the straggler socket under CATS and LAWS, relative to Cilk."""
    columns = {
        name: Column("straggler_miss_ratio", name, published=Quotient(name, "cilk"), score="misses")
        for name in ("cats", "laws")
    }
    title = f"Misses of the straggler socket relative to Cilk, {programs}"
    return compared(id, title, "section 6.2, Table IV", published, "amd", columns, against="cilk", null=1)


def cilk_misses(id: str, row: str, block: str, published: str, score: str) -> StudyTable:
    """Return the table of the misses of the straggler socket under Cilk, relative to the misses of one program."""
    title = f"Misses of the straggler socket under Cilk, relative to {row}"
    columns = {"cilk": Column("straggler_miss_ratio", "cilk", score=score)}
    return compared(id, title, f"section 6.2, Table IV, {block} block", published, "amd-assumed", columns, row=row)


def gains(server: str, published: str, within: tuple[float, float]) -> StudyTable:
    """Return a table of the shares of Cilk's time that LAWS saves; the text prints the least and the largest share."""
    title = f"Time that LAWS saves against Cilk on the {server} server"
    columns = {"laws": Column("time_reduction", "laws", published=NOTHING, score="gains")}
    id, program = f"figure-7-{server.lower()}", server.lower()
    return compared(id, title, "section 6.2, Figure 7", published, program, columns, against="cilk", within=within)


def orders(server: str, published: str) -> StudyTable:
    """Return a table of orders of two strategies on a server: 1 for the paper's order, 0 for the opposite order."""
    columns = {
        f"{name}_before_{other}": Column("faster", name.replace("_", "-"), published=NOTHING, score="orders")
        for name, other in (("laws", "laws_nc"), ("laws_nc", "cilk"), ("cats", "cilk"))
    } | {"laws_nc_over_laws": Column("time_ratio", "laws-nc", published=NOTHING)}
    against = dict(zip(columns, ("laws-nc", "cilk", "cilk", "laws"), strict=True))
    id, title, program = f"order-{server.lower()}", f"Who is faster on the {server} server", server.lower()
    source = "sections 6.2 and 6.3, Figure 7"
    return compared(id, title, source, published, program, columns, against=against, expected=1)


def times(server: str, fitted: str) -> StudyTable:
    """Return the table of the shares of Cilk's time that LAWS saves, for two sizes of two programs."""
    id, program = f"times-{server.lower()}", f"{server.lower()}-sizes"
    title = f"Time that LAWS saves against Cilk on the {server} server, by size"
    saved = Column("time_reduction", "laws", score="time reductions", null_from=Elsewhere(id, GUESS), fitted=(fitted,))
    guess = Column("time_reduction", "laws", role=Role.INPUT)
    columns = {"execution_time_reduction_percent": saved, GUESS: guess}
    published = f"section_6_4_{server.lower()}_server"
    return compared(id, title, "section 6.4, Figures 9 and 10", published, program, columns, against="cilk")


LOCAL = {
    name: Column("straggler_local_ratio", name, role, Quotient(name, "cilk"), score, baseline)
    for name, role, score, baseline in (
        ("cilk", Role.REFERENCE, "", ""),
        ("cats", Role.PREDICTED, "local accesses", "cilk"),
        ("laws", Role.PREDICTED, "local accesses", "cilk"),
    )
}
TABLES = (
    cilk_misses(
        "cilk-misses-irregular", "Heat-ir", "second", "table_4_l3_misses_cilk_irregular", "Cilk's misses, irregular"
    ),
    cilk_misses("cilk-misses-regular", "Heat", "first", "table_4_l3_misses_cilk_regular", "Cilk's misses"),
    compared(
        "figure-11",
        "Misses that LAWS saves and local accesses that it adds, of the straggler socket, by size",
        "section 6.4, Figure 11",
        "figure_11",
        "amd-sizes",
        {
            "l3_miss_reduction_percent": Column("straggler_miss_reduction", "laws", score="miss reductions"),
            "local_access_increase_percent": Column("straggler_local_increase", "laws"),
        },
        against="cilk",
    ),
    gains("AMD", "table_3_memory_bound", (23.5, 54.2)),
    gains("Intel", "table_3_stencils", (12.5, 48.6)),
    compared(
        "local-accesses",
        "Local accesses of the straggler socket, against Cilk",
        "section 6.2, Table IV",
        "table_4_local_accesses",
        "amd",
        LOCAL,
        against="cilk",
    ),
    misses("misses-ge", "Gaussian elimination", "table_4_l3_misses_ge"),
    compared(
        "misses-intel",
        "Misses of the straggler socket relative to Cilk on the Intel server",
        "section 6.2, Table IV; the values were not at hand",
        "table_3_stencils",
        "intel",
        {name: Column("straggler_miss_ratio", name, published=NOTHING) for name in ("cats", "laws")},
        against="cilk",
    ),
    misses("misses-stencils", "the stencils", "table_4_l3_misses_stencils"),
    orders("AMD", "table_3_memory_bound"),
    orders("Intel", "table_3_stencils"),
    times("AMD", "Heat-ir 1k"),
    times("Intel", "SOR-ir 2k"),
)
RULES = (
    ScoreRule("time reductions", "mean-absolute-error", 5),  # percentage points
    ScoreRule("time reductions, AMD", "mean-absolute-error", 5, of="time reductions", tables=("times-amd",)),
    ScoreRule("gains", "largest-absolute-error", 3),  # percentage points beyond the range of Figure 7
    ScoreRule("orders", "mean-absolute-error", 0.1),  # the share of orders that are the other way round
    ScoreRule("Cilk's misses", "largest-relative-error", 0.1),
    ScoreRule("Cilk's misses, irregular", "largest-relative-error"),
    ScoreRule("misses", "mean-log-error", 0.151),  # half of what "no change" has
    ScoreRule("misses, stencils", "mean-log-error", 0.051, of="misses", tables=("misses-stencils",)),
    ScoreRule("miss reductions", "mean-absolute-error", 8),  # percentage points
    ScoreRule("local accesses", "sign-agreement"),
)
STUDY = make_study(
    HERE,
    machine="opteron-8380-4s",
    seed=1,
    repeat=3,
    paper=read_paper(HERE / "paper.yaml"),
    programs=read_programs(HERE / "programs"),
    tables=TABLES,
    rules=RULES,
    lead="misses, stencils",
)
