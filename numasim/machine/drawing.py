"""A machine as a picture: sockets, NUMA nodes with cores, caches, memory controller and memory, and the links.

Colours are the palette of Okabe and Ito, which readers with any colour vision can tell apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from numasim.machine import description
from numasim.machine.topology import IntArray, Machine
from numasim.parts.models.interconnect import mesh
from numasim.parts.models.nodes_model import LONE

Box = tuple[float, float, float, float]  # left, bottom, width, height in inches
Points = npt.NDArray[np.float64]

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SKY, ORANGE, YELLOW, GREEN, BLUE, VERMILION = "#56B4E9", "#E69F00", "#F0E442", "#009E73", "#0072B2", "#D55E00"
PALE = "#CFE9F8"  # a tint of the colour of cores, for slower cores
GREY, WHITE, BLACK = "#ECECEC", "#FFFFFF", "#000000"
HEADER, FOOTER, EDGE = 1.2, 0.3, 0.1  # inches
BAR, GAP = 0.27, 0.06  # inches, heights of the bars and squares in a node
LEAST_WIDTH = 7.5  # room for the heading and the legend
LARGEST_CORE = 0.55
MOST_CORES = 16  # cores that are drawn one by one; more are shown as a number
MOST_CACHES = 12  # last-level caches of a node that are drawn one by one
SHORT = 28  # characters that fit beside the name of a node
LETTERS = 14.5  # characters of the heading in an inch
MOST_ALIKE, MOST_LABELS = 4, 12  # links that carry a label; of more links the heading gives the range


def draw(machine: Machine) -> Figure:
    """Return a figure of the topology; the figure belongs to no window and is saved with ``savefig``."""
    from matplotlib.figure import Figure

    layout = lay_out(machine)
    width, height = layout.extent
    width = max(width, LEAST_WIDTH)
    figure = Figure(figsize=(width, height + HEADER + FOOTER))
    axes = figure.add_axes((0, 0, 1, 1))
    left = (width - layout.extent[0]) / 2
    axes.set_xlim(-left, width - left)
    axes.set_ylim(-FOOTER, height + HEADER)
    axes.set_axis_off()
    _draw_sockets(axes, machine, layout)
    _draw_links(axes, machine, layout)
    for node in range(machine.nodes):
        (_draw_node if layout.detailed else _draw_tile)(axes, machine, layout, node)
    _draw_heading(axes, machine, 2 * EDGE - left)
    _draw_legend(axes, machine, layout)
    return figure


def _box(axes: Axes, box: Box, fill: str, line: str = BLACK, z: int = 3) -> None:
    from matplotlib.patches import FancyBboxPatch

    x, y, width, height = box
    style = "round,pad=0,rounding_size=0.05"
    axes.add_patch(
        FancyBboxPatch((x, y), width, height, boxstyle=style, facecolor=fill, edgecolor=line, linewidth=0.8, zorder=z)
    )


def _text(axes: Axes, x: float, y: float, text: str, size: float = 8, **style: object) -> None:
    options = {"ha": "center", "va": "center", "zorder": 6, "color": BLACK, **style}
    axes.text(x, y, text, fontsize=size, **options)  # type: ignore[arg-type]


def _draw_heading(axes: Axes, machine: Machine, left: float) -> None:
    top = axes.get_ylim()[1]
    _text(axes, left, top - 0.25, machine.name, 14, ha="left", weight="bold")
    lines = [
        description.shape(machine),
        f"caches: {description.caches(machine)}; memory: {description.memory(machine)}",
        f"latency: {description.latency(machine)}",
        f"links: {description.links(machine)}",
    ]
    for index, line in enumerate(lines):
        room = axes.get_figure().get_figwidth() * LETTERS  # type: ignore[union-attr]
        _text(axes, left, top - 0.52 - 0.2 * index, line, 8.5 * min(1, room / len(line)), ha="left")


def _draw_sockets(axes: Axes, machine: Machine, layout: Layout) -> None:
    pad_x, pad_y = min(0.18, layout.gap_x / 3), min(0.3, layout.gap_y / 2.2)
    reach = np.array([layout.width, layout.height]) / 2
    for socket in range(machine.sockets):
        centres = layout.centre[machine.socket_of_node == socket]
        low = centres.min(axis=0) - reach - pad_x
        high = centres.max(axis=0) + reach
        high += np.array([pad_x, pad_y])  # the name of the socket stands above its nodes
        _box(axes, (*low, *(high - low)), GREY, "#999999", 1)
        _text(axes, low[0] + 0.08, high[1] - pad_y / 2, f"socket {socket}", 8, ha="left", color="#444444")


def _draw_tile(axes: Axes, machine: Machine, layout: Layout, node: int) -> None:
    x, y = layout.centre[node] - (layout.width / 2, layout.height / 2)
    _box(axes, (x, y, layout.width, layout.height), SKY, BLUE)
    _text(axes, x + layout.width / 2, y + layout.height / 2, str(node), 9)


def _draw_node(axes: Axes, machine: Machine, layout: Layout, node: int) -> None:
    """Draw a node from top to bottom: its name, its cores, the last-level cache, the controller and the memory."""
    x, y = layout.centre[node] - (layout.width / 2, layout.height / 2)
    width, top = layout.width - 2 * EDGE, y + layout.height - 0.14
    _box(axes, (x, y, layout.width, layout.height), WHITE, BLUE, 2)
    _text(axes, x + EDGE, top, f"node {node}", 8.5, ha="left", weight="bold")
    cores = np.nonzero(machine.node_of_core == node)[0]
    if len(cores) <= MOST_CORES:
        kinds = description.core_kinds(machine, node) or "no cores"
        _text(axes, x + EDGE + width, top, kinds, 7.5 if len(kinds) < SHORT else 6, ha="right")
    if machine.memory_bytes[node]:
        _draw_memory(axes, machine, node, (x + EDGE, y + EDGE, width, BAR))
    else:
        _text(axes, x + layout.width / 2, y + EDGE + BAR / 2, "no memory", 7.5)
    level = y + EDGE + BAR + GAP
    if not len(cores):
        return
    if machine.caches.llc_bytes:
        _draw_last_level(axes, machine, cores, (x + EDGE, level, width, BAR))
        level += BAR + GAP
    _draw_cores(axes, machine, node, cores, (x + EDGE, level, width, top - 0.16 - level))


def _draw_memory(axes: Axes, machine: Machine, node: int, box: Box) -> None:
    x, y, width, height = box
    half = (width - GAP) / 2
    controller = f"IMC {description.rate(int(machine.imc_bytes_per_s[node]))}"
    _draw_bar(axes, (x, y, half, height), ORANGE, controller)
    _draw_bar(axes, (x + half + GAP, y, half, height), YELLOW, description.size(int(machine.memory_bytes[node])))


def _draw_bar(axes: Axes, box: Box, fill: str, text: str) -> None:
    _box(axes, box, fill)
    _text(axes, box[0] + box[2] / 2, box[1] + box[3] / 2, text, 7.5)


def _draw_last_level(axes: Axes, machine: Machine, cores: IntArray, box: Box) -> None:
    """Draw the last-level caches of a node's cores side by side, and a text across them."""
    x, y, width, height = box
    domains = np.unique(machine.llc_of_core[cores])
    alone = len(domains) == len(cores) > 1  # each core has its own cache: one bar for all caches
    pieces = 1 if alone else min(len(domains), MOST_CACHES)
    for piece in range(pieces):
        _box(axes, (x + width * piece / pieces, y, width / pieces, height), GREEN)
    plain = {"boxstyle": "square,pad=0.1", "facecolor": GREEN, "edgecolor": "none"} if pieces > 1 else None
    _text(axes, x + width / 2, y + height / 2, _llc_text(machine, domains), 7.5, color=WHITE, bbox=plain)


