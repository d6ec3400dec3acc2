"""Q. Chen and M. Guo on locality-aware work stealing: the published tables, and the scores of predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from numasim.reproduce.metrics import Posed
from numasim.reproduce.programs import Change, Fields, Scope, read_programs
from numasim.reproduce.simple_rules import rises
from numasim.reproduce.study import ScoreRule, make_study, read_paper
from numasim.reproduce.study_tables import NOTHING, Column, Quotient, StudyTable
from numasim.reproduce.table_cells import Cell, Role

from .relative import Relative
from .straggler import COMPARED

HERE = Path(__file__).resolve().parent


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
    return compared(id, title, "section 6.2, Table IV", published, "amd", columns, against="cilk")


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
    columns = {SAVED: Column("time_reduction", "laws", score="time reductions", fitted=(fitted,))}
    published = f"section_6_4_{server.lower()}_server"
    return compared(id, title, "section 6.4, Figures 9 and 10", published, program, columns, against="cilk")


SAVED = "execution_time_reduction_percent"
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


# ---- Simple rules: what somebody knows who simulates nothing ----


def by_rates(posed: Posed, cells: Sequence[Cell]) -> list[float]:
    """Return savings by the rates of the memory: on the AMD server 1 - 14.9 / 25, on the Intel server 0.

    The AMD server reads 14.9 GB/s if every socket reads from all sockets, and 25 GB/s if each reads its own memory. The
    links of the Intel server carry more than its memories.
    """
    return [100 * (1 - 14.9 / 25) if "amd" in cell.table else 0.0 for cell in cells]


def mean_of_the_others(posed: Posed, cells: Sequence[Cell]) -> list[float]:
    """Return for each saving the mean of the other three savings that are printed of the server."""
    printed = {each.id: each for each in TABLES if each.id.startswith("times-")}
    known = {
        id: {row: each.published.number(index, SAVED) for index, row in enumerate(each.labels)}
        for id, each in printed.items()
    }
    return [fmean(value for row, value in known[cell.table].items() if row != cell.row) for cell in cells]


CACHE = 6 * 2**20  # bytes of the last-level cache of a socket of the AMD server
PLANE, CUBE = 1024 * 8, 64 * 64 * 8  # bytes of a row of an array


def cacheful(rows: int, row_bytes: int) -> float:
    """Return a cache over the data of a socket, quarters of two arrays: the most that a cache can keep for a sweep."""
    return min(1.0, CACHE / (2 * rows * row_bytes / 4))


STENCILS = {name: CUBE if name in ("6P", "25P") else PLANE for name in ("Heat", "SOR", "9P", "6P", "25P")}
# GE with N rows touches a quarter of m x m elements in its step N - m. Under Cilk all of these are misses; if tasks
# stay on their socket, only those of steps whose quarter exceeds the cache.
ROWS_OF_GE = 2048
FITTING = (CACHE / (8 / 4)) ** 0.5  # the largest m whose quarter fits the cache
KEPT_OF_GE = 1 - (FITTING / ROWS_OF_GE) ** 3
KEPT = {  # misses relative to Cilk if every sweep keeps a cacheful
    f"{name}{ending}": 1 - cacheful(8096, row_bytes) for name, row_bytes in STENCILS.items() for ending in ("", "-ir")
} | dict.fromkeys(("GE", "GE-ir"), KEPT_OF_GE)
KEPT_BY_SIZE = {
    f"{name} {rows // 1024}k": 100 * cacheful(rows, row_bytes)
    for name, row_bytes in (("Heat-ir", PLANE), ("6P", CUBE))
    for rows in (1024, 16384)
}
SWEPT = {  # the lines of a sweep relative to Heat; SOR passes over its data twice
    f"{name}{ending}": row_bytes / PLANE * (2 if name == "SOR" else 1)
    for name, row_bytes in STENCILS.items()
    for ending in ("", "-ir")
}
SAVINGS = {
    "the rates of links and memories": by_rates,
    "the mean of the other savings of the server": mean_of_the_others,
}
MISSES = {"as many as Cilk": 1, "what fits a cache stays there": KEPT}
LINES = {"the lines of a sweep": SWEPT, "as many as Heat": 1}
RULES = (
    ScoreRule("time reductions", "mean-absolute-error", 5, simple=SAVINGS),  # percentage points
    ScoreRule(
        "time reductions, AMD",
        "mean-absolute-error",
        5,
        of="time reductions",
        tables=("times-amd",),
        simple=SAVINGS | {"the fitted saving": 30.4},
    ),
    ScoreRule(  # percentage points beyond the range of Figure 7
        "gains", "largest-absolute-error", 3, simple={"the rates of links and memories": by_rates, "no gain": 0}
    ),
    ScoreRule(  # the share of orders that are the other way round
        "orders", "mean-absolute-error", 0.1, simple={"each step of LAWS helps": 1, "a random order": 0.5}
    ),
    ScoreRule("Cilk's misses", "largest-relative-error", 0.1, simple=LINES),
    ScoreRule("Cilk's misses, irregular", "largest-relative-error", simple=LINES),
    ScoreRule("misses", "mean-log-error", 0.151, simple=MISSES),  # half of what "as many as Cilk" has
    ScoreRule("misses, stencils", "mean-log-error", 0.051, of="misses", tables=("misses-stencils",), simple=MISSES),
    ScoreRule(  # percentage points
        "miss reductions",
        "mean-absolute-error",
        8,
        simple={"no reduction": 0, "what fits a cache stays there": KEPT_BY_SIZE},
    ),
    ScoreRule("local accesses", "sign-agreement", simple={"LAWS and CATS have more": rises}),
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
    # Messages of coherence have at least one byte, instead of 8 and 4, so that they hardly load the links.
    ablations={
        "messages": Change(
            Fields({"machine.snoop": {"request_bytes": 1, "answer_bytes": 1}}), Scope(programs=("amd", "amd-sizes"))
        )
    },
    lead="misses, stencils",
)
