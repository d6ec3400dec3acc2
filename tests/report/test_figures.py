"""Figures show the numbers of tables, name units, and do not depend on the reader's settings of matplotlib.

The components of a run are the parts of its workers' time, such as work; all together are workers x makespan.
"""

import itertools
import math

import matplotlib
import numpy as np
import pandas as pd
import pytest
import scipy
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from numasim.engine.result import TIME
from numasim.errors import InputError
from numasim.report.answers.statistics import median_estimate
from numasim.report.components import COMPONENTS, LINE_COLOURS
from numasim.report.figures.axis_figure import column, expected_remote_share, miss_ratio, remote_steal_ratio, speedup
from numasim.report.figures.bars import time_split, worker_time_split
from numasim.report.figures.plots import PLOTS, Tables, as_files, drawn, files_of, save, save_all, svg_text
from numasim.report.figures.style import PANEL_LIMIT, line_colour, marker
from numasim.report.figures.traffic import KINDS, byte_kinds, node_bytes, node_steals

COUNTS = list(range(2, 25, 2))


@pytest.fixture(scope="module")
def small(frame_maker):
    return frame_maker(workers=[4, 8], repeats=2)


@pytest.fixture(scope="module")
def tables(small, workers_maker, node_pairs_maker):
    return Tables(small, workers_maker(small), node_pairs_maker(small))


def lines(axes):
    return {line.get_label(): np.asarray(line.get_data(), float) for line in axes.lines}


def bars(axes):
    """Return [components, bars] the heights in drawing order."""
    return np.array([[np.ptp(bar.vertices[:, 1]) for bar in part.get_paths()] for part in axes.collections])


def test_zero_over_zero_is_a_gap(frame):
    y = lines(miss_ratio(frame).axes[0])["threshold"][1]
    assert math.isnan(y[0])
    assert not np.isnan(y[1:]).any()


def test_speedup_bands_are_the_intervals_of_medians_and_ideal_is_one_per_worker(frame):
    axes = speedup(frame).axes[0]
    runs = frame[(frame.workload == "matmul n=256") & (frame.strategy == "randomized")].groupby("workers").speedup
    ends = [scipy.stats.quantile_test(each, p=0.5).confidence_interval(0.95) for _, each in runs]
    band = axes.collections[0].get_paths()[0].vertices
    for count, bottom, top in zip(COUNTS, *zip(*ends, strict=True), strict=True):
        drawn = band[band[:, 0] == count, 1]
        assert (drawn.min(), drawn.max()) == pytest.approx((bottom, top))
    ideal = lines(axes)["ideal"]
    np.testing.assert_array_equal(ideal[0], ideal[1])
    np.testing.assert_allclose(lines(axes)["randomized"][1], runs.median().to_numpy())


def test_lines_that_lie_on_each_other_take_turns(frame_maker):
    """Two strategies have the same makespans: without dashes and larger marks, one line would hide the other."""
    one = frame_maker(programs=["matmul n=256"], strategies=["randomized", "threshold"], workers=[4, 8], repeats=2)
    twin = one[one.strategy == "threshold"].assign(strategy="twin")
    axes = column(pd.concat([one, twin]), "makespan_ps").axes[0]
    _, first, second = axes.lines
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--", "--"]
    assert first.get_markersize() > second.get_markersize()
    assert first.get_linewidth() == second.get_linewidth()
    (begin, dashes), (later, same) = first._dash_pattern, second._dash_pattern  # in points
    assert dashes == same == pytest.approx([3 * 2.4, 3 * 2.4])  # in the gaps, as long as dashes, the other line shows
    assert abs(begin - later) == pytest.approx(3 * 2.4)


def test_expected_remote_share_of_uniform_victims_on_two_nodes(tables):
    x, y = lines(remote_steal_ratio(tables.frame, tables.workers).axes[0])["randomized, expected"]
    np.testing.assert_array_equal(x, [4, 8])
    np.testing.assert_allclose(y, (x / 2) / (x - 1))


@pytest.mark.parametrize("nodes", [[0, 0, 0, 1], [0, 1, 2, 3, 3], [5, 5], [0, 2, 2, 2, 4, 4]])
def test_expected_share_is_the_share_of_ordered_pairs_on_two_nodes(nodes):
    pairs = list(itertools.permutations(nodes, 2))
    assert expected_remote_share(np.array(nodes)) == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))


def test_there_is_no_expectation_without_randomized_or_without_the_mapping(tables):
    assert "randomized, expected" not in lines(remote_steal_ratio(tables.frame).axes[0])
    others = tables.frame[tables.frame.strategy != "randomized"]
    assert "randomized, expected" not in lines(remote_steal_ratio(others, tables.workers).axes[0])
    assert math.isnan(expected_remote_share(np.zeros(1, int)))


