"""Tables of peaks: where a curve has its best value, and how much better the best of one is than that of another."""

from __future__ import annotations

from pathlib import Path

import pytest
from reproduce.small_study import write_study

from numasim.engine.simulate import simulate_spec
from numasim.errors import InputError
from numasim.reproduce.kinds.peaks import QUANTITIES
from numasim.reproduce.plan.setting import Setting, Wanted
from numasim.reproduce.reproduce import reproduce
from numasim.reproduce.study.study import read_study
from numasim.reproduce.table_cells import Cell
from numasim.spec.overrides import from_mapping

PEAKS = """\
title: Peaks
source: section 6
kind: peaks
published: peaks.csv
program: trees
rows: program
columns:
  best_workers: {variant: plain, quantity: fastest_at, role: input}
  gain: {variant: domains, quantity: peak_gain, role: input, published: nothing}
"""
WORKERS = (1, 2, 3)


@pytest.mark.parametrize(
    ("quantity", "expected"), [("fastest_at", 4), ("peak_gain", 50)], ids=["the least of the fastest", "of speeds"]
)
def test_a_peak_by_hand(quantity: str, expected: float) -> None:
    _, measure = QUANTITIES[quantity]
    assert measure((2, 4, 8), (9.0, 4.0, 4.0), (6.0, 8.0, 7.0)) == expected


def cells(folder: Path, options: str) -> dict[tuple[str, str], Cell]:
    write_study(folder)
    (folder / "published" / "peaks.csv").write_text("program,best_workers\nsmall,1\nlarge,2\n")
    (folder / "tables" / "peaks.yaml").write_text(PEAKS + options)
    (table,) = reproduce(read_study(str(folder), ["peaks"]), folder / "out", quick=False, jobs=1).tables
    return {(cell.row, cell.column): cell for cell in table.cells}


def test_peaks_are_those_of_the_runs(tmp_path: Path) -> None:
    found = cells(tmp_path, f"with: {{field: workers, values: {list(WORKERS)}, against: plain}}\n")
    read = read_study(str(tmp_path))

    def times(row: str, variant: str, seed: int) -> list[int]:
        wanted = [
            Wanted(read.programs["trees"], row, variant, tuple(from_mapping({"workers": each}))) for each in WORKERS
        ]
        runs = [Setting(read).runs(each)[seed] for each in wanted]
        return [simulate_spec(run.spec, run.seed).counters["makespan_ps"] for run in runs]

    for row in ("small", "large"):
        curves = [(times(row, "plain", seed), times(row, "domains", seed)) for seed in range(2)]
        assert found[row, "best_workers"].simulated == tuple(WORKERS[plain.index(min(plain))] for plain, _ in curves)
        gains = tuple(100 * (min(plain) / min(domains) - 1) for plain, domains in curves)
        assert found[row, "gain"].simulated == pytest.approx(gains)


def test_an_unknown_variant_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no variant 'nobody'"):
        cells(tmp_path, "with: {field: workers, values: [1], against: nobody}\n")
