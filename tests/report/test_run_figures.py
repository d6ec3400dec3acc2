"""Figures of one run, with 1 to 128 workers, show the numbers of the run and name the data that are left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

import numasim as ns
from numasim.engine.collect_result import link_bytes
from numasim.engine.observe.over_time import MOST_STEALS, STATES, OverTime
from numasim.engine.result import Result
from numasim.errors import InputError
from numasim.plan.resources import ResourceKind
from numasim.report.figures.developments import (
    BUSIEST,
    POINTS,
    TITLES,
    curve,
    queue_lengths,
    resource_loads,
    utilisation,
)
from numasim.report.figures.developments import MOST_LINES as MOST_LINES_OF_LOADS
from numasim.report.figures.gantt import LABELS, MOST_LINES, rows_by_node, timeline
from numasim.report.figures.plots import RUN_PLOTS, run_figures
from numasim.report.figures.traffic import loads_of, node_traffic

SPECS: dict[str, dict[str, Any]] = {
    "two nodes": {"machine": "xeon-e5-2620-2s", "workload": {"name": "strassen", "n": 512}, "workers": 24},
    "four nodes": {"machine": "xeon-6130-4s", "workload": {"name": "strassen", "n": 512}, "workers": 128},
    "a mesh": {"machine": "tilepro64", "workload": {"name": "sort", "n": 1 << 14}, "workers": 12},
    "one worker": {"machine": "opteron-8380-4s", "workload": {"name": "fib", "n": 3}, "workers": 1},
    "no queues": {"machine": "xeon-e5-2620-2s", "workload": {"name": "fib", "n": 0}, "workers": 2},
}


@cache
def watched(name: str) -> tuple[Result, OverTime]:
    result = ns.run({"strategy": "randomized", "seed": 7, **SPECS[name]}, over_time=True)
    assert result.over_time is not None
    return result, result.over_time


def texts(figure: Figure) -> str:
    found = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    return "\n".join(found)


@pytest.mark.parametrize("name", ["one worker", "no queues"])
def test_every_figure_is_drawn(name: str) -> None:
    files = run_figures(*watched(name))
    assert list(files) == [f"{plot}.{kind}" for plot in RUN_PLOTS for kind in ("png", "svg")]
    assert all(len(content) > 2000 for content in files.values())


@pytest.mark.parametrize("name", ["two nodes", "four nodes", "one worker"])
def test_a_row_of_the_timeline_has_the_colours_of_what_its_worker_did(name: str) -> None:
    _, over_time = watched(name)
    axes = timeline(over_time).axes[0]
    colours = np.array([to_rgb(LABELS[state][1]) for state in STATES.values()])
    widths = np.diff(over_time.edges_ps)
    for worker, row in painted_rows(axes, over_time.plan.workers.node):
        shares = over_time.stretches_ps[worker] / widths
        np.testing.assert_allclose(row, shares.T @ colours, atol=1e-9)


def painted_rows(axes: Axes, node: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the number of each row, and the colours in the middle of the row."""
    (image,) = axes.images
    _, _, bottom, top = image.get_extent()
    picture = np.asarray(image.get_array())
    for thing, place in enumerate(rows_by_node(node).place):
        yield thing, picture[int((place - top) / (bottom - top) * len(picture))]


def test_workers_of_a_node_stand_together() -> None:
    node = np.array([1, 0, 1, 0, 2])
    rows = rows_by_node(node)
    assert node[rows.order].tolist() == [0, 0, 1, 1, 2]
    assert np.diff(np.sort(rows.place)).tolist() == pytest.approx([1, 1.6, 1, 1.6])
    assert rows.node_place.tolist() == pytest.approx([rows.place[node == each].mean() for each in range(3)])


def test_steals_are_marked_in_the_row_of_their_thief_and_counted_below() -> None:
    result, over_time = watched("two nodes")
    above, below = timeline(over_time).axes[:2]
    marks = np.concatenate([line.get_xydata() for line in above.lines])
    rows = rows_by_node(over_time.plan.workers.node)
    expected = [(row[2] / 1e9, rows.place[row[1]]) for row in over_time.steals.tolist()]
    np.testing.assert_allclose(sorted(map(tuple, marks.tolist())), sorted(expected))
    drawn = sum(bar.get_height() for bars in below.containers for bar in bars)
    assert drawn == result.counters["steal_success"] == len(expected)


