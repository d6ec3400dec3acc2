"""The summary of one run: quantities in words, every counter in its unit, bars that are exactly full."""

import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from numasim.engine.result import LOCKS, MEMORY, OUTCOME, STEALS, TIME
from numasim.engine.unit_text import bytes_text, count_text, ratio_text, time_text
from numasim.report.answers.summary import BAR_WIDTH, summary, text_bar
from numasim.report.components import COMPONENTS

GLYPHS = [component.glyph for component in COMPONENTS]


def workers_table(split, roles, nodes):
    columns = {component.column: np.array(row) for component, row in zip(COMPONENTS, split, strict=True)}
    return {"role": np.array(roles), "node": np.array(nodes), **columns}


@pytest.fixture
def run(frame):
    row = dict.fromkeys(OUTCOME + STEALS + MEMORY + LOCKS, 0) | frame.iloc[0].to_dict()
    row |= {"bytes_remote": 3 * 2**29, "makespan_ps": 12_345_678_901, "tasks_stolen": 1_234_567, "event_hash": None}
    times = {"work_local_ps": [50, 30, 999], "inflation_numa_ps": [10, 5, 999], "idle_barrier_ps": [0, 25, 999]}
    split = [times.get(component.column, [0, 0, 0]) for component in COMPONENTS]
    return row, workers_table(split, ["worker", "worker", "producer"], [1, 0, 0])


def printed(row, workers, width=120):
    text = io.StringIO()
    Console(file=text, width=width).print(summary(row, workers))
    return text.getvalue()


def line_with(text, words):
    return next(line for line in text.splitlines() if words in line)


def test_counters_are_readable(run):
    text = printed(*run)
    assert "12.35 ms" in line_with(text, "makespan")
    assert "1.5 GiB" in line_with(text, "bytes remote")
    assert "1,234,567" in line_with(text, "tasks stolen")
    assert line_with(text, "event hash").split()[:3] == ["event", "hash", "-"]


def test_every_counter_of_the_four_groups_is_named(run):
    text = printed(*run)
    for name in OUTCOME + STEALS + MEMORY + LOCKS:
        assert name.removesuffix("_ps").replace("_", " ") in text


def test_shares_leave_the_producer_out(run):
    """The workers' time is 50 + 30 ps of work, 10 + 5 ps of remote memory and 25 ps in the barrier, 120 ps in all."""
    line = line_with(printed(*run), "work 66.7%")
    assert "remote memory 12.5%" in line
    assert "barrier 20.8%" in line
    assert "parked" not in line


def test_bars_are_grouped_by_node_and_split_exactly(run):
    lines = printed(*run).splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("worker 1, node 0"))
    assert lines[first + 1].startswith("worker 0, node 1")
    barrier = [component.column for component in COMPONENTS].index("idle_barrier_ps")
    assert [lines[first].count(GLYPHS[at]) for at in (0, 1, barrier)] == [30, 5, 25]
    assert [lines[first + 1].count(GLYPHS[at]) for at in (0, 1)] == [50, 10]


@given(st.lists(st.integers(0, 10**15), min_size=len(TIME), max_size=len(TIME)), st.integers(1, 200))
def test_bar_is_full_and_each_part_within_one_character(amounts, width):
    bar = text_bar(amounts, width).plain
    total = sum(amounts)
    assert len(bar) == (width if total else 0)
    for glyph, amount in zip(GLYPHS, amounts, strict=True):
        assert abs(bar.count(glyph) - (width * amount / total if total else 0)) < 1


def test_fits_120_columns(run):
    row, workers = run
    row["trace_hash"] = row["event_hash"] = "0123456789abcdef"
    assert max(map(len, printed(row, workers).splitlines())) <= 120
    assert "…" not in printed(row, workers)
    assert BAR_WIDTH < 100


def test_a_run_without_time_prints_blank_bars():
    assert "worker 0, node 0" in printed({"workers": 1}, workers_table([[0]] * len(TIME), ["worker"], [0]))


# ---- quantities in words ----


@pytest.mark.parametrize(
    ("time_ps", "text"),
    [
        (0, "0 ps"),
        (999, "999 ps"),
        (1000, "1 ns"),
        (77_300, "77.3 ns"),
        (1_234_567, "1.235 µs"),
        (12_345_678_901, "12.35 ms"),
        (3_600 * 10**12, "3600 s"),
        (-1_500, "-1.5 ns"),
        (999_999, "1 µs"),
        (math.nan, "-"),
    ],
)
def test_times(time_ps, text):
    assert time_text(time_ps) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1_572_864, "1.5 MiB"), (2**30, "1 GiB"), (5 * 2**40, "5 TiB")],
)
def test_sizes(size, text):
    assert bytes_text(size) == text


@given(st.integers(1, 10**18))
def test_a_time_reads_back_to_four_digits(time_ps):
    number, unit = time_text(time_ps).split()
    scale = {"ps": 1, "ns": 10**3, "µs": 10**6, "ms": 10**9, "s": 10**12}[unit]
    assert float(number) * scale == pytest.approx(time_ps, rel=5e-4)


def test_counts_and_ratios():
    assert count_text(1_234_567) == "1,234,567"
    assert count_text(math.nan) == "-"
    assert ratio_text(6 / 11) == "0.545"
    assert ratio_text(None) == "-"
