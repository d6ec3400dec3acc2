"""`answers.csv`, the file of a sweep with all comparisons: rows worked out by hand, and documented columns."""

from __future__ import annotations

import csv
import io

from hand_made import always, cell, table

from numasim.report.answers.answers_file import ANSWER_COLUMNS, ANSWERED, answers_csv
from numasim.report.answers.question import all_comparisons
from numasim.report.answers.time_parts import PARTS


def rows(frame):
    return list(csv.DictReader(io.StringIO(answers_csv(frame).decode())))


def two_by_two():
    return table(
        *(
            cell(always(100, idle_steal_ps=idle), strategy=name, workers=workers, **{"runtime.poll_ns": 10 * workers})
            for workers in (1, 2)
            for name, idle in (("randomized", 60), ("steal-half", 20))
        )
    )


def test_every_axis_has_its_rows():
    found = rows(two_by_two())
    makespans = [row for row in found if row["column"] == "makespan_ps"]
    assert len(found) == len(ANSWERED) * len(makespans)
    assert [(row["axis"], row["baseline"], row["value"], row["strategy"], row["workers"]) for row in makespans] == [
        ("strategy", "randomized", "steal-half", "steal-half", "1"),
        ("strategy", "randomized", "steal-half", "steal-half", "2"),
        ("runtime.poll_ns+workers", "10 + 1", "20 + 2", "randomized", "2"),
        ("runtime.poll_ns+workers", "10 + 1", "20 + 2", "steal-half", "2"),
    ]


def test_a_row_holds_what_was_worked_out():
    row = rows(two_by_two())[0]
    expected = {
        "machine": "two-nodes",
        "workload": "fib",
        "fields": "runtime.poll_ns=10",
        "pairs": "12",
        "baseline_median": "160",
        "median": "120",
        "difference": "-40",
        "difference_low": "-40",
        "percent": "-25",
        "percent_high": "-25",
        "p": "0.00048828125",
        "holm_p": "0.0009765625",
        "sure": "1",
        "because": "waiting for work falls by 25.0 % (mostly in probes)",
        "part_waiting": "-25",
        "part_work": "0",
    }
    assert {name: row[name] for name in expected} == expected


def test_columns_are_documented_once():
    names = [column.name for column in ANSWER_COLUMNS]
    assert len(set(names)) == len(names)
    assert all(column.meaning.endswith(".") for column in ANSWER_COLUMNS)
    assert [name for name in names if name.startswith("part_")] == [f"part_{part.name}" for part in PARTS]
    assert answers_csv(two_by_two().iloc[:0]).decode().strip().split(",") == names


def test_the_order_of_rows_with_equal_seeds_changes_nothing():
    frame = two_by_two()
    assert answers_csv(frame.iloc[::-1].sort_values(["workers", "strategy"])) == answers_csv(frame)


def test_of_a_large_sweep_the_last_columns_are_left_out():
    frame = two_by_two()  # two rows for each axis and column

    def asked(most_rows):
        return [(each.axis, each.column) for each in all_comparisons(frame, ("makespan_ps", "tasks"), most_rows)]

    polls = "runtime.poll_ns+workers"
    everything = [(axis, column) for axis in ("strategy", polls) for column in ("makespan_ps", "tasks")]
    assert asked(8) == everything
    assert asked(7) == everything[:3]
    assert asked(5) == [("strategy", "makespan_ps"), (polls, "makespan_ps")]
    assert asked(3) == [("strategy", "makespan_ps")]
    assert asked(1) == []
