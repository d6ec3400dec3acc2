"""Compare the levels that numasim finds in matrices of times between cores with the matrices.

    python verification/core_levels.py FOLDER ...        folders of CSV files of core-to-core-latency

The files are read here without the readers of numasim. A row for each matrix has the number of processors, the units
and the time in ns of each level, the median and the ninetieth percentile of the error (how far the time of a pair's
level is from the pair's time, as a share of the pair's time), and the remark `matrix` if an import takes the matrix in
place of the levels. Two lines at the end count the matrices within 8 % in the median and within 15 % at the ninetieth
percentile. Exit status 1 if the median of a matrix that the import describes by levels is above 15 %.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from numasim.machine.core_times import Levels, found_levels, read_core_times


def pairs_in(text: str) -> dict[tuple[int, int], float]:
    """Return the measured time in ns of each pair (greater row, lesser row)."""
    cells = {
        (row, column): float(cell)
        for row, line in enumerate(text.splitlines())
        for column, cell in enumerate(line.split(","))
        if cell.strip() and row != column
    }
    times: dict[tuple[int, int], list[float]] = {}
    for (row, column), time_ns in cells.items():
        times.setdefault((max(row, column), min(row, column)), []).append(time_ns)
    return {pair: statistics.fmean(found) for pair, found in times.items()}


def errors(times_ns: dict[tuple[int, int], float], levels: Levels) -> list[float]:
    """Return, in ascending order, the error of each pair whose time is not zero."""
    found = []
    for (a, b), time_ns in times_ns.items():
        level = next(each for each in levels.levels if each.unit[a] == each.unit[b])
        if time_ns:
            found.append(abs(level.median_ns - time_ns) / time_ns)
    return sorted(found)


def main() -> int:
    """Print a row for each matrix below the folders. Return the exit status."""
    medians, ninetieths, status = [], [], 0
    for path in sorted(path for folder in sys.argv[1:] for path in Path(folder).rglob("*.csv")):
        text = path.read_text("utf-8")
        times = read_core_times(text, path.name)
        if times is None:
            continue
        levels = found_levels(times)
        off = errors(pairs_in(text), levels)
        medians.append(statistics.median(off))
        ninetieths.append(off[int(0.9 * (len(off) - 1))])
        shown = ", ".join(f"{len(set(each.unit.tolist()))} x {each.median_ns:.1f}" for each in levels.levels)
        whole = "" if levels.stand_for_the_matrix else "matrix"
        status |= bool(levels.stand_for_the_matrix and medians[-1] > 0.15)
        print(f"{path.stem:34} {len(times.ns):4} {medians[-1]:6.1%} {ninetieths[-1]:6.1%}  {whole:6}  {shown}")
    print(f"median error at most 8 %: {sum(each <= 0.08 for each in medians)} of {len(medians)} matrices")
    print(
        f"ninetieth percentile at most 15 %: {sum(each <= 0.15 for each in ninetieths)} of {len(ninetieths)} matrices"
    )
    return status


if __name__ == "__main__":
    sys.exit(main())