def test_time_split_is_in_percent_of_workers_times_makespan(tables):
    axes = time_split(tables.frame).axes[1]  # the first program under the second strategy
    runs = tables.frame[(tables.frame.workload == "matmul n=256") & (tables.frame.strategy == "threshold")]
    split = runs.groupby("workers")[list(TIME)].sum()
    np.testing.assert_allclose(bars(axes), 100 * (split.T / split.sum(axis=1)).to_numpy(), atol=1e-9)
    tops = np.array([[bar.vertices[:, 1].max() for bar in part.get_paths()] for part in axes.collections])
    np.testing.assert_allclose(tops, bars(axes).cumsum(axis=0))
    np.testing.assert_allclose(tops[-1], 100)


def test_worker_bars_are_grouped_by_node(tables):
    axes = worker_time_split(tables.frame, tables.workers).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "2", "4", "6", "1", "3", "5", "7"]
    assert {"node 0", "node 1", "8 workers"} <= {text.get_text().split(", ")[-1] for text in axes.texts}
    shown = tables.frame[(tables.frame.workload == "matmul n=256") & (tables.frame.strategy == "randomized")]
    mine = tables.workers[tables.workers.run_id.isin(shown[shown.workers == 8].run_id)]
    split = mine.groupby(["node", "worker"])[list(TIME)].sum()
    np.testing.assert_allclose(bars(axes), 100 * (split.T / split.sum(axis=1)).to_numpy(), atol=1e-9)


def test_producers_are_no_workers(tables):
    ghosts = tables.workers.assign(role="producer", worker=tables.workers.worker + 100)
    both = worker_time_split(tables.frame, pd.concat([tables.workers, ghosts])).axes[0]
    np.testing.assert_array_equal(bars(both), bars(worker_time_split(tables.frame, tables.workers).axes[0]))


@pytest.mark.parametrize(("draw", "column"), [(node_steals, "steal_success"), (node_bytes, "bytes")])
def test_heat_maps_hold_percents_of_all(tables, draw, column):
    axes = draw(tables.frame, tables.node_pairs).axes[2]  # the first program under the third strategy
    frame = tables.frame
    shown = frame[(frame.workload == "matmul n=256") & (frame.strategy == "topology-aware") & (frame.workers == 8)]
    total = tables.node_pairs[tables.node_pairs.run_id.isin(shown.run_id)].groupby(["node_from", "node_to"])[column]
    expected = total.sum().unstack().to_numpy()
    np.testing.assert_allclose(axes.images[0].get_array(), 100 * expected / expected.sum())


def test_panels_of_a_heat_map_share_one_scale(tables):
    images = [axes.images[0] for axes in node_steals(tables.frame, tables.node_pairs).axes if axes.images]
    assert len({image.get_clim() for image in images}) == 1
    assert images[0].get_clim() == (0, max(image.get_array().max() for image in images))


def test_machines_of_different_sizes_keep_their_own_nodes(frame_maker, node_pairs_maker):
    small = frame_maker(programs=["matmul n=256"], workers=[8], repeats=1)
    large = small.assign(machine="opteron-875-8s", run_id="large " + small.run_id)
    pairs = pd.concat([node_pairs_maker(small, 2), node_pairs_maker(large, 8)])
    panels = node_bytes(pd.concat([small, large]), pairs).axes
    assert [panels[at].images[0].get_array().shape for at in (0, 3)] == [(2, 2), (8, 8)]
    assert [panels[at].get_ylim() for at in (0, 3)] == [(1.5, -0.5), (7.5, -0.5)]


def test_a_strategy_without_steals_is_blank_among_others(tables):
    pairs = tables.node_pairs.copy()
    pairs.loc[pairs.run_id.str.contains("topology-aware"), "steal_success"] = 0
    axes = node_steals(tables.frame, pairs).axes[2]
    assert {text.get_text() for text in axes.texts} >= {"-"}
    assert axes.images[0].get_array().mask.all()


@pytest.mark.parametrize("name", list(PLOTS))
def test_every_figure_names_its_axes_and_units(tables, name):
    figure = PLOTS[name](tables)
    labels = {text for axes in figure.axes for text in (axes.get_xlabel(), axes.get_ylabel()) if text}
    assert len(labels) >= 2
    assert any(word in label for label in labels for word in ("%", "ratio", "share", "speedup"))


