"""A machine as text: quantities with units, and the summary for a terminal. A node is a NUMA node."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from numasim.machine.topology import Coherence, IntArray, Machine
from numasim.parts.base import as_list
from numasim.parts.models.nodes_model import LONE
from numasim.parts.unit_factors import GIGA, MILLION, PS_PER_NS

MATRIX_NODES = 16  # up to this many nodes the latencies are printed as a matrix
UNITS = {"core": "core", "llc": "last-level cache", "node": "node", "socket": "socket"}
WITHIN = {kind: f"within a {unit}" for kind, unit in UNITS.items()}
_BINARY = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def describe(machine: Machine) -> str:
    """Return a summary of the machine in lines of text."""
    return "\n".join(
        f"{name:<11}{text}"
        for name, text in (
            ("machine", machine.name),
            ("shape", shape(machine)),
            *((("nodes" if not at else ""), text) for at, text in enumerate(nodes(machine))),
            ("caches", caches(machine)),
            ("memory", memory(machine)),
            ("clock", clock(machine)),
            *([("core", core_rate(machine.core_steps_per_s))] if machine.core_steps_per_s else []),
            ("latency", latency(machine)),
            *(("", row) for row in _matrix(machine)),
            ("links", links(machine)),
            ("coherence", coherence(machine)),
        )
    )


def shape(machine: Machine) -> str:
    """Return the numbers of sockets, nodes, cores and hardware threads as text."""
    return ", ".join(
        f"{count} {unit}{'s' * (count != 1)}"
        for count, unit in (
            (machine.sockets, "socket"),
            (machine.nodes, "node"),
            (machine.cores, "core"),
            (machine.threads, "hardware thread"),
        )
    )


def nodes(machine: Machine) -> list[str]:
    """Return a line on socket, cores and memory for each group of equal nodes; none if all nodes are equal."""
    texts = [_node(machine, node) for node in range(machine.nodes)]
    alike = {text: [node for node, other in enumerate(texts) if other == text] for text in dict.fromkeys(texts)}
    plain = len({text.partition(", ")[2] for text in texts}) == 1 and (machine.speed_of_core == LONE).all()
    return [] if plain else [f"{as_list(numbers)}: {text}" for text, numbers in alike.items()]


def _node(machine: Machine, node: int) -> str:
    held = size(int(machine.memory_bytes[node])) + " of memory" if machine.memory_bytes[node] else "no memory"
    return f"socket {machine.socket_of_node[node]}, {core_kinds(machine, node) or 'no cores'}, {held}"


def core_kinds(machine: Machine, node: int) -> str:
    """Return the cores of a node by kind, such as ``8 cores x 2 threads + 16 cores at 62 %``; empty without cores."""
    threads = np.bincount(machine.core_of_thread, minlength=machine.cores)
    kinds: dict[tuple[int, int], int] = {}
    for core in np.flatnonzero(machine.node_of_core == node).tolist():
        kind = int(threads[core]), int(machine.speed_of_core[core])
        kinds[kind] = kinds.get(kind, 0) + 1
    return " + ".join(_kind(count, *kind) for kind, count in kinds.items())


def _kind(count: int, threads: int, speed_ppm: int) -> str:
    several = f" x {threads} threads" if threads > 1 else ""
    slower = f" at {_short(Fraction(speed_ppm, 10_000))} %" if speed_ppm != LONE else ""
    return f"{count} core{'s' * (count != 1)}{several}{slower}"


def caches(machine: Machine) -> str:
    """Return the cache sizes and the number of cores that share the last level."""
    sizes = machine.caches
    private = ", ".join(f"{name} {size(b)}" for name, b in (("L1", sizes.l1_bytes), ("L2", sizes.l2_bytes)) if b)
    if not sizes.llc_bytes:
        return f"{private or 'none'}; no shared cache"
    sharers = np.bincount(machine.llc_of_core)
    whose = f"shared by {_span(sharers, str)} cores" if sharers.max() > 1 else "for each core"
    last = llc_size(machine, np.arange(machine.cache_domains))
    return "; ".join(part for part in (private, f"last level {last} {whose}") if part)


def llc_size(machine: Machine, domains: IntArray) -> str:
    """Return the range of the sizes of the last-level caches of ``domains``."""
    return _span(np.array(machine.llc_bytes_of_domain)[domains], size)


def memory(machine: Machine) -> str:
    """Return the ranges of memory and of the controller's bandwidth, of nodes with memory."""
    has_memory = machine.memory_bytes > 0
    sizes, rates = machine.memory_bytes[has_memory], machine.imc_bytes_per_s[has_memory]
    return f"{_span(sizes, size)} and {_span(rates, rate)} a node"


