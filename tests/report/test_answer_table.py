"""The text at the end of a sweep: the answer comes first, the table fits, and failed runs are counted."""

import io

import pytest
from hand_made import REPEATS, always, busy, cell, table
from rich.console import Console

from numasim.report.answers.answer_table import ROW_LIMIT, render, render_comparison
from numasim.report.answers.question import compare

POLLS = "runtime.backoff.first_ns"


def printed(frame):
    text = io.StringIO()
    render(frame, Console(file=text, width=200))
    return text.getvalue()


def answered(comparison):
    text = io.StringIO()
    render_comparison(comparison, Console(file=text, width=200))
    return text.getvalue()


def line_with(text, *words):
    return next(line for line in text.splitlines() if all(word in line for word in words))


def test_fits_120_columns(frame):
    assert max(len(line) for line in printed(frame).splitlines()) <= 120


def test_a_file_gets_the_whole_table_and_a_narrow_terminal_every_word(frame):
    file, narrow = io.StringIO(), io.StringIO()
    console = Console(file=file, width=80)
    render(frame, console)
    assert file.getvalue() == printed(frame)
    assert console.width == 80
    render(frame, Console(file=narrow, width=80, force_terminal=True, no_color=True))
    assert narrow.getvalue().count("topology-aware") == file.getvalue().count("topology-aware")
    assert "…" not in narrow.getvalue()


def test_the_answer_comes_first_and_cells_to_compare_stand_together(frame_maker):
    by_strategy = frame_maker(workers=[4, 2]).sort_values(["workload", "strategy"], kind="stable")
    text = printed(by_strategy)
    assert text.startswith("threshold is surely faster than randomized in ")
    rows = [line.split() for line in text.splitlines() if " ms " in line]
    assert [row[:4] for row in rows[:2]] == [["2", "matmul", "n=256", "randomized"]] or rows[0][:3] == [
        "matmul",
        "n=256",
        "2",
    ]
    assert rows[1][0] in ("threshold", "topology-aware")


def test_values_of_any_axis_are_the_rows_of_one_table():
    cells = [cell(busy(100 * wait, 102 * wait), **{POLLS: wait}) for wait in (2, 4, 8)]
    text = printed(table(*cells))
    headings = [line for line in text.splitlines() if "makespan" in line and "miss ratio" in line]
    assert len(headings) == 1
    assert headings[0].split()[0] == POLLS
    assert [line.split()[0] for line in text.splitlines() if " ps " in line] == ["2", "4", "8"]
    assert line_with(text, "100.0%").split()[0] == "4"


def test_cells_without_an_effect_are_one_line():
    cells = [
        cell(busy(*works), strategy=name, workers=1, **{POLLS: wait})
        for wait in range(9)
        for name, works in {
            "randomized": [100] * REPEATS,
            "steal-half": [100 if wait else 80] * REPEATS,
        }.items()
    ]
    text = printed(table(*cells))
    rows = [line.split() for line in text.splitlines() if " ps " in line]
    assert [row[:2] for row in rows] == [["0", "randomized"], ["steal-half", "80"]]
    assert "no sure difference in 8 of 9 cells: +0.0 to +0.0 %" in text
    few = printed(table(*cells[:8]))
    assert "no sure difference in" not in few
    assert len([line for line in few.splitlines() if " ps " in line]) == 8


def test_cells_with_one_pair_are_not_folded():
    cells = [cell(busy(5040), strategy=name, workers=count) for count in range(1, 10) for name in "ab"]
    for made, runs in enumerate(cells):
        runs[0]["makespan_ps"] += made
    assert sum(" ps " in line or " ns " in line for line in printed(table(*cells)).splitlines()) == 18


def test_one_cell_is_not_compared(frame_maker):
    text = printed(frame_maker(strategies=["randomized"], programs=["matmul n=256"], workers=[4]))
    assert "because" not in text
    assert "vs" not in text
    assert "matmul n=256" in text


def test_a_long_table_is_cut_and_says_so(frame_maker):
    text = printed(frame_maker(workers=range(2, 62), repeats=1))
    assert f"{360 - ROW_LIMIT} more lines; the results table has all cells" in text
    assert len([line for line in text.splitlines() if "ms" in line.split()]) <= ROW_LIMIT


def test_failed_runs_are_counted_and_listed(frame_maker):
    frame = frame_maker(programs=["matmul n=256"], workers=[4])
    frame.loc[frame.strategy == "threshold", "error"] = "queue [0] is full"
    frame.loc[0, "error"] = "interrupted"
    text = printed(frame)
    assert "threshold is not surely faster or slower than randomized on matmul n=256 with 4 workers: no pair" in text
    assert "failed runs: 11" in text
    assert "10 x queue [0] is full (first: xeon-e5-2620-2s, matmul n=256, 4 workers, threshold)" in text
    assert "1 x interrupted" in text
    assert "(10 failed)" in line_with(text, "threshold", "failed)")


def test_nulls_are_dashes(frame_maker):
    text = printed(frame_maker(programs=["matmul n=256"], workers=[2], repeats=1))
    assert "nan" not in text
    assert line_with(text, "threshold ", " ms").split()[3] == "-"


def test_few_pairs_and_other_questions_are_named(frame_maker):
    """Two strategies are compared with a third in 24 settings, by 48 tests. The corrected p-value 48 x 2 / 2**pairs is
    above 0.05 for 10 pairs and below 0.05 for 11 pairs.
    """
    few = " ".join(printed(frame_maker(repeats=4)).split())
    assert "of 4 pairs: at least 11 are needed to be sure" in few
    assert "the range of 4, which covers 88 %" in few  # 1 - 2 / 2**4 = 0.875
    text = printed(frame_maker(repeats=12))
    assert "are needed" not in text
    assert "95 % intervals" in text
    assert "numasim compare RESULTS --axis workload or workers" in text


def test_no_runs(frame):
    assert printed(frame.iloc[:0]) == "no runs\n"


@pytest.mark.parametrize(
    ("column", "value", "word"), [("steal_miss_ratio", "-0.100", "higher"), ("page_faults", "+12", "higher")]
)
def test_a_comparison_is_printed_in_the_unit_of_its_column(column, value, word):
    frame = table(cell(always(100), strategy="a"), cell(always(100), strategy="b"))
    frame["steal_miss_ratio"] = [0.5] * REPEATS + [0.4] * REPEATS
    frame["page_faults"] = [0] * REPEATS + [12] * REPEATS
    text = answered(compare(frame, column=column))
    assert f"{value} ({value} {value})" in line_with(text, "b", value)
    assert f"vs a (+: {word})" in text
    assert max(len(line) for line in text.splitlines()) <= 120
