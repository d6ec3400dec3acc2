"""Bad input on the command line: status 2, one sentence that names place and remedy, and nothing is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from spec_texts import MACHINE, RUN

from numasim.cli import main

SWEEP = RUN.replace("workers: 24\n", "") + "sweep:\n"  # the axes begin in line 5


@dataclass(frozen=True)
class Bad:
    """One bad input: the message starts with ``place`` and has every text of ``says``."""

    name: str
    place: str
    says: tuple[str, ...]
    files: dict[str, str | bytes] = field(default_factory=dict)
    arguments: tuple[str, ...] = ("run", "run.yaml")

    def __str__(self) -> str:
        return self.name


def edited(text: str, line: int, new: str) -> str:
    lines = text.splitlines(keepends=True)
    lines[line - 1] = new + "\n" if new else ""
    return "".join(lines)


def run(name: str, line: int, new: str, column: int, *says: str) -> Bad:
    """Return a run whose line number ``line`` reads ``new``."""
    text = edited(RUN + "\n", line, new)
    return Bad(name, f"run.yaml:{line}:{column}", says, {"run.yaml": text})


def machine(name: str, line: int, new: str, column: int, *says: str) -> Bad:
    """Return a machine whose line number ``line`` reads ``new``."""
    return Bad(name, f"machine.yaml:{line}:{column}", says, {"machine.yaml": edited(MACHINE, line, new)})


def steal(name: str, strategy: str, column: int, *says: str) -> Bad:
    return run(name, 3, f"strategy: {strategy}", column, *says)


def sweep(name: str, axes: str, place: str, *says: str) -> Bad:
    files: dict[str, str | bytes] = {"run.yaml": SWEEP + axes}
    return Bad(name, f"run.yaml:{place}", says, files, ("sweep", "run.yaml", "-o", "out"))


def file(name: str, data: str | bytes, place: str, *says: str) -> Bad:
    return Bad(name, f"run.yaml{place}", says, {"run.yaml": data})


def command(name: str, place: str, says: tuple[str, ...], *arguments: str) -> Bad:
    return Bad(name, place, says, {}, arguments)


def option(name: str, text: str, *says: str) -> Bad:
    return command(name, f"--set {text}", says, "run", "run.yaml", "--set", text)


THREE: dict[str, str | bytes] = {"machine.yaml": edited(MACHINE, 2, "sockets: 3")}
RUNS = [
    run("misspelt field", 5, "wrokers: 3", 1, "there is no field 'wrokers'", "did you mean 'workers'?"),
    run("misspelt machine", 1, "machine: xeon-e5-2602-2s", 10, "no machine", "did you mean 'xeon-e5-2620-2s'?"),
    run("misspelt strategy", 3, "strategy: topology-awear", 11, "no strategy", "did you mean 'topology-aware'?"),
    run("misspelt runtime", 5, "runtime: opmi", 10, "no runtime 'opmi'", "did you mean 'ompi'?"),
    run("misspelt workload", 2, "workload: {name: strasen, n: 64}", 18, "'strasen'", "did you mean 'strassen'?"),
    run(
        "misspelt parameter", 2, "workload: {name: fib, m: 6}", 23, "no field 'm'", "expected one of name, n, spawn_ns"
    ),
    run("missing parameter", 2, "workload: matmul", 11, "workload.n: this field is missing"),
    run("missing machine", 1, "", 1, "machine: this field is missing", "the name of a machine, a path or a mapping"),
    Bad("missing workers", "run.yaml:1:1", ("workers: this field is missing",), {"run.yaml": edited(RUN, 4, "")}),
    run("no workers", 4, "workers: 0", 10, "workers: got 0", "at least 1"),
    run("negative workers", 4, "workers: -3", 10, "workers: got -3", "at least 1"),
    run("too many workers", 4, "workers: 25", 10, "25 workers", "24 hardware threads", "expected 1 to 24"),
    run("text for a number", 4, "workers: many", 10, "a whole number is needed here, got 'many'"),
    run("decimal for a count", 4, "workers: 2.5", 10, "a whole number is needed here, got 2.5"),
    run("octal of older YAML", 4, "workers: 0b11", 10, "a whole number is needed here, got '0b11'"),
    run(
        "seed too large",
        5,
        "seed: 18446744073709551616",
        7,
        "seed: got 18446744073709551616",
        "less than 18446744073709551616",
    ),
    run("no repeats", 5, "repeat: 0", 9, "repeat: got 0", "at least 1"),
    run("list for a mapping", 2, "workload: [fib]", 11, "workload: got a list", "such as {name: matmul, n: 256}"),
    run("cache model unknown", 5, "model: {cache: shared}", 16, "got 'shared'", "did you mean 'share'?"),
    run("contention unknown", 5, "model: {contention: flood}", 21, "got 'flood'", "did you mean 'fluid'?"),
    run("share beyond one", 5, "model: {local_share: 1.5}", 22, "got 1.5"),
    run("no misses at once", 5, "model: {mlp: 0}", 14, "expected more than 0", "got 0"),
    run("FFT of no power of two", 2, "workload: {name: fft, n: 100}", 26, "a power of two", "64 or 128", "got 100"),
    run("times in reverse", 2, "workload: {name: independent, tasks: 4, low_ns: 9, high_ns: 3}", 11, "swap them"),
    run("missing graph", 2, "workload: {file: grpah.json}", 18, "no file 'grpah.json'", "a task graph in JSON"),
    run(
        "faults beyond the engines",
        5,
        "runtime: {like: ompi, costs: {faults_per_s: 281474976710656}}",
        45,
        "faults_per_s: got 281474976710656; expected at most 140737488355328",
    ),
    run("unknown cost", 5, "runtime: {like: ompi, costs: {puhs_ns: 3}}", 31, "'puhs_ns'", "did you mean 'push_ns'?"),
    run("missing strategy file", 3, "strategy: ./machin.yaml", 11, "no file 'machin.yaml'", "mean 'machine.yaml'?"),
    run("strategy is a folder", 3, "strategy: ../", 11, "is a directory", "expected a YAML file"),
]
SIZES = [
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
        "tasks beyond memory",
        2,
        "workload: {name: nqueens, n: 13}",
        30,
        "workload.n: 13 makes 59,815,315 tasks, and at most 8,000,000 fit; expected at most 11",
    ),
    run(
        "critical sections of all threads",
        2,
        "workload: {name: spinlock, acquisitions: 1000000}",
        28,
        "acquisitions: 1000000 makes 24,000,000 tasks, and at most 8,000,000 fit; expected at most 333333",
    ),
    Bad(
        "misses of hours",
        "run.yaml:2:28",
        ("workload.n: 256 moves", "in one access, too many where a miss takes 9,000,000,000,000,000 ps"),
        {"machine.yaml": edited(MACHINE, 5, "latency_ns: [[9e12, 9e12], [9e12, 9e12]]")},
    ),
    Bad(
        "latencies that add up",
        "run.yaml:1:1",
        ("machine: the latency of the farthest memory of 'toy' is 18,000,000,000,000,000 ps",),
        {"machine.yaml": edited(MACHINE, 5, "local_latency_ns: 9e12\nhop_latency_ns: 9e12")},
    ),
]
STRATEGIES = [
    steal(
        "iterations beyond the engines",
        "{steal: [{from: others, iterations: [0, 4294967296]}]}",
        51,
        "got 4294967296",
        "at most 4294967295",
    ),
    steal("misspelt key", "{stael: [{from: others}]}", 12, "no field 'stael'", "did you mean 'steal'?"),
    steal("misspelt queue set", "{steal: [{from: othres}]}", 27, "got 'othres'", "did you mean 'others'?"),
    steal("misspelt condition", "{steal: [{from: others, if: anounced}]}", 39, "got 'anounced'", "mean 'announced'?"),
    steal("misspelt amount", "{steal: [{from: others, amount: hlaf}]}", 43, "got 'hlaf'", "did you mean 'half'?"),
    steal(
        "unknown queue", "{steal: [{from: others, queue: deck}]}", 20, "there is no queue 'deck'", "queues names deque"
    ),
    steal("open end", "{steal: [{from: others}], dispatch: [{to: own, if: {below: 2}}]}", 47, "may have no condition"),
    steal("thresholds crossed", "{steal: [], thresholds: {max: 2, min: 4}}", 35, "min must be less than max"),
    steal("node beyond", "{steal: [], placement: {policy: bind, node: 2}}", 11, "no node 2 on machine 'toy'", "0 to 1"),
    Bad(
        "node without memory",
        "run.yaml:3:11",
        ("strategy.placement: node 2 of machine 'toy' has no memory; expected one of nodes 0-1",),
        {
            "machine.yaml": MACHINE.replace("nodes: {cores", "nodes: [{socket: 0, cores")
            .replace(
                "gbs: 30}",
                "gbs: 30}, {socket: 1, cores: 6, memory: 1GiB, imc_bandwidth_gbs: 9}, {socket: 1, cores: 1}]",
            )
            .replace("latency_ns: [[77.3, 124.7], [122.8, 75.0]]", "local_latency_ns: 77\nhop_latency_ns: 40")
            .replace("11}]", "11}, {between: [1, 2], bandwidth_gbs: 11}]"),
            "run.yaml": edited(RUN, 3, "strategy: {steal: [], placement: {policy: bind, node: 2}}").replace("24", "2"),
        },
    ),
    steal(
        "scan that never comes",
        "{steal: [], placement: {policy: numa-balancing, scan: {period_ns: 0}}}",
        77,
        "strategy.placement.scan.period_ns: ",
        "expected more than 0",
        "got 0",
    ),
    steal(
        "scan in other units",
        "{steal: [], placement: {policy: numa-balancing, scan: {period_ms: 1}}}",
        66,
        "there is no field 'period_ms'",
        "did you mean 'period_ns'?",
    ),
    steal(
        "scan without balancing",
        "{steal: [], placement: {policy: first-touch, scan: {period_ns: 1000}}}",
        34,
        "scan goes with policy: numa-balancing, not with policy: first-touch",
    ),
    steal(
        "gate without limit",
        "{steal: [{from: others, gated: yes}]}",
        11,
        "a steal level is gated, but live says no limit",
        "add live such as {per: socket, most: 1}",
    ),
    steal(
        "tier of no task", "{steal: [{from: others}], dispatch: [{to: any, tier: root}, {to: own}]}", 11, "tier root"
    ),
    steal(
        "tier of no name", "{steal: [], dispatch: [{to: any, tier: []}, {to: own}]}", 50, "got 0 entries", "at least 1"
    ),
    steal(
        "three iterations", "{steal: [{from: others, iterations: [0, 1, 2]}]}", 47, "got 3 entries; expected at most 2"
    ),
    steal(
        "packing that is not asked for",
        "{steal: [{from: others}], tune: {what: packing}}",
        43,
        "packing chooses the tiers of tasks",
        "add tiers: tune",
    ),
    steal(
        "unknown labels",
        "{steal: [{from: others}], dispatch: [{to: label}, {to: own}], labels: slics}",
        73,
        "there is no function of labels 'slics'; expected slices, random, interleave, locality, balanced, "
        "mixed-locality-balanced, mixed-locality-interleave, none, tune; did you mean 'slices'?",
    ),
    steal(
        "idle queue",
        "{queues: {a: {per: worker}, b: {per: node}}, steal: [{from: others}]}",
        11,
        "no level takes",
        "add",
    ),
]
MACHINES = [
    machine(
        "less than a byte a second",
        6,
        "links: [{between: [0, 1], bandwidth_gbs: 1e-10}]",
        42,
        "bandwidth_gbs: at least one a second, which is 1e-9, is needed here, got",
    ),
    machine("less than a cycle a second", 8, "clock: {base_ghz: 1e-30}", 19, "base_ghz: at least one a second"),
    machine(
        "links beyond the engines",
        6,
        "links: [{between: [0, 1], bandwidth_gbs: 100000, count: 64}]",
        9,
        "the parallel links from node 0 to node 1 have 6400000 GB/s together; expected at most 140737 GB/s",
    ),
    Bad(
        "page beyond the engines",
        "machine.yaml:3:1",
        ("page: a page of 8589934592 bytes is too large", "at most 4294967296 bytes"),
        {"machine.yaml": edited(MACHINE, 2, "sockets: 2\npage: 8GiB")},
    ),
    machine("cache beyond the engines", 4, "caches: {l2: 1025TiB}", 14, "at most 1125899906842624"),
    machine("NaN latency", 5, "latency_ns: [[77.3, .nan], [122.8, 75.0]]", 21, ".nan is not a finite number"),
    machine("endless latency", 5, "latency_ns: [[77.3, .inf], [122.8, 75.0]]", 21, ".inf is not a finite number"),
    machine(
        "negative latency", 5, "latency_ns: [[77.3, -1], [122.8, 75.0]]", 21, "latency_ns[0][1]: got -1", "at least 0"
    ),
    machine("latency is text", 5, "latency_ns: [[77.3, far], [122.8, 75.0]]", 21, "a number is needed here, got 'far'"),
    machine("below a picosecond", 5, "latency_ns: [[77.3, 1.0001], [1, 1]]", 21, "whole picoseconds", "1.0001"),
    machine("row missing", 5, "latency_ns: [[77.3, 124.7]]", 1, "the matrix has 1 rows", "2 rows of 2 latencies"),
    machine("short row", 5, "latency_ns: [[77.3, 124.7], [75.0]]", 29, "the row has 1 latencies", "2 rows of 2"),
    machine(
        "dangling link", 6, "links: [{between: [0, 2], bandwidth_gbs: 11}]", 9, "node 2, which does not", "nodes 0 to 1"
    ),
    machine("link to itself", 6, "links: [{from: 1, to: 1, bandwidth_gbs: 11}]", 9, "to itself", "two different nodes"),
    machine(
        "link twice", 6, "links: [{between: [0, 1], bandwidth_gbs: 1}, {from: 0, to: 1, bandwidth_gbs: 1}]", 46, "twice"
    ),
    machine("one-way link", 6, "links: [{from: 0, to: 1, bandwidth_gbs: 11}]", 1, "no way back from node 1"),
    Bad(
        "unreachable node", "machine.yaml:6:1", ("node 2 cannot be reached from node 0", "that join every node"), THREE
    ),
    machine(
        "no bandwidth", 6, "links: [{between: [0, 1], bandwidth_gbs: 0}]", 42, "bandwidth_gbs: got 0", "more than 0"
    ),
    machine(
        "no cores", 3, "nodes: {cores: 0, memory: 16GiB, imc_bandwidth_gbs: 30}", 16, "nodes.cores: got 0", "at least 1"
    ),
    machine("size in old units", 3, "nodes: {cores: 6, memory: 16GB, imc_bandwidth_gbs: 30}", 27, "16GiB", "'16GB'"),
    machine("misspelt cache", 4, "caches: {lcc: 3MiB}", 10, "no field 'lcc'", "did you mean 'llc'?"),
    machine(
        "turbo out of order",
        8,
        "clock: {base_ghz: 2, turbo: [{active: 4, ghz: 2.5}, {active: 1, ghz: 2.6}]}",
        53,
        "order",
    ),
    machine("key twice", 3, "sockets: 4", 1, "the key 'sockets' stands here twice, first in line 2", "each key once"),
]
SWEEPS = [
    Bad(
        "astronomic repeats",
        "run.yaml:5:9",
        ("repeat: ", "1,000,000,000 repeats of 1 cells are 1,000,000,000 runs", "expected at most 10,000,000 repeats"),
        {"run.yaml": RUN + "repeat: 1000000000\n"},
        ("sweep", "run.yaml", "-o", "out"),
    ),
    sweep(
        "astronomic cell",
        "  workload.n: [256, 65536]\n  workers: [2]\n",
        "5:21",
        "(in cell 1: workload.n = 65536, workers = 2)",
        "makes 329,554,457 tasks",
    ),
    sweep("unknown axis", "  wrokers: [2]\n", "5:3", "no field 'wrokers'", "did you mean 'workers'?"),
    sweep(
        "unknown inner axis", "  workload.m: [2]\n  workers: [2]\n", "5:3", "no field 'm'", "expected one of name, n"
    ),
    sweep("empty axis", "  workers: []\n", "5:12", "this axis has no values", "a list of values, or {from: 2"),
    sweep("axis without list", "  workers: 2\n", "5:12", "got 2", "a list of values, or {from: 2"),
    sweep("empty range", "  workers: {from: 8, to: 2}\n", "5:12", "from 8 to 2 in steps of 1 has 0 values"),
    sweep("step of zero", "  workers: {from: 2, to: 8, step: 0}\n", "5:35", "step: got 0", "more than 0"),
    sweep("value twice", "  workers: [2, 2]\n", "5:16", "the value 2 stands here twice", "each value once"),
    sweep("unequal zip", "  zip: {workers: [2, 4], seed: [1]}\n", "5:26", "1 values", "'workers' beside it has 2"),
    sweep("idle exclude", "  workers: [2]\n  exclude: [{workers: 4}]\n", "6:13", "no cell has these values"),
    sweep("all excluded", "  workers: [2]\n  exclude: [{workers: 2}]\n", "5:3", "the sweep has no cells"),
    sweep("bad cell", "  workers: [2, 48]\n", "5:16", "(in cell 1: workers = 48)", "expected 1 to 24"),
    sweep("astronomic", "  seed: {from: 1, to: 2000}\n  workers: {from: 1, to: 2000}\n", "5:3", "4,000,000 cells"),
]
FILES = [
    file("empty file", "", "", "the document is empty", "a mapping of keys to values"),
    file("list", "- a\n- b\n", ":1:1", "got a list", "a mapping with the fields machine, workload"),
    file("alias without anchor", "machine: *there\n", ":1:10", "*there has no anchor", "an anchor before it"),
]
COMMANDS = [
    command("missing file", "there is no file 'rnu.yaml'", ("did you mean 'run.yaml'?",), "run", "rnu.yaml"),
    command("directory", "'.' is a directory", ("expected a YAML file",), "sweep", ".", "-o", "out"),
    command("missing folder", "there is no folder 'no'", ("expected a YAML file",), "run", "no/run.yaml"),
    command("set without =", "--set: got 'workers'", ("field=value",), "run", "run.yaml", "--set", "workers"),
    command(
        "machine to check", "machine: there is no machine 'tilepro'", ("'tilepro64'?",), "machine", "check", "tilepro"
    ),
    command(
        "strategy to show",
        "strategy: there is no strategy 'rnig'",
        ("did you mean 'ring'?",),
        "strategy",
        "show",
        "rnig",
    ),
    command(
        "unknown engine", "there is no engine 'refrence'", ("'reference'?",), "run", "run.yaml", "--engine", "refrence"
    ),
    option("set of unknown field", "wrokers=3", "no field 'wrokers'", "did you mean 'workers'?"),
    option("set of unknown inner field", "strategy.stael=[]", "no field 'stael'", "did you mean 'steal'?"),
    option("set of nothing", "workers=", "there is no value after =", "field=value"),
    option("set inside a number", "workers.n=3", "the value is 24, which has no field 'n'", "expected a mapping"),
    option("set out of range", "workers=99", "24 hardware threads", "expected 1 to 24"),
    option("set to NaN", "machine.latency_ns[0][1]=.nan", ".nan is not a finite number"),
]
ALL = [*RUNS, *SIZES, *STRATEGIES, *MACHINES, *SWEEPS, *FILES, *COMMANDS]


@pytest.mark.parametrize("bad", ALL, ids=str)
def test_one_sentence_and_nothing_written(bad: Bad, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "run.yaml").write_text(RUN)
    for name, data in bad.files.items():
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    before = contents(folder)
    assert main(list(bad.arguments)) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"numasim: {bad.place}")
    assert shown.err.count("\n") == 1
    assert [text for text in bad.says if text not in shown.err] == []
    assert contents(folder) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}
