"""Wrong specifications: a run in ``run.yaml``, its machine in ``machine.yaml``, or a sweep; each with its place.

Rules that one part alone can break are tested without files, such as in ``tests/machine/test_machine_spec.py``.
"""

from __future__ import annotations

from bad_input_type import BadInput, text_at, together
from small_inputs import TOY_MACHINE, TOY_RUN

SWEEP = TOY_RUN.replace("workers: 24\n", "") + "sweep:\n"  # the lines of the axes follow, from line 5 on
Files = dict[str, str]
RUN_COMMAND = ("run", "run.yaml")
SWEEP_COMMAND = ("sweep", "run.yaml", "-o", "out")


def bad(name: str, place: str, says: tuple[str, ...], files: Files, command: tuple[str, ...] = RUN_COMMAND) -> BadInput:
    """Return the bad input with ``files`` in place of those of a valid run; its sentence begins with ``place``."""
    texts = {"machine.yaml": TOY_MACHINE, "run.yaml": TOY_RUN, **files}
    make = together(*(text_at(file, text) for file, text in texts.items()))
    return BadInput(f"specification: {name}", command, make, (f"numasim: {place}", *says))


def edited(text: str, line: int, new: str) -> str:
    """Return ``text`` with ``new`` in the line number ``line``, or without this line."""
    lines = text.splitlines(keepends=True)
    lines[line - 1] = new + "\n" if new else ""
    return "".join(lines)


def run(name: str, line: int, new: str, column: int, *says: str) -> BadInput:
    """Return a run whose line number ``line`` reads ``new``."""
    return bad(name, f"run.yaml:{line}:{column}", says, {"run.yaml": edited(TOY_RUN + "\n", line, new)})


def machine(name: str, line: int, new: str, column: int, *says: str) -> BadInput:
    """Return a machine whose line number ``line`` reads ``new``."""
    return bad(name, f"machine.yaml:{line}:{column}", says, {"machine.yaml": edited(TOY_MACHINE, line, new)})


def steal(name: str, strategy: str, column: int, *says: str) -> BadInput:
    """Return a run with a wrong strategy."""
    return run(name, 3, f"strategy: {strategy}", column, *says)


def sweep(name: str, axes: str, place: str, *says: str) -> BadInput:
    """Return a sweep with the text ``axes`` below ``sweep:``."""
    return bad(name, f"run.yaml:{place}", says, {"run.yaml": SWEEP + axes}, SWEEP_COMMAND)


def file(name: str, data: str, place: str, *says: str) -> BadInput:
    """Return the bad input in which the file of a run has the contents ``data``, which is no run."""
    return bad(name, f"run.yaml{place}", says, {"run.yaml": data})


def option(name: str, text: str, *says: str) -> BadInput:
    """Return a run with a wrong ``--set``."""
    return bad(name, f"--set {text}", says, {}, (*RUN_COMMAND, "--set", text))


