"""`numasim calibrate`: the probe, a C program, measures a machine. The measurements become a machine file and a runtime
file; missing measurements are reported.
"""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sysfs_trees import TREES, Tree

from numasim.cli import main
from numasim.errors import CheckError
from numasim.machine.sysfs import read_sysfs
from numasim.parts.models.machine_model import LEVELS, MachineSpec
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.sources import unsourced
from numasim.runtime.calibrated_machine import Calibration, calibration, parse_probe, short
from numasim.spec.single_part import read_machine, read_runtime

TWO_NODES = TREES["two nodes with hardware threads"]  # 2 x 6 cores x 2 threads; core c has the threads c and c + 12
ALONE = {"pause": 25.5, "fiber_switch": 11, "page_fault": 600, "page_migration": 1200}
QUEUES = {"push": 2.5, "pop": 2, "take": 18, "probe": 1.25, "spawn_join": 12, "join_nothing": 0.5}


def finding(name: str, median: float, unit: str = "ns", **more: Any) -> dict[str, Any]:
    sure = {"median": median, "low": median - 0.5, "high": median + 1, "samples": 21, "discarded": 0}
    return {"name": name, "unit": unit, **sure, **more}


def relation(a: int, b: int) -> float:
    """Return the transfer time in ns of a cache line between two hardware threads of `TWO_NODES`."""
    core, other = a % 12, b % 12
    return 7 if core == other else 40 if core // 6 == other // 6 else 130


def canned() -> dict[str, Any]:
    nodes = [(a, b) for a in range(2) for b in range(2)]
    findings = [
        *(finding(name, value) for name, value in {**ALONE, **QUEUES}.items()),
        *(finding("memory_latency", 90 + 60 * (a != b) + a, **{"from": a, "to": b}) for a, b in nodes),
        *(finding("memory_bandwidth", 40 - 25 * (a != b) + 2 * a, "GB/s", **{"from": a, "to": b}) for a, b in nodes),
        finding("page_fault_together", 80),
        finding("cache_latency", 14, **{"from": 0, "to": 0}),
        *(finding("line_transfer", relation(a, b), **{"from": a, "to": b}) for b in range(24) for a in range(b)),
        *(finding("wake", value, **{"from": 0, "to": to}) for to, value in ((1, 5000), (6, 7000))),
        *(finding("wake_call", value, **{"from": 0, "to": to}) for to, value in ((1, 900), (6, 1100))),
    ]
    return {"format": "numasim probe 1", "quick": True, "findings": findings, "missing": []}


def without(probe: dict[str, Any], name: str, why: str) -> dict[str, Any]:
    rest = copy.deepcopy(probe)
    rest["findings"] = [each for each in rest["findings"] if each["name"] != name]
    rest["missing"].append({"name": name, "why": why})
    return rest


def files(
    tmp_path: Path, probe: dict[str, Any], tree: Tree = TWO_NODES
) -> tuple[Calibration, MachineSpec, RuntimeSpec]:
    found = calibration(read_sysfs(tree.write(tmp_path / "sys")), parse_probe(probe), "made-up")
    machine, runtime = tmp_path / "machine.yaml", tmp_path / "runtime.yaml"
    machine.write_text(found.machine)
    runtime.write_text(found.runtime)
    return found, read_machine(str(machine)), read_runtime(str(runtime))