@pytest.mark.parametrize("name", list(PLOTS))
def test_no_title_leaves_the_figure_or_touches_another(tables, name):
    frame = tables.frame[tables.frame.strategy != "threshold"].assign(**{"runtime.costs.push_ns": 7})
    frame.loc[frame["repeat"] == 1, "runtime.costs.push_ns"] = 8
    frame["strategy"] += ", as the runtime library that everybody uses has it"
    figure = PLOTS[name](Tables(frame, tables.workers, tables.node_pairs))
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    titles = [text for axes in figure.axes for text in [axes._left_title] if text.get_text()]
    subtitles = [text for axes in figure.axes for text in axes.texts if "workers" in text.get_text()]
    ticks = [axes.xaxis.get_tightbbox(renderer) for axes in figure.axes if axes.get_title("left")]
    boxes = [*(text.get_window_extent(renderer) for text in titles + subtitles), *ticks]
    assert len(titles) >= 4
    assert all(0 <= box.x0 < box.x1 <= figure.bbox.x1 + 1 for box in boxes)
    assert all(0 <= box.y0 < box.y1 <= figure.bbox.y1 + 1 for box in boxes)
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


@pytest.mark.parametrize("name", list(PLOTS))
def test_figures_of_one_repeat_and_of_nothing(frame_maker, workers_maker, node_pairs_maker, name):
    frame = frame_maker(workers=[8], repeats=1)
    one = Tables(frame, workers_maker(frame), node_pairs_maker(frame))
    PLOTS[name](one).draw_without_rendering()
    nothing = Tables(*(table.iloc[:0] for table in (one.frame, one.workers, one.node_pairs)))
    empty = PLOTS[name](nothing)
    assert not empty.axes
    assert empty.texts[0].get_text().startswith("no ")


@pytest.mark.parametrize("name", PLOTS)
def test_a_figure_is_drawn_once_for_each_file(tables, name, monkeypatch):
    draw, files = Figure.draw, []
    monkeypatch.setattr(Figure, "draw", lambda self, renderer: files.append(renderer) or draw(self, renderer))
    figure = PLOTS[name](tables)
    written = [drawn(figure, kind) for kind in ("png", "svg")]
    assert len(files) == 2
    assert [drawn(figure, kind) for kind in ("png", "svg")] == written
    svg_text(PLOTS[name](tables))
    assert len(files) == 5


def test_geometric_worker_counts_get_a_logarithmic_axis(frame_maker):
    axes = speedup(frame_maker(programs=["matmul n=256"], workers=[2, 4, 8, 16], repeats=1)).axes[0]
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["2", "4", "8", "16"]
    assert speedup(frame_maker(workers=[2, 4, 6], repeats=1)).axes[0].get_xscale() == "linear"


def test_too_many_panels_are_counted(frame_maker):
    frame = frame_maker(programs=["matmul n=256"], workers=[4, 8], repeats=1)
    many = pd.concat([frame.assign(**{"workload.n": n}) for n in range(PANEL_LIMIT + 3)])
    figure = miss_ratio(many)
    assert len(figure.axes) == PANEL_LIMIT
    assert figure.get_supxlabel() == f"the first {PANEL_LIMIT} of {PANEL_LIMIT + 3} panels"
    assert figure.axes[1].get_title("left") == "n=1"


def test_a_strategy_keeps_its_colour_where_others_are_missing(frame):
    part = frame[(frame.workload != "strassen n=1024") | (frame.strategy == "topology-aware")]
    first, second = miss_ratio(part).axes
    colours = [
        next(line.get_color() for line in axes.lines if line.get_label() == "topology-aware")
        for axes in (first, second)
    ]
    assert colours[0] == colours[1]


def test_the_readers_settings_are_neither_used_nor_changed(small):
    with matplotlib.rc_context({"font.size": 30, "axes.grid": False}):
        size = miss_ratio(small).axes[0].xaxis.label.get_fontsize()
        assert matplotlib.rcParams["font.size"] == 30
    assert size == 10.5


def test_contenders_and_components_are_told_apart_and_stand_out_from_white():
    looks = [(line_colour(index), marker(index)) for index in range(56)]
    assert len(set(looks)) == 56
    assert len({line_colour(index) for index in range(7)}) == len({marker(index) for index in range(7)}) == 7
    assert all(np.dot([0.2126, 0.7152, 0.0722], to_rgb(colour)) < 0.7 for colour in LINE_COLOURS)
    assert len({to_hex(component.colour) for component in COMPONENTS}) == len(COMPONENTS)
    assert len({component.glyph for component in COMPONENTS}) == len(COMPONENTS)
    assert tuple(component.column for component in COMPONENTS) == TIME