def test_many_steals_are_marked_without_lines_and_the_rest_is_counted() -> None:
    result, over_time = watched("four nodes")
    figure = timeline(over_time)
    made = result.counters["steal_success"]
    assert made > MOST_LINES
    lines = [each for each in figure.axes[0].collections if len(each.get_paths())]
    assert lines == []
    expected = (
        f"{made:,} steals" if made <= MOST_STEALS else f"{made:,} steals, the first {MOST_STEALS:,} of them marked"
    )
    assert expected in texts(figure)


def test_the_shares_of_a_node_fill_its_panel() -> None:
    _, over_time = watched("two nodes")
    figure = utilisation(over_time)
    assert [axes.get_title("left") for axes in figure.axes[:2]] == ["workers of node 0", "workers of node 1"]
    for axes in figure.axes[:2]:
        tops = [part for part in axes.collections if isinstance(part, PolyCollection)]
        assert len(tops) == len(STATES)
        assert max(path.vertices[:, 1].max() for path in tops[-1].get_paths()) == pytest.approx(100)
    text = texts(figure)
    assert "work" in text
    assert "parked" not in text  # no worker sleeps in this run


def test_nodes_that_are_many_are_drawn_together() -> None:
    _, over_time = watched("a mesh")
    titles = [axes.get_title("left") for axes in utilisation(over_time).axes]
    assert [title for title in titles if "workers" in title] == ["all workers"]


@pytest.mark.parametrize("draw", [timeline, utilisation, queue_lengths])
def test_a_run_that_was_not_asked_for_it_has_no_figure_over_time(draw: Any) -> None:
    with pytest.raises(InputError, match=r"got None; expected result.over_time of ns.run\(..., over_time=True\)"):
        draw(None)


def test_a_curve_keeps_the_mean() -> None:
    _, over_time = watched("two nodes")
    values = over_time.queue_length.sum(axis=0)
    times, means = curve(over_time, values, 1)
    assert len(means) <= POINTS + 1
    area = (np.diff(times) * means[:-1]).sum()
    assert area == pytest.approx((np.diff(over_time.edges_ps) * values).sum())


@pytest.mark.parametrize("name", ["two nodes", "a mesh"])
def test_each_kind_of_resource_in_use_has_a_panel_in_percent_of_capacity(name: str) -> None:
    _, over_time = watched(name)
    shown = {axes.get_title("left"): axes for axes in utilisation(over_time).axes}
    used = {r.kind for r, load in zip(over_time.resources, over_time.resource_load, strict=True) if load.any()}
    assert {title for title in shown if "workers" not in title} == {TITLES[kind] for kind in used}
    frame = over_time.resource_load_frame()
    for kind in used:
        lines = {str(line.get_label()): line for line in shown[TITLES[kind]].lines}
        for resource in over_time.resources:
            if resource.name in lines:
                share = frame[frame["name"] == resource.name]["share"].to_numpy()
                _, expected = curve(over_time, 100 * share, 1)
                np.testing.assert_allclose(lines[resource.name].get_ydata(), expected)


def test_of_many_links_the_busiest_are_drawn_and_the_mean_of_the_others() -> None:
    _, over_time = watched("a mesh")
    lines = resource_loads(over_time)[TITLES[ResourceKind.LINK]]
    load = over_time.resource_load
    links = [at for at, resource in enumerate(over_time.resources) if resource.kind == ResourceKind.LINK]
    assert len(links) > MOST_LINES_OF_LOADS
    share = {
        over_time.resources[at].name: load[at] @ np.diff(over_time.edges_ps) / over_time.resources[at].capacity
        for at in links
    }
    busiest = sorted(share, key=lambda name: -share[name])[:BUSIEST]
    *named, others = lines
    assert set(named) == set(busiest)
    assert others == f"mean of {len(links) - BUSIEST} others"
    rest = sum(value for name, value in share.items() if name not in busiest) / (len(links) - BUSIEST)
    assert lines[others] @ np.diff(over_time.edges_ps) == pytest.approx(100 * rest)