def clock(machine: Machine) -> str:
    """Return the base clock, and each turbo clock with the number of busy cores of a socket up to which it holds."""
    given = machine.clock
    steps = [f"{_short(Fraction(int(hz), GIGA))} to {n} busy" for n, hz in zip(given.active, given.hz, strict=True)]
    return f"{_short(Fraction(given.base_hz, GIGA))} GHz" + (f"; turbo {', '.join(steps)}" if steps else "")


def core_rate(steps_per_s: int) -> str:
    """Return the rate of a core as text, such as 250.4 million steps per second."""
    return f"{steps_per_s / MILLION:.1f} million steps per second"


def latency(machine: Machine) -> str:
    """Return the ranges of local latency, remote latency and NUMA factor (remote over local), from nodes with cores."""
    local = machine.latency_ps.diagonal()
    reads, holds = machine.cores_of_node > 0, machine.memory_bytes > 0
    local_text = f"local {_span(local[reads], time)}"
    other = ~np.eye(machine.nodes, dtype=bool) & reads[:, None] & holds
    if not other.any():
        return local_text
    factor = (machine.latency_ps / np.maximum(local, 1)[:, None])[other]
    factors = sorted({f"{value:.2f}" for value in (factor.min(), factor.max())})
    return f"{local_text}, remote {_span(machine.latency_ps[other], time)}, factor {' to '.join(factors)}"


def links(machine: Machine) -> str:
    """Return the number of directed links and the ranges of their bandwidth and latency."""
    given = machine.links
    if not len(given.source):
        return "none"
    furthest = int(np.diff(given.route_ptr).max())
    return (
        f"{len(given.source)} directed, each {_span(given.bytes_per_s, rate)} and +{_span(given.latency_ps, time)}, "
        f"at most {furthest} on a route"
    )


def coherence(machine: Machine) -> str:
    """Return the times of a cache line between two cores, and the bytes of snoop messages."""
    times = machine.coherence
    if isinstance(times, Coherence):
        levels = [(where, times.within_ps(kind)) for kind, where in WITHIN.items()]
        texts = [f"{where} {time(level_ps)}" for where, level_ps in levels if level_ps is not None]
        if machine.sockets > 1:
            across = " or ".join(time(each_ps) for each_ps in times.cross_socket_ps)
            texts.append(f"across sockets {across}{' by distance' * (len(times.cross_socket_ps) > 1)}")
        lines = f"a line {', '.join(texts)}"
    else:
        lines = f"a line {_span(times, time)}, measured for each pair of {machine.cores} cores"
    if machine.snoop is None:
        return lines
    question, answer = machine.snoop.request_bytes, machine.snoop.answer_bytes
    return f"{lines}; all nodes are asked, {question} B a question and {answer} B an answer"


def size(count: int) -> str:
    """Return bytes in the largest binary unit that gives a whole number, such as 256 KiB."""
    for unit, factor in _BINARY:
        if count >= factor and count % factor == 0:
            return f"{count // factor} {unit}"
    return f"{count} B"


def time(time_ps: int) -> str:
    """Return picoseconds as nanoseconds, such as 77.3 ns."""
    return f"{_short(Fraction(int(time_ps), PS_PER_NS))} ns"


def rate(bytes_per_s: int) -> str:
    """Return bytes per second in units of 10**9, to four digits, such as 42.6 GB/s."""
    return f"{bytes_per_s / GIGA:.4g} GB/s"


def _short(value: Fraction) -> str:
    return f"{float(value):.3f}".rstrip("0").rstrip(".")


def _span(values: IntArray, text: Callable[[int], str]) -> str:
    least, most = text(int(values.min())), text(int(values.max()))
    return least if least == most else f"{least} to {most}"


def _matrix(machine: Machine) -> list[str]:
    if not 1 < machine.nodes <= MATRIX_NODES:
        return []
    cells = [[_short(Fraction(int(ps), PS_PER_NS)) for ps in row] for row in machine.latency_ps]
    width = max(len(cell) for row in cells for cell in row)
    return ["  ".join(cell.rjust(width) for cell in row) for row in cells]