def test_files_have_the_same_bytes_every_time_and_no_date(tables, tmp_path):
    frame = tables.frame[(tables.frame.workers == 8) & (tables.frame.workload == "matmul n=256")]
    paths = save_all(frame, tables.workers, tables.node_pairs, tmp_path / "figures", pdf=True)
    assert [path.name for path in paths] == files_of(PLOTS, ("png", "svg", "pdf"))
    assert all(path.stat().st_size > 1000 for path in paths)
    for kind in ("png", "svg", "pdf"):
        again = save(speedup(frame), str(tmp_path / f"again.{kind}")).read_bytes()
        assert again == (tmp_path / "figures" / f"speedup.{kind}").read_bytes()
        assert not any(word in again for word in (b"<dc:date>", b"CreationDate", b"Software\0Matplotlib"))
    assert save_all(frame.assign(error="x"), tables.workers, tables.node_pairs, tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


def test_wrong_names_are_refused(tables, tmp_path):
    (tmp_path / "taken").write_text("")
    for refused, problem in {
        lambda: save(speedup(tables.frame), tmp_path / "figure.gif"): r"\.png, \.svg or \.pdf",
        lambda: save_all(tables.frame, tables.workers, tables.node_pairs, tmp_path / "taken"): "taken",
        lambda: column(tables.frame, "makespan"): "did you mean 'makespan_ps'",
        lambda: column(tables.frame, "strategy"): "'strategy' is no column of numbers",
    }.items():
        with pytest.raises(InputError, match=problem):
            refused()


# ---- figures of any column over any axis -----------------------------------------------------------------------------

FIRST_NS = "runtime.backoff.first_ns"
VALUES = [0, 100, 1000, 10000]


@pytest.fixture(scope="module")
def backoff(frame_maker):
    """Return runs of one machine, program, strategy and number of workers; the wait after a failed round varies."""
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


def test_figures_take_the_results_of_a_sweep_as_comparisons_do(backoff):
    class Swept:
        def to_frame(self):
            return backoff

    for draw in (column, miss_ratio, time_split):
        assert as_files([("a", draw(Swept()))], ["svg"]) == as_files([("a", draw(backoff))], ["svg"])


def test_a_column_without_a_value_and_runs_that_failed_have_no_figure(backoff):
    assert column(backoff.assign(imc_busy_max=math.nan), "imc_busy_max").texts[0].get_text() == (
        "no run has a value of imc_busy_max"
    )
    assert column(backoff.assign(error="x")).texts[0].get_text() == "no finished runs"


# ---- bytes by kind ---------------------------------------------------------------------------------------------------

KIND_GB = {"bytes_read": 4, "bytes_ownership": 3, "bytes_written": 2, "bytes_cache": 1}


@pytest.fixture
def kind_runs():
    runs = [("plain", "a"), ("plain", "b"), ("bound", "c")]
    return pd.DataFrame(
        {"run_id": run, "strategy": name, "machine": "m", "workload": "w", "workers": 4, "error": None}
        for name, run in runs
    )


@pytest.fixture
def kind_pairs(kind_runs):
    """Return byte counts: twice as many within a node as between nodes, in run c three times those of other runs."""
    rows = []
    for run in kind_runs["run_id"]:
        for source, target in np.ndindex(2, 2):
            scale = (2 if source == target else 1) * (3 if run == "c" else 1) * 10**9
            moved = {kind: scale * gigabytes for kind, gigabytes in KIND_GB.items()}
            rows.append({"run_id": run, "node_from": source, "node_to": target, **moved})
    return pd.DataFrame(rows)


def heights(axes):
    bars = [float(patch.get_height()) for patch in axes.patches]
    return [bars[start : start + 2] for start in range(0, len(bars), 2)]


def test_heights_are_means_over_the_repeats_within_and_between_nodes(kind_runs, kind_pairs):
    plain, bound = byte_kinds(kind_runs, kind_pairs).axes
    expected = [[4.0 * KIND_GB[kind], 2.0 * KIND_GB[kind]] for kind in KINDS]
    assert heights(plain) == expected
    assert heights(bound) == [[3 * value for value in line] for line in expected]
    tops = [patch.get_y() + patch.get_height() for patch in bound.patches]
    assert max(tops) == 120 < bound.get_ylim()[1]


def test_only_kinds_that_are_known(kind_runs, kind_pairs):
    figure = byte_kinds(kind_runs, kind_pairs.drop(columns=["bytes_cache"]))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [label for label, _ in KINDS.values()][:3]
    unknown = byte_kinds(kind_runs, kind_pairs[["run_id", "node_from", "node_to"]])
    assert "not known" in unknown.texts[0].get_text()