@pytest.mark.parametrize("name", ["one worker", "no queues"])
def test_nothing_is_said_of_loads_where_nothing_is_moved(name: str) -> None:
    assert resource_loads(watched(name)[1]) == {}


@pytest.mark.parametrize("name", ["two nodes", "four nodes"])
def test_each_queue_has_a_row_of_its_lengths(name: str) -> None:
    _, over_time = watched(name)
    above, below = queue_lengths(over_time).axes[:2]
    for queue, row in painted_rows(below, over_time.plan.steal.queues["home"]):
        np.testing.assert_array_equal(row, over_time.queue_length[queue])
    assert len(above.lines) == over_time.plan.machine.nodes


def test_queues_that_stay_empty_are_said_to() -> None:
    assert "no task ever waits in a queue" in texts(queue_lengths(watched("no queues")[1]))


@pytest.mark.parametrize("name", ["two nodes", "four nodes", "a mesh"])
def test_traffic_is_drawn_on_every_link_and_node(name: str) -> None:
    result, over_time = watched(name)
    machine = over_time.plan.machine
    loads = loads_of(machine, result)
    assert loads.controller_bytes.sum() == result.node_bytes.sum()
    assert loads.link_bytes.tolist() == link_bytes(machine, result).tolist()
    assert loads.controller_percent.max() / 100 == pytest.approx(result.counters["imc_busy_max"])
    assert loads.link_percent.max() / 100 == pytest.approx(result.counters["link_busy_max"])
    figure = node_traffic(machine, result)
    arrows = figure.findobj(FancyArrowPatch)
    assert len(arrows) == len(machine.links.source)
    busiest = int(loads.link_percent.argmax())
    assert max(arrow.get_linewidth() for arrow in arrows) == arrows[busiest].get_linewidth()
    assert figure.axes[1].get_ylim()[1] == max(1, loads.largest_percent)
    assert (
        node_traffic(machine, result, 2 * loads.largest_percent + 2).axes[1].get_ylim()[1] > loads.largest_percent + 1
    )
    text = texts(figure)
    assert f"{machine.name}: " in text
    assert all((f"node {node}" if machine.nodes <= 16 else str(node)) in text for node in range(machine.nodes))
    if machine.nodes <= 4:
        assert f"controller {loads.controller_percent[0]:.1f} %" in text
        assert f"{loads.link_percent[busiest]:.1f} %" in text


def test_how_busy_the_cores_of_a_node_are_is_what_they_execute() -> None:
    """A node's busy share is the time in which its workers execute tasks, as a share of all time of its workers."""
    result, over_time = watched("a mesh")
    machine = over_time.plan.machine
    loads = loads_of(machine, result)
    executed = np.zeros(machine.nodes)
    for worker, node in enumerate(result.per_worker["node"].tolist()):
        parts = ("work_local_ps", "inflation_numa_ps", "inflation_smt_ps", "inflation_contention_ps")
        executed[node] += sum(int(result.per_worker[part][worker]) for part in parts)
    counts = np.bincount(result.per_worker["node"], minlength=machine.nodes)
    used = counts > 0
    np.testing.assert_allclose(
        loads.busy_percent[used], 100 * executed[used] / (counts[used] * result.counters["makespan_ps"])
    )
    assert np.isnan(loads.busy_percent[~used]).all()
    of_row = replace(result, per_worker={})  # a row of a results table has no times of workers
    assert np.isnan(loads_of(machine, of_row).busy_percent).all()
    node = int(np.flatnonzero(used)[0])
    assert f"{loads.busy_percent[node]:.0f} %" in texts(node_traffic(machine, result))


def test_without_remote_bytes_links_are_idle() -> None:
    result, over_time = watched("one worker")
    assert not loads_of(over_time.plan.machine, result).link_percent.any()
    assert "0 B moved" in texts(node_traffic(over_time.plan.machine, result))
