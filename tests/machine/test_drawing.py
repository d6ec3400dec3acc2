from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import numasim as ns
from numasim.machine.build_machine import build
from numasim.machine.drawing import draw, lay_out, mesh_shape
from numasim.machine.topology import Machine
from numasim.parts import catalog
from numasim.parts.models.machine_model import MachineSpec

if TYPE_CHECKING:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

NAMES = catalog.names("machines")


def paint(figure: Figure) -> FigureCanvasAgg:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # half a second of every collection of tests

    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    return canvas


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


@pytest.mark.parametrize("name", NAMES)
def test_node_boxes_do_not_overlap_and_stay_inside(machines: dict[str, Machine], name: str) -> None:
    layout = lay_out(machines[name])
    half = np.array([layout.width, layout.height]) / 2
    assert (layout.centre - half >= 0).all()
    assert (layout.centre + half <= layout.extent).all()
    for a, b in combinations(range(len(layout.centre)), 2):
        assert (abs(layout.centre[a] - layout.centre[b]) >= 2 * half - 1e-9).any()


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("tilepro64", (8, 8)),
        ("synthetic-16x64", (4, 4)),
        ("opteron-8380-4s", (2, 2)),
        ("opteron-875-8s", None),
        ("xeon-6130-4s", None),
        ("xeon-e5-2620-2s", None),
    ],
)
def test_meshes_are_recognised(machines: dict[str, Machine], name: str, shape: tuple[int, int] | None) -> None:
    assert mesh_shape(machines[name]) == shape


@pytest.mark.parametrize("name", NAMES)
def test_picture_names_every_node_and_no_text_leaves_it(machines: dict[str, Machine], name: str) -> None:
    figure = draw(machines[name])
    canvas = paint(figure)
    words = texts(figure)
    label = "{}" if machines[name].nodes > 16 else "node {}"
    assert [label.format(node) for node in range(machines[name].nodes) if label.format(node) not in words] == []
    for text in figure.axes[0].texts:
        box = text.get_window_extent(canvas.get_renderer())  # type: ignore[no-untyped-call]
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1


def test_links_carry_bandwidth_and_latency(machines: dict[str, Machine]) -> None:
    assert "→ 22 GB/s, +47.4 ns\n← 22 GB/s, +47.8 ns" in texts(draw(machines["xeon-e5-2620-2s"]))
    assert texts(draw(machines["opteron-6161-2s"])).count("6.4 GB/s, +55 ns") == 2


@pytest.mark.parametrize("nodes", [1, 3, 5, 7, 12, 20])
def test_one_way_rings_of_any_size_are_drawn(document: Callable[..., dict[str, Any]], nodes: int) -> None:
    ring = [{"from": a, "to": (a + 1) % nodes, "bandwidth_gbs": 1} for a in range(nodes) if nodes > 1]
    figure = draw(build(MachineSpec.model_validate(document(sockets=nodes, links=ring))))
    paint(figure)
    assert sum(word.startswith("socket ") for word in texts(figure)) == nodes


def test_a_notebook_shows_the_picture() -> None:
    page = ns.Machine.ring(2)._repr_html_()
    assert "ring-2: 2 sockets, 2 nodes, 16 cores" in page
    assert page.count("<svg") == 1
    assert "<?xml" not in page
    assert repr(ns.Machine.ring(2)) == "Machine('ring-2': 2 sockets, 2 nodes, 16 cores, 16 hardware threads)"
