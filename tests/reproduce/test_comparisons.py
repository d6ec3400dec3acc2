"""Tables that compare runs: against another variant and another row, and the straggler."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from reproduce.small_study import write_study

from numasim.engine.simulate import simulate_spec
from numasim.errors import InputError
from numasim.reproduce.pages.number_text import error_text, published_text
from numasim.reproduce.plan.setting import Setting, Wanted
from numasim.reproduce.reproduce import reproduce
from numasim.reproduce.score.metrics import METRICS, Observations, Prediction
from numasim.reproduce.straggler import straggler
from numasim.reproduce.study.study import read_study
from numasim.reproduce.table_cells import Cell
from numasim.spec.single_part import read_machine

COMPARED = """\
title: Comparisons
source: section 4
kind: compared
published: times.csv
program: trees
rows: program
columns:
  plain_s: {variant: plain, quantity: time_ratio, role: input}
  domains_s: {variant: domains, quantity: time_reduction, role: predicted, published: nothing, score: saved}
  swifter: {variant: domains, quantity: faster, role: predicted, published: nothing}
"""
AGAINST = "with: {against: plain, within: [-1000, -500], expected: 1, null: 1}\n"


def study(folder: Path, options: str, columns: str = COMPARED) -> Path:
    write_study(folder, {"study.yaml": ("  times: {", "  saved: {metric: largest-absolute-error}\n  times: {")})
    text = columns.replace("times.csv", "compared.csv") + options
    (folder / "published" / "compared.csv").write_text("program,plain_s\nsmall,1\nlarge,1\n")
    (folder / "tables" / "comparison.yaml").write_text(text)
    return folder


def cells(folder: Path, out: Path) -> dict[tuple[str, str], Cell]:
    (table,) = reproduce(read_study(str(folder), ["comparison"]), out, quick=False, jobs=1).tables
    return {(cell.row, cell.column): cell for cell in table.cells}


def times(folder: Path, row: str, variant: str) -> list[int]:
    read = read_study(str(folder))
    runs = Setting(read).runs(Wanted(read.programs["trees"], row, variant))
    return [simulate_spec(run.spec, run.seed).counters["makespan_ps"] for run in runs]


def test_a_comparison_is_of_the_same_seed(tmp_path: Path) -> None:
    folder = study(tmp_path / "study", "with: {against: plain}\n")
    found = cells(folder, tmp_path / "out")
    plain, domains = times(folder, "large", "plain"), times(folder, "large", "domains")
    assert found["large", "plain_s"].simulated == (1.0, 1.0)
    saved = tuple(100 * (1 - mine / other) for mine, other in zip(domains, plain, strict=True))
    assert found["large", "domains_s"].simulated == saved
    assert math.isnan(found["large", "domains_s"].published)
    swifter = tuple(float(mine < other) for mine, other in zip(domains, plain, strict=True))
    assert found["large", "swifter"].simulated == swifter


def test_what_is_expected_stands_where_nothing_was_printed(tmp_path: Path) -> None:
    found = cells(study(tmp_path / "study", "with: {against: plain, expected: 1, null: 0.5}\n"), tmp_path / "out")
    assert {cell.published for cell in found.values()} == {1.0}
    assert {cell.null for cell in found.values()} == {0.5}


def test_of_a_range_the_nearest_value_is_expected(tmp_path: Path) -> None:
    found = cells(study(tmp_path / "study", "with: {against: plain, within: [200, 300]}\n"), tmp_path / "out")
    assert found["large", "domains_s"].published == 200
    assert found["large", "plain_s"].published == 1  # which was printed


def test_rows_are_compared_with_one_of_them(tmp_path: Path) -> None:
    columns = COMPARED.partition("  domains_s")[0]
    folder = study(tmp_path / "study", "with: {row: small}\n", columns)
    (folder / "published" / "compared.csv").write_text("program,plain_s\nsmall,2\nlarge,7\n")
    found = cells(folder, tmp_path / "out")
    assert list(found) == [("large", "plain_s")]
    small, large = times(folder, "small", "plain"), times(folder, "large", "plain")
    assert found["large", "plain_s"].simulated == tuple(a / b for a, b in zip(large, small, strict=True))
    assert found["large", "plain_s"].published == 3.5


@pytest.mark.parametrize("options", ["against: nobody", "row: nobody", "against: {nobody: plain}"])
def test_an_unknown_name_is_refused(tmp_path: Path, options: str) -> None:
    with pytest.raises(InputError, match="nobody"):
        read_study(str(study(tmp_path / "study", f"with: {{{options}}}\n")))


def pair(reader: int, home: int, read: int, owned: int = 0, cache: int = 0) -> dict[str, int]:
    return {"node_from": reader, "node_to": home, "bytes_read": read, "bytes_ownership": owned, "bytes_cache": cache}


def test_the_straggler_waits_longest_and_not_for_the_most_lines() -> None:
    """On the thesis' machine, a line of the other node takes 124.7 ns and one of the own 77.3 ns."""
    machine = read_machine("xeon-e5-2620-2s")
    found = straggler(machine, [pair(0, 0, 64 * 120), pair(1, 0, 64 * 70, owned=64 * 30)])
    assert found == (100, 0)
    found = straggler(machine, [pair(0, 0, 64 * 200), pair(1, 1, 64 * 3), pair(1, 0, 64)])
    assert found == (200, 200)


def test_lines_from_other_caches_are_misses_of_no_memory() -> None:
    found = straggler(read_machine("xeon-e5-2620-2s"), [pair(0, 1, 0, cache=640), pair(0, 0, 64)])
    assert found == (11, 1)


def scored(metric: str, published: list[float], simulated: list[float]) -> float:
    values = np.array(published)
    numbers = np.zeros(len(values), np.int64)
    seen = Observations(values, values, numbers > 0, numbers, numbers)
    return float(METRICS[metric].measure(seen, Prediction(np.array(simulated), values)))


def test_the_metrics_of_ratios_and_of_the_worst_cell() -> None:
    assert scored("mean-log-error", [1.0, 0.5], [math.e, 0.5 / math.e**2]) == pytest.approx(1.5)
    assert scored("largest-relative-error", [2.0, 4.0], [2.5, 5.0]) == 0.25
    assert scored("largest-absolute-error", [2.0, 4.0], [5.0, 2.0]) == 3


def test_a_value_that_was_not_printed_is_a_dash(tmp_path: Path) -> None:
    found = cells(study(tmp_path / "study", "with: {against: plain}\n"), tmp_path / "out")
    assert published_text(found["large", "domains_s"]) == error_text(found["large", "domains_s"]) == "-"
