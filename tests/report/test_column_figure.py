"""Any column over any axis: the estimates of the table, in a unit that reads, and named on the figure."""

import math

import numpy as np
import pytest

from numasim.errors import InputError
from numasim.report.answers.statistics import median_estimate
from numasim.report.figures.axis_figure import column
from numasim.report.figures.bars import time_split
from numasim.report.figures.curves import miss_ratio
from numasim.report.figures.plots import as_files, drawn, files_of, save

FIRST_NS = "runtime.backoff.first_ns"
VALUES = [0, 100, 1000, 10000]


@pytest.fixture(scope="module")
def backoff(frame_maker):
    """One machine, program, strategy and number of workers; the wait after a failed round varies."""
    frame = frame_maker(programs=["matmul n=256"], strategies=["randomized"], workers=[8], repeats=20)
    return frame.assign(**{FIRST_NS: [VALUES[at % len(VALUES)] for at in range(len(frame))]})


def heading(figure):
    return " ".join(figure.get_suptitle().split())


def test_a_varying_back_off_is_one_line_with_a_band_and_not_panels_of_a_dot(backoff):
    (axes,) = column(backoff, "makespan_ps").axes
    (line,) = axes.lines
    assert list(line.get_xdata()) == VALUES
    assert axes.get_xlabel() == FIRST_NS
    assert axes.get_ylabel() == "makespan (ms)"
    for value, low_high, median in zip(VALUES, axes.collections[1].get_segments(), line.get_ydata(), strict=True):
        expected = median_estimate(backoff.makespan_ps[backoff[FIRST_NS] == value].to_numpy(float) / 1e9)
        assert median == pytest.approx(expected.value)
        assert low_high[:, 1] == pytest.approx([expected.low, expected.high])


def test_the_standard_figures_take_the_axis_that_varies_too(backoff):
    (axes,) = miss_ratio(backoff).axes
    assert list(axes.lines[0].get_xdata()) == VALUES
    (axes,) = time_split(backoff).axes
    assert [text.get_text() for text in axes.get_xticklabels()] == [str(value) for value in VALUES]
    assert axes.get_xlabel() == FIRST_NS


def test_names_are_dots_beside_each_other_with_their_intervals(frame):
    figure = column(frame, "steal_miss_ratio", x="strategy", colour="workers", facet="workload")
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["randomized", "threshold", "topology-aware"]
    assert all(line.get_linestyle() == "None" for line in axes.lines)
    assert len({round(float(line.get_xdata()[0]), 6) for line in axes.lines}) == frame.workers.nunique()
    runs = frame[(frame.workload == "matmul n=256") & (frame.workers == 24) & (frame.strategy == "threshold")]
    line = next(line for line in axes.lines if line.get_label() == "24 workers")
    assert line.get_ydata()[1] == runs.steal_miss_ratio.median()


def test_machine_program_and_what_the_bands_are_stand_on_the_figure(backoff, frame):
    assert heading(column(backoff)) == (
        "xeon-e5-2620-2s, matmul n=256, 8 workers, randomized"
        " medians of 5 repeats with the range of 5, which covers 94 %"
    )
    assert "xeon-e5-2620-2s; medians of 10 repeats with 95 % intervals" in heading(column(frame))
    alone = frame[frame["repeat"] == 0]
    assert "one run of each, no intervals" in heading(column(alone))


def test_a_cell_without_a_value_of_x_is_not_drawn_and_a_wide_span_is_logarithmic(backoff):
    frame = backoff[backoff[FIRST_NS] > 0].astype({FIRST_NS: float})
    frame.loc[frame[FIRST_NS] == 1000, FIRST_NS] = math.nan
    (axes,) = column(frame, "speedup").axes
    assert list(axes.lines[0].get_xdata()) == [100, 10000]
    assert column(backoff, "speedup").axes[0].get_xscale() == "symlog"


def test_small_differences_far_from_zero_are_seen(backoff):
    near = backoff.assign(makespan_ps=np.where(backoff[FIRST_NS] == 0, 100, 101) * 10**9)
    assert column(near).axes[0].get_ylim()[0] > 99
    far = backoff.assign(makespan_ps=np.where(backoff[FIRST_NS] == 0, 10, 101) * 10**9)
    assert column(far).axes[0].get_ylim()[0] == 0


def test_a_name_that_is_no_column_of_numbers_proposes_the_nearest(backoff):
    with pytest.raises(InputError, match="did you mean 'makespan_ps'"):
        column(backoff, "makespan")
    with pytest.raises(InputError, match="'strategy' is no column of numbers"):
        column(backoff, "strategy")


def test_figures_take_the_results_of_a_sweep_as_comparisons_do(backoff):
    class Swept:
        def to_frame(self):
            return backoff

    for draw in (column, miss_ratio, time_split):
        assert as_files([("a", draw(Swept()))], ["svg"]) == as_files([("a", draw(backoff))], ["svg"])
    with pytest.raises(InputError, match=r"got 3; expected what ns.sweep or ns.run returned"):
        column(3)


def test_a_column_without_a_value_and_runs_that_failed_have_no_figure(backoff):
    assert column(backoff.assign(imc_busy_max=math.nan), "imc_busy_max").texts[0].get_text() == (
        "no run has a value of imc_busy_max"
    )
    assert column(backoff.assign(error="x")).texts[0].get_text() == "no finished runs"


def test_a_pdf_has_the_same_bytes_every_time_and_no_date(backoff, tmp_path):
    first = save(column(backoff), str(tmp_path / "figure.pdf")).read_bytes()
    assert first.startswith(b"%PDF")
    assert b"Date" not in first
    assert b"Matplotlib" not in first
    assert drawn(column(backoff), "pdf") == first


def test_standard_figures_are_written_as_pdf_where_that_is_wanted(backoff):
    files = as_files([("speedup", column(backoff, "speedup"))], ("png", "pdf"))
    assert list(files) == ["speedup.png", "speedup.pdf"] == files_of(["speedup"], ("png", "pdf"))
    assert files["speedup.pdf"].startswith(b"%PDF")