SPECIFICATIONS = [
    run("misspelt machine", 1, "machine: xeon-e5-2602-2s", 10, "no machine", "did you mean 'xeon-e5-2620-2s'?"),
    run("missing machine", 1, "", 1, "machine: this field is missing", "the name of a machine, a path or a mapping"),
    bad("missing workers", "run.yaml:1:1", ("workers: this field is missing",), {"run.yaml": edited(TOY_RUN, 4, "")}),
    run("too many workers", 4, "workers: 25", 10, "25 workers", "24 hardware threads", "expected 1 to 24"),
    run("list for a mapping", 2, "workload: [fib]", 11, "workload: got a list", "such as {name: matmul, n: 256}"),
    run("missing graph", 2, "workload: {file: grpah.json}", 18, "no file 'grpah.json'", "a task graph in JSON"),
    run("faults", 5, "runtime: {costs: {faults_per_s: 281474976710656}}", 33, "expected at most 140737488355328"),
    run("missing strategy file", 3, "strategy: ./machin.yaml", 11, "no file 'machin.yaml'", "mean 'machine.yaml'?"),
    run(
        "work of months",
        2,
        "workload: {name: matmul, n: 46340}",
        26,
        "workload.n: 46340 takes up to 12,684,",
        "ps of work, and at most 9,223,372,036,854,775,807 fit; expected at most 41670",
    ),
    run("items beyond 32 bits", 2, "workload: {name: matmul, n: 65536}", 29, "got 65536; expected at most 65535"),
    run(
        "critical sections of all threads",
        2,
        "workload: {name: spinlock, acquisitions: 1000000}",
        28,
        "acquisitions: 1000000 makes 24,000,000 tasks, and at most 8,000,000 fit; expected at most 333333",
    ),
    bad(
        "misses of hours",
        "run.yaml:2:28",
        ("workload.n: 256 moves", "in one access, too many where a miss takes 9,000,000,000,000,000 ps"),
        {"machine.yaml": edited(TOY_MACHINE, 5, "latency_ns: [[9e12, 9e12], [9e12, 9e12]]")},
    ),
    bad(
        "latencies that add up",
        "run.yaml:1:1",
        ("machine: the latency of the farthest memory of 'toy' is 18,000,000,000,000,000 ps",),
        {"machine.yaml": edited(TOY_MACHINE, 5, "local_latency_ns: 9e12\nhop_latency_ns: 9e12")},
    ),
    steal("late iteration", "{steal: [{from: others, iterations: [0, 4294967296]}]}", 51, "at most 4294967295"),
    steal("thresholds crossed", "{steal: [], thresholds: {max: 2, min: 4}}", 35, "min must be less than max"),
    steal("node beyond", "{steal: [], placement: {policy: bind, node: 2}}", 23, "no node 2 on machine 'toy'", "0 to 1"),
    bad(
        "node without memory",
        "run.yaml:3:23",
        ("strategy.placement: node 2 of machine 'toy' has no memory; expected one of nodes 0-1",),
        {
            "machine.yaml": TOY_MACHINE.replace("nodes: {cores", "nodes: [{socket: 0, cores")
            .replace(
                "gbs: 30}",
                "gbs: 30}, {socket: 1, cores: 6, memory: 1GiB, imc_bandwidth_gbs: 9}, {socket: 1, cores: 1}]",
            )
            .replace("latency_ns: [[77.3, 124.7], [122.8, 75.0]]", "local_latency_ns: 77\nhop_latency_ns: 40")
            .replace("11}]", "11}, {between: [1, 2], bandwidth_gbs: 11}]"),
            "run.yaml": edited(
                TOY_RUN.replace("24", "2"), 3, "strategy: {steal: [], placement: {policy: bind, node: 2}}"
            ),
        },
    ),
    steal("no tier", "{steal: [], dispatch: [{to: any, tier: []}, {to: own}]}", 50, "got 0 entries", "at least 1"),
    machine("slow link", 6, "links: [{between: [0, 1], bandwidth_gbs: 1e-10}]", 42, "bandwidth_gbs: at least one a"),
    machine("less than a cycle a second", 8, "clock: {base_ghz: 1e-30}", 19, "base_ghz: at least one a second"),
    machine(
        "links beyond the engines",
        *(6, "links: [{between: [0, 1], bandwidth_gbs: 100000, count: 64}]", 9),
        "the parallel links from node 0 to node 1 have 6400000 GB/s together; expected at most 140737 GB/s",
    ),
    bad(
        "page beyond the engines",
        "machine.yaml:3:1",
        ("page: a page of 8589934592 bytes is too large", "at most 4294967296 bytes"),
        {"machine.yaml": edited(TOY_MACHINE, 2, "sockets: 2\npage: 8GiB")},
    ),
    machine("cache beyond the engines", 4, "caches: {l2: 1025TiB}", 14, "at most 1125899906842624"),
    bad(
        "astronomic repeats",
        "run.yaml:5:9",
        ("repeat: ", "1,000,000,000 repeats of 1 cells are 1,000,000,000 runs", "expected at most 10,000,000 repeats"),
        {"run.yaml": TOY_RUN + "repeat: 1000000000\n"},
        SWEEP_COMMAND,
    ),
    sweep(
        "astronomic cell",
        "  workload.n: [256, 65536]\n  workers: [2]\n",
        "5:21",
        "(in cell 1: workload.n = 65536, workers = 2)",
        "makes 329,554,457 tasks",
    ),
    sweep("empty axis", "  workers: []\n", "5:12", "this axis has no values", "a list of values, or {from: 2"),
    sweep("axis without list", "  workers: 2\n", "5:12", "got 2", "a list of values, or {from: 2"),
    sweep("empty range", "  workers: {from: 8, to: 2}\n", "5:12", "from 8 to 2 in steps of 1 has 0 values"),
    sweep("step of zero", "  workers: {from: 2, to: 8, step: 0}\n", "5:35", "step: got 0", "more than 0"),
    sweep("idle exclude", "  workers: [2]\n  exclude: [{workers: 4}]\n", "6:13", "no cell has these values"),
    sweep("all excluded", "  workers: [2]\n  exclude: [{workers: 2}]\n", "5:3", "the sweep has no cells"),
    file("empty file", "", "", "the document is empty", "a mapping of keys to values"),
    file("list", "- a\n- b\n", ":1:1", "got a list", "a mapping with the fields machine, workload"),
]