def _llc_text(machine: Machine, domains: IntArray) -> str:
    sharers = np.isin(machine.llc_of_core, domains)
    nodes = len(set(machine.node_of_core[sharers].tolist()))
    each = int(np.bincount(machine.llc_of_core)[domains].max()) == 1
    whose = ", each core" if each else ", not of this node alone" if nodes > 1 else ""
    if nodes > 1 and len(set(machine.socket_of_node[machine.node_of_core[sharers]].tolist())) == 1:
        whose = ", whole socket" if len(domains) == 1 else whose
    count = f"{len(domains)} x " if len(domains) > 1 and not each else ""
    return f"{count}last-level cache {description.llc_size(machine, domains)}{whose}"


def _draw_cores(axes: Axes, machine: Machine, node: int, numbers: IntArray, box: Box) -> None:
    """Draw cores as squares, each cut into its hardware threads, or, if there are many, one block with their number."""
    cores = len(numbers)
    if cores > MOST_CORES:
        _draw_bar(axes, box, SKY, description.core_kinds(machine, node))
        return
    threads = np.bincount(machine.core_of_thread, minlength=machine.cores)
    left, bottom, width, height = box
    rows = max((r for r in range(1, 5) if cores % r == 0), key=lambda r: min(width * r / cores, height / r))
    columns = cores // rows
    side = min(width / columns, height / rows, LARGEST_CORE)
    left += (width - side * columns) / 2
    top = bottom + (height + side * rows) / 2
    for core in range(cores):
        x, y = left + core % columns * side, top - (core // columns + 1) * side
        fill = SKY if machine.speed_of_core[numbers[core]] == LONE else PALE
        x, y, inside = x + GAP / 2, y + GAP / 2, side - GAP
        _box(axes, (x, y, inside, inside), fill)
        for cut in range(1, threads[numbers[core]]):
            at = x + inside * cut / threads[numbers[core]]
            axes.plot([at, at], [y, y + inside], color=BLACK, linewidth=0.6, linestyle=":", zorder=4)


def _draw_links(axes: Axes, machine: Machine, layout: Layout) -> None:
    links = machine.links
    index = {pair: i for i, pair in enumerate(zip(links.source.tolist(), links.target.tolist(), strict=True))}
    pairs = sorted({(min(pair), max(pair)) for pair in index})
    alike = len(set(zip(links.bytes_per_s.tolist(), links.latency_ps.tolist(), strict=True))) == 1
    labelled = layout.detailed and len(pairs) <= (MOST_ALIKE if alike else MOST_LABELS)
    for a, b in pairs:
        ends = between(layout, a, b)
        curvature = bend(layout, a, b, ends)
        _draw_arrow(axes, ends, (b, a) in index, (a, b) in index, curvature)
        if labelled:
            _draw_label(axes, ends, curvature, _link_text(machine, index.get((a, b)), index.get((b, a))))


def between(layout: Layout, a: int, b: int) -> Points:
    """Return [2, 2] the ends of the line between the boxes of two nodes; the line lies between the boxes' centres."""
    start, end = layout.centre[a], layout.centre[b]
    reach = np.array([layout.width, layout.height]) / 2
    with np.errstate(divide="ignore"):
        share = float((reach / abs(end - start)).min())
    return np.array([start + share * (end - start), end - share * (end - start)])


def bend(layout: Layout, a: int, b: int, ends: Points) -> float:
    """Return the curvature that leads a link around nodes: twice the arc's height over its length, 0 if straight."""
    start, along = layout.centre[a], layout.centre[b] - layout.centre[a]
    others = np.delete(layout.centre, [a, b], axis=0) - start
    share = others @ along / (along @ along)
    away = abs(others[:, 0] * along[1] - others[:, 1] * along[0]) / np.hypot(*along)
    blocked = (share > 0) & (share < 1) & (away < min(layout.width, layout.height) / 2)
    sag = min(layout.width, layout.height) / 2 + EDGE  # the arc passes the boxes in between, at any length of the link
    return 2 * sag / float(np.hypot(*(ends[1] - ends[0]))) if blocked.any() else 0.0


def _draw_arrow(axes: Axes, ends: Points, back: bool, forth: bool, bend: float) -> None:
    from matplotlib.patches import FancyArrowPatch

    style = {(True, True): "<|-|>", (False, True): "-|>", (True, False): "<|-"}[back, forth]
    axes.add_patch(
        FancyArrowPatch(
            tuple(ends[0]),
            tuple(ends[1]),
            arrowstyle=style,
            connectionstyle=f"arc3,rad={bend}",
            mutation_scale=9,
            linewidth=1.5,
            color=VERMILION,
            shrinkA=1,
            shrinkB=1,
            zorder=2,
        )
    )


def _draw_label(axes: Axes, ends: Points, bend: float, text: str) -> None:
    """Write beside the middle of a link; for a diagonal link nearer to the first end, so that labels do not overlap."""
    along = ends[1] - ends[0]
    slanting = bool((abs(along) > 0.3).all()) and not bend
    x, y = ends[0] + (0.28 if slanting else 0.5) * along + bend / 2 * np.array([along[1], -along[0]])
    _text(axes, x, y, text, 7, bbox={"boxstyle": "round,pad=0.15", "facecolor": WHITE, "edgecolor": "none"})


def _link_text(machine: Machine, forth: int | None, back: int | None) -> str:
    rates, times = machine.links.bytes_per_s, machine.links.latency_ps
    links = [link for link in (forth, back) if link is not None]
    texts = [f"{description.rate(rates[link])}, +{description.time(times[link])}" for link in links]
    if len(set(texts)) == 1:
        return texts[0]
    return "\n".join(f"{way} {text}" for way, text in zip("→←", texts, strict=True))


def _draw_legend(axes: Axes, machine: Machine, layout: Layout) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries = [("core", SKY), ("memory controller (IMC)", ORANGE), ("memory", YELLOW)]
    if machine.caches.llc_bytes:
        entries.insert(1, ("last-level cache", GREEN))
    if (machine.speed_of_core < LONE).any():
        entries.insert(1, ("slower core", PALE))
    shown = entries if layout.detailed else [("node", SKY)]
    handles: list[Patch | Line2D] = [Patch(facecolor=fill, edgecolor=BLACK, label=name) for name, fill in shown]
    if len(machine.links.source):
        handles.append(Line2D([], [], color=VERMILION, linewidth=1.5, label="link"))
    axes.legend(
        handles=handles, loc="lower center", bbox_to_anchor=(0.5, 0.0), ncol=len(handles), frameon=False, fontsize=8
    )


# ---- The positions of the nodes: a grid that shows meshes, squares and ladders as such -------------------------------

MARGIN = 0.45  # inches around the grid, room for the outlines of the sockets


@dataclass(frozen=True)
class Layout:
    """Node boxes on a grid, in inches; ``centre`` is [nodes, 2], x to the right and y upwards from the lower left."""

    centre: Points
    width: float  # width of a node box
    height: float  # height of a node box
    gap_x: float  # between node boxes side by side
    gap_y: float  # between rows of node boxes
    extent: tuple[float, float]  # width and height of the whole grid with its margin
    detailed: bool  # whether node boxes show cores, caches and memory


def lay_out(machine: Machine) -> Layout:
    """Return the places of the nodes: a mesh row by row; other nodes in columns, so that sockets stay together."""
    grid = mesh_shape(machine)
    rows, columns = grid or _grid(machine)
    node = np.arange(machine.nodes)
    row, column = (node // columns, node % columns) if grid else _by_socket(machine, rows)
    width, height, gap_x, gap_y, detailed = _sizes(machine.nodes)
    x = MARGIN + width / 2 + column * (width + gap_x)
    y = MARGIN + height / 2 + (rows - 1 - row) * (height + gap_y)
    extent = 2 * MARGIN + columns * (width + gap_x) - gap_x, 2 * MARGIN + rows * (height + gap_y) - gap_y
    return Layout(np.column_stack((x, y)), width, height, gap_x, gap_y, extent, detailed)


def mesh_shape(machine: Machine) -> tuple[int, int] | None:
    """Return (rows, columns) of the mesh that has exactly the machine's links; None if there is no such mesh."""
    pairs = set(zip(machine.links.source.tolist(), machine.links.target.tolist(), strict=True))
    for rows in range(math.isqrt(machine.nodes), 1, -1):
        columns, rest = divmod(machine.nodes, rows)
        for shape in ((rows, columns), (columns, rows)):
            if not rest and pairs == {pair for a, b in mesh(*shape) for pair in ((a, b), (b, a))}:
                return shape
    return None


def _by_socket(machine: Machine, rows: int) -> tuple[IntArray, IntArray]:
    """Return ([nodes] row, [nodes] column): columns of ``rows`` nodes, or a column a socket if sockets differ."""
    place = np.empty(machine.nodes, np.int64)
    place[np.argsort(machine.socket_of_node, kind="stable")] = np.arange(machine.nodes)
    if not _is_uneven(machine):
        return place % rows, place // rows
    first = np.searchsorted(np.sort(machine.socket_of_node), machine.socket_of_node)
    return place - first, machine.socket_of_node


def _is_uneven(machine: Machine) -> bool:
    return len(set(np.bincount(machine.socket_of_node).tolist())) > 1


def _grid(machine: Machine) -> tuple[int, int]:
    if _is_uneven(machine):
        return int(np.bincount(machine.socket_of_node).max()), machine.sockets
    per_socket = machine.nodes // machine.sockets
    if machine.nodes > 8:
        rows = math.isqrt(machine.nodes)
    elif per_socket > 1 and machine.sockets > 1:
        rows = per_socket
    else:
        rows = 1 if machine.nodes <= 2 else 2
    return rows, -(-machine.nodes // rows)


def _sizes(nodes: int) -> tuple[float, float, float, float, bool]:
    if nodes <= 8:
        return 2.5, 2.1, 1.7, 1.2, True
    if nodes <= 16:
        return 2.3, 1.9, 0.9, 0.8, True
    return 0.62, 0.62, 0.46, 0.46, False