def test_medians_are_the_values_of_the_machine(tmp_path: Path) -> None:
    found, machine, _ = files(tmp_path, canned())
    assert machine.latency_ns == ((90, 150), (151, 91))
    assert machine.nodes.imc_bandwidth_gbs == 41  # median of 40 and 42
    assert [link.bandwidth_gbs for link in machine.links] == [15]  # median of 15 and 17
    assert machine.caches.llc_hit_ns == 14
    coherence = machine.coherence
    assert (coherence.same_core_ns, coherence.same_socket_ns, coherence.cross_socket_ns) == (7, 40, 130)
    assert unsourced(machine) == []
    assert found.gaps == ()
    for field in ("latency_ns", "nodes.imc_bandwidth_gbs", "caches.llc_hit_ns", "coherence.cross_socket_ns"):
        assert machine.sources[field].startswith("measured: ")
    assert "# latency of node 1 reading each node, 95 % intervals in ns: 150 to 152, 90.5 to 92.0\n" in found.machine


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (Tree(sockets=2, nodes_per_socket=2, cores=8, llc_cores=4), [None, 25, 90, 100, 190]),
        (Tree(sockets=2, nodes_per_socket=2, cores=4, llc_cores=4), [None, 25, None, 100, 190]),
        (Tree(sockets=1, cores=8, llc_cores=4), [None, 25, None, 90, None]),
        (Tree(sockets=1, nodes_per_socket=2, cores=4, llc_cores=8), [None, None, None, 25, None]),
    ],
)
def test_levels_of_lines_that_the_system_has_are_measured(
    tree: Tree, expected: list[int | None], tmp_path: Path
) -> None:
    """same_socket_ns is the time between cores of a socket that share nothing narrower; same_core_ns is assumed."""

    def time_ns(a: int, b: int) -> int:
        per_socket = tree.nodes_per_socket * tree.cores
        sizes = ((tree.llc_cores or per_socket, 25), (tree.cores, 90), (per_socket, 100), (tree.all_cores, 190))
        return next(ns for size, ns in sizes if a // size == b // size)

    probe = without(canned(), "line_transfer", "")
    pairs = [(a, b) for b in range(tree.all_cores) for a in range(b)]
    probe["findings"] += [finding("line_transfer", time_ns(a, b), **{"from": a, "to": b}) for a, b in pairs]
    _, machine, _ = files(tmp_path, probe, tree)
    measured = [
        getattr(machine.coherence, name) if "measured" in machine.sources.get(f"coherence.{name}", "") else None
        for name in LEVELS
    ]
    assert measured == expected
    assert unsourced(machine) == []


def test_the_rate_is_that_of_the_fastest_core(tmp_path: Path) -> None:
    """The fastest core makes 1,000 steps in 2,500 ns, which is 400 million steps a second; the first needs 4,000 ns."""
    probe = canned()
    probe["findings"] += [finding("kilostep", ns, **{"from": cpu}) for cpu, ns in ((0, 4000), (6, 2500))]
    _, machine, _ = files(tmp_path, probe)
    assert machine.core_steps_per_s == 400_000_000
    assert machine.sources["core_steps_per_s"].startswith("measured: 1,000 steps of the fixed loop")
    assert unsourced(machine) == []
    assert files(tmp_path / "other", canned())[1].core_steps_per_s is None


def test_medians_are_the_costs_of_the_runtime(tmp_path: Path) -> None:
    found, _, runtime = files(tmp_path, canned())
    costs = runtime.costs
    assert (costs.push_ns, costs.pop_ns, costs.take_ns) == (Decimal("2.5"), 2, 18)
    assert costs.join_ns == Decimal("7.5")  # spawn_join 12 - push 2.5 - pop 2
    assert costs.wait_ns == Decimal("0.5")
    assert costs.move_ns == Decimal("20.5")  # take 18 + push 2.5
    assert (costs.probe_ns, costs.probe_remote_ns) == (Decimal("1.25"), Decimal("1.25"))
    # The wake-up counts from the end of the waking call, which takes 900 ns for the near core, 1100 for the far core.
    assert (costs.wake_ns, costs.wake_remote_ns) == (5000 - 900, 7000 - 1100)
    assert (costs.futex_ns, costs.unpark_ns) == (900, 900)
    assert (costs.resume_ns, costs.fault_ns, costs.migrate_ns) == (11, 600, 1200)
    assert costs.faults_per_s == 12_500_000  # one fault per 80 ns
    assert runtime.poll_ns == costs.pause_ns == Decimal("25.5")
    assert costs.line
    # spawn_join is 11.5 to 13 ns, push 2 to 3.5, pop 1.5 to 3: join_ns is 11.5 - 3.5 - 3 to 13 - 2 - 1.5
    for line in (
        "join_ns: 7.5  # spawning and joining an empty task, less push and pop; between 5.00 and 9.50",
        "push_ns: 2.5  # a push into the own queue; median of 21 samples, 95 % interval 2.00 to 3.50",
    ):
        assert line in found.runtime


def test_a_cost_is_never_below_zero(tmp_path: Path) -> None:
    probe = without(canned(), "spawn_join", "")
    probe["findings"].append(finding("spawn_join", 3))
    assert files(tmp_path, probe)[2].costs.join_ns == 0


@pytest.mark.parametrize(
    ("name", "field"),
    [("push", "push_ns"), ("spawn_join", "join_ns"), ("wake", "wake_remote_ns"), ("pause", "pause_ns")],
)
def test_a_cost_that_was_not_measured_is_assumed_and_marked(name: str, field: str, tmp_path: Path) -> None:
    found, _, runtime = files(tmp_path, without(canned(), name, "somebody was in the way"))
    assumed = getattr(read_runtime("ompi").costs, field)
    assert getattr(runtime.costs, field) == assumed
    line = next(line for line in found.runtime.splitlines() if line.strip().startswith(f"{field}:"))
    assert line.endswith("# assumed, as in ompi: not measured, somebody was in the way")
    assert found.gaps == (f"{name}: somebody was in the way",)


def test_a_machine_that_was_not_measured_keeps_what_was_assumed(tmp_path: Path) -> None:
    nothing = {"format": "numasim probe 1", "quick": True, "findings": [], "missing": []}
    found, machine, runtime = files(tmp_path, nothing)
    assert machine.latency_ns == ((90, Decimal("139.5")), (Decimal("139.5"), 90))  # distance 1.1: half
    assert runtime.costs.push_ns == read_runtime("ompi").costs.push_ns
    assert not any(source.startswith("measured") for source in machine.sources.values())
    assert "# memory_latency is assumed: not all pairs of nodes were measured\n" in found.machine


def test_one_node_has_a_local_latency(tmp_path: Path) -> None:
    probe = canned()
    probe["missing"] = [{"name": "remote_memory", "why": "there is one node only"}]
    found, machine, _ = files(tmp_path, probe, Tree(cores=4))
    assert (machine.latency_ns, machine.local_latency_ns, machine.links) == (None, 90, ())
    assert machine.nodes.imc_bandwidth_gbs == 40
    assert "# not measured: remote_memory: there is one node only\n" in found.machine


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"format": "numasim probe 2"}, "answers in the format 'numasim probe 2'"),
        ({}, "cannot be understood: KeyError 'format'"),
        ([], "cannot be understood: TypeError"),
        ({**canned(), "findings": [{"name": "push"}]}, "cannot be understood: KeyError 'median'"),
        ({**canned(), "findings": [finding("push", 1) | {"median": "fast"}]}, "cannot be understood: InvalidOperation"),
    ],
)
def test_another_answer_is_a_defect(answer: Any, problem: str) -> None:
    with pytest.raises(CheckError, match=problem):
        parse_probe(answer)


