"""Simulate what users of task runtimes reported, and compare directions and ratios (docs/validation/reports.md).

    python verification/reports.py [NAME ...]

Each report is a sweep of at most 15 lines, `docs/validation/reports/NAME.yaml`. The sweeps name shipped machines,
strategies and runtimes, with the costs of the shipped files. A row of the table has the report, the compared column
with its first and its second cell of the sweep, the reported ratio of the first cell to the second (`-` if the report
prints no number, or no setting for its number), the simulated ratio of the medians over repeats, whether the direction
is right, and whether both ratios agree within a factor of 1.5. Exit status 1 if the direction of a row is not as
`REPORTS` says.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numasim as ns

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "validation" / "reports"
HEADER = "| sweep | report | compared | reported | simulated | direction | within 1.5 |\n|---|---|---|---|---|---|---|"
BOUND = 1.5


@dataclass(frozen=True)
class Report:
    """A report: the sweep's name, the address, the compared column, the two compared cells by number, their names, the
    reported ratio of the first cell to the second, and whether the simulated direction is right.
    """

    name: str
    address: str
    column: str
    cells: tuple[int, int]
    compared: str
    ratio: float | None = None
    right: bool = True


REPORTS = (
    Report("producer", "microsoft/verona-rt#48", "makespan_ps", (0, 1), "steals of one task, of a quarter", 606 / 251),
    Report("convoy", "surrealdb/affinitypool#46", "makespan_ps", (1, 0), "64 workers, 32"),
    Report("global-queue", "dotnet/runtime#36447", "makespan_ps", (2, 0), "one queue: 128 workers, 16"),
    Report("global-queue", "dotnet/runtime#69386", "makespan_ps", (1, 4), "46 workers: one queue, a queue a cache"),
    Report("searchers", "rayon-rs/rayon#1314", "cpu_ps", (0, 2), "no bound of searchers, a 16th of the workers"),
    Report("wake-all", "JuliaLang/julia#45628", "overhead_ps", (0, 1), "sleep after 16 us, after 100 us", 300 / 16),
    Report("wake-storm", "JuliaLang/julia#61826", "overhead_ps", (0, 1), "wake-ups of all, of one"),
    Report(
        "lone-task", "TheHPXProject/hpx#885", "makespan_ps", (0, 2), "beside a worker that spins, alone", 14.0 / 8.7
    ),
    Report("victim-lock", "uxlfoundation/oneTBB#2023", "makespan_ps", (0, 1), "wait for the lock, go on", right=False),
    Report("slot", "tokio-rs/tokio#4941", "makespan_ps", (0, 1), "hidden slot, slot that can be stolen"),
    Report("passes", "golang/go#28808", "cpu_ps", (0, 1), "56 processors, 14"),
    Report("cluster", "taskflow/taskflow#581", "makespan_ps", (0, 1), "any worker first, own cache first"),
    Report("mutex", "lalinsky/zio#573", "makespan_ps", (0, 1), "handed over, barging", 3562 / 13.3),
    Report("openmp", "TheHPXProject/hpx#4227", "makespan_ps", (0, 1), "libgomp, libomp"),
    Report("openmp-tbb", "TheHPXProject/hpx#4227", "makespan_ps", (0, 1), "libomp, oneTBB", 2.1 / 0.6),
)


def simulated(name: str, folder: Path) -> list[dict[str, float]]:
    """Return the medians of the counters over the repeats of each cell of the sweep ``name``; runs go to ``folder``."""
    frame = ns.sweep(FOLDER / f"{name}.yaml", folder / name, jobs=1, progress=False).to_frame()
    columns = sorted({report.column for report in REPORTS})
    repeats = int(frame["repeat"].nunique())
    return [
        {column: float(frame[column][start : start + repeats].median()) for column in columns}
        for start in range(0, len(frame), repeats)
    ]


def rows(names: list[str]) -> Iterator[tuple[Report, float]]:
    """Yield the reports of the sweeps ``names`` (all sweeps if empty), each with the simulated ratio."""
    with tempfile.TemporaryDirectory() as folder:
        cells: dict[str, list[dict[str, float]]] = {}
        for report in REPORTS:
            if not names or report.name in names:
                if report.name not in cells:
                    cells[report.name] = simulated(report.name, Path(folder))
                first, second = (cells[report.name][cell][report.column] for cell in report.cells)
                yield report, first / second


def line(report: Report, ratio: float) -> str:
    """Return the row of the table for a report and its simulated ratio."""
    printed, within = "-", "-"
    if report.ratio is not None:
        printed = f"{report.ratio:.3g}"
        within = "yes" if 1 / BOUND <= ratio / report.ratio <= BOUND else "no"
    direction = "right" if ratio > 1 else "wrong"
    column = report.column.removesuffix("_ps")
    return (
        f"| `{report.name}` | {report.address} | {column}: {report.compared} | {printed} | {ratio:.3g} | {direction} | "
        f"{within} |"
    )


def main() -> int:
    """Print the table; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*{report.name for report in REPORTS}, []], metavar="NAME")
    print(HEADER)
    as_said = True
    for report, ratio in rows(parser.parse_args().names):
        print(line(report, ratio), flush=True)
        as_said = as_said and (ratio > 1) == report.right
    return 0 if as_said else 1


if __name__ == "__main__":
    sys.exit(main())
