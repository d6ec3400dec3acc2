"""The text that a sweep ends with: it fits, folds, counts failures and says how sure it is."""

import io

from rich.console import Console

from numasim.report.answers.answer import answer
from numasim.report.answers.answer_table import ROW_LIMIT, fold, render
from numasim.report.comparison_cells import cell_columns


def printed(frame):
    text = io.StringIO()
    render(frame, Console(file=text, width=200))
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


def test_strategies_to_compare_stand_together(frame):
    by_strategy = frame.sort_values(["workload", "strategy", "workers"], kind="stable")
    text = printed(by_strategy)
    rows = [line.split() for line in text.splitlines() if " ms " in line][:6]
    assert [row[0] for row in rows if row[0].isdigit()] == ["2", "4"]
    assert rows[2][0] == "topology-aware"


def test_rows_say_what_the_answer_holds(frame_maker):
    frame = frame_maker(programs=["matmul n=256"], workers=[12])
    row = answer(frame).iloc[2]
    line = line_with(printed(frame), "topology-aware")
    assert f"{row.makespan_ps / 1e9:.3f}"[:5] in line
    assert f"{row.steal_miss_ratio:.3f}" in line
    assert f"{row.difference_percent:+.1f}% ({row.difference_percent_low:+.1f}" in line
    assert f"remote memory {row.explained_percent:+.1f}%" in line


def test_one_strategy_is_not_compared(frame_maker):
    text = printed(frame_maker(strategies=["randomized"], workers=[4]))
    assert "because" not in text
    assert "vs" not in text


def test_a_long_sweep_is_folded_and_says_so(frame_maker):
    frame = frame_maker(workers=range(2, 62), repeats=1)
    table, notes = fold(answer(frame), cell_columns(frame), ROW_LIMIT)
    assert list(table.workers.unique()) == [2, 32, 61]
    assert notes == [
        "workers: 2, 32, 61 out of 60 values",
        "18 of 360 cells shown; the results table has all of them",
    ]


def test_what_folding_cannot_shorten_is_cut(frame_maker):
    frame = frame_maker(workers=[2, 4], repeats=1)
    table, notes = fold(answer(frame), cell_columns(frame), 5)
    assert len(table) == 5
    assert notes == ["5 of 12 cells shown; the results table has all of them"]


def test_a_short_sweep_is_not_folded(frame):
    table, notes = fold(answer(frame), cell_columns(frame), ROW_LIMIT)
    assert len(table) == 72
    assert notes == []


def test_failed_runs_are_counted_and_listed(frame_maker):
    frame = frame_maker(programs=["matmul n=256"], workers=[4])
    frame.loc[frame.strategy == "threshold", "error"] = "queue [0] is full"
    frame.loc[0, "error"] = "interrupted"
    text = printed(frame)
    assert "failed runs: 11" in text
    assert "10 x queue [0] is full (first: xeon-e5-2620-2s, matmul n=256, 4 workers, threshold)" in text
    assert "1 x interrupted" in text
    assert "(10 failed)" in line_with(text, "threshold")


def test_nulls_are_dashes(frame_maker):
    text = printed(frame_maker(programs=["matmul n=256"], workers=[2], repeats=1))
    assert "nan" not in text
    assert line_with(text, "threshold ").split()[4] == "-"


def test_few_pairs_are_named(frame_maker):
    assert "only 4 pairs in a cell: no sign test can give p < 0.125" in printed(frame_maker(repeats=4))
    assert "sign test" not in printed(frame_maker(repeats=6))


def test_no_runs(frame):
    assert printed(frame.iloc[:0]) == "no runs\n"