@pytest.mark.parametrize(
    ("value", "text"),
    [("0", "0"), ("1.2345", "1.23"), ("12.345", "12.3"), ("1234.5", "1234"), ("0.01234", "0.0123")],
)
def test_numbers_have_three_digits_or_all_before_the_point(value: str, text: str) -> None:
    assert short(Decimal(value)) == text


def test_the_machine_at_hand_is_measured_and_simulated(
    tmp_path: Path, measured: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A measurement takes long, so a script in place of the probe prints the measurement that another test has made."""
    again = tmp_path / "numasim-runtime"
    again.write_text(f'#!/bin/sh\n[ "$*" = "probe --quick" ] && exec cat {measured}\n')
    again.chmod(0o755)
    monkeypatch.setattr("numasim.runtime.runtime_program.PROGRAM", again)
    machine, runtime = tmp_path / "machine.yaml", tmp_path / "runtime.yaml"
    assert main(["calibrate", "--quick", "-o", str(machine), "--runtime", str(runtime), "--name", "here"]) == 0
    assert main(["machine", "check", str(machine)]) == 0
    parts = ["--set", f"machine={machine}", "--set", f"runtime={runtime}"]
    workload = ["--set", "workload={name: fib, n: 12}", "--set", "workers=1"]
    capsys.readouterr()
    assert main(["run", "quickstart", *parts, *workload, "--check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["workers"] == 1


def test_bad_input_is_one_sentence(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numasim.runtime.runtime_program.PROGRAM", tmp_path / "numasim-runtime")
    assert main(["calibrate", "-o", str(tmp_path / "machine.yaml")]) == 2
    assert "the task runtime is not built here" in capsys.readouterr().err
