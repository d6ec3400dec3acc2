"""The list of a machine's assumed (not measured) values on which a run depends, and runs with half and twice of one."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import numasim as ns
from numasim.cli import main
from numasim.engine.assumed_values import assumed_fields, depended_on, of_table, scaled
from numasim.errors import InputError
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.sources import marked
from numasim.spec.run_spec import RunSpec, resolve

MACHINE: dict[str, Any] = {
    "name": "guessed",
    "sockets": 2,
    "nodes": [
        {"socket": 0, "cores": 2, "memory": "1GiB", "imc_bandwidth_gbs": 1},
        {"socket": 1, "cores": [{"count": 2, "speed_ppm": 800_000}], "memory": "1GiB", "imc_bandwidth_gbs": 1},
    ],
    "caches": {"l1": "32KiB", "llc": "8MiB", "llc_scope": "node", "llc_hit_ns": 10, "llc_remote_hit_ns": 70},
    "latency_ns": [[80, 120], [120, 80]],
    "links": [{"between": [0, 1], "bandwidth_gbs": 1}],
    "coherence": {"same_core_ns": 1, "same_socket_ns": 15, "cross_socket_ns": 38},
    "clock": {"base_ghz": 2},
    "sources": {
        "nodes": "read: somewhere",
        "nodes.imc_bandwidth_gbs": "assumed: a guess",
        "nodes.cores.speed_ppm": "assumed: a guess",
        "caches.llc_remote_hit_ns": "assumed, as elsewhere",
        "latency_ns": "derived: of a measurement",
        "links.between": "assumed: a guess",
        "links.bandwidth_gbs": "assumed: a guess",
        "coherence": "a table, of which half is from another (assumed)",
        "clock.base_ghz": "assumed: a guess",
    },
}
SILENT = {"bytes_local": 0, "bytes_remote": 0, "bytes_cache": 0, "bytes_c2c": 0, "inflation_smt_ps": 0}
IDLE = {**SILENT, "steal_attempts": 0, "steal_attempts_remote": 0, "lock_acquisitions": 0, "overhead_ps": 0}


def streaming(blocks: int = 1) -> ns.Graph:
    """Return tasks that each read 80 MB from the memory of their own node, at 1 GB/s."""
    graph = ns.Graph("stream")
    graph.range(blocks, compute_ns=0, reads={0: 80_000_000})
    return graph


def question(**more: Any) -> dict[str, Any]:
    made = {"machine": MACHINE, "workload": streaming(), "strategy": "randomized", "workers": 1, "seed": 1}
    return {**made, "runtime": "bare", **more}


def spec(**more: Any) -> RunSpec:
    return resolve(question(**more))


def test_a_clock_without_turbo_and_bandwidths_without_contention_play_no_part() -> None:
    usual = assumed_fields(spec())
    assert "clock.base_ghz" not in usual
    assert usual == [field for field in marked(MACHINE["sources"], "assumed") if field != "clock.base_ghz"]
    alone = assumed_fields(spec(model={"contention": "none"}))
    assert set(usual) - set(alone) == {"nodes.imc_bandwidth_gbs", "links.bandwidth_gbs"}
    turbo = {**MACHINE, "clock": {"base_ghz": 2, "turbo": [{"active": 1, "ghz": 3}]}}
    assert "clock.base_ghz" in assumed_fields(spec(machine=turbo))


@pytest.mark.parametrize(
    ("counted", "more"),
    [
        ({}, set()),
        ({"bytes_local": 64}, {"nodes.imc_bandwidth_gbs"}),
        ({"bytes_remote": 64}, {"nodes.imc_bandwidth_gbs", "links.between", "links.bandwidth_gbs"}),
        ({"bytes_c2c": 64}, {"caches.llc_remote_hit_ns", "links.between", "links.bandwidth_gbs"}),
        ({"steal_attempts": 1}, {"coherence"}),
        ({"steal_attempts": 1, "steal_attempts_remote": 1}, {"coherence", "links.between"}),
    ],
)
def test_a_run_depends_on_what_its_counters_do_not_rule_out(counted: dict[str, int], more: set[str]) -> None:
    """A list must not name bandwidths for a run that moves no bytes."""
    found = depended_on(assumed_fields(spec()), {**IDLE, **counted})
    assert set(found) == {"nodes.cores.speed_ppm", *more}


def test_every_amount_is_scaled_and_nothing_else() -> None:
    machine = MachineSpec.model_validate(MACHINE)
    twice = {field: scaled(machine, field, Decimal(2)) for field in MACHINE["sources"]}
    assert [node.imc_bandwidth_gbs for node in twice["nodes.imc_bandwidth_gbs"].node_shapes] == [2, 2]
    assert twice["latency_ns"].latency_ns == ((160, 240), (240, 160))
    assert [link.bandwidth_gbs for link in twice["links.bandwidth_gbs"].links] == [2]
    assert twice["links.between"] == machine
    assert twice["coherence"].coherence.cross_socket_ns == 76
    assert twice["nodes.cores.speed_ppm"].node_shapes[1].kinds[0].speed_ppm == 1_000_000, "no more than all of it"
    assert scaled(machine, "nodes.cores.speed_ppm", Decimal("0.5")).node_shapes[1].kinds[0].speed_ppm == 400_000
    with pytest.raises(InputError):
        scaled(machine, "nodes.imc_bandwidth_gbs", Decimal(10**9))


def test_a_result_names_what_it_depends_on_and_run_says_how_much(tmp_path: Path, capsys: Any) -> None:
    """80 MB at 1 GB/s take 80 ms. With half of the bandwidth the run takes 160 ms, with twice the bandwidth 40 ms."""
    result = ns.run(question())
    assert result.counters["makespan_ps"] == 80 * 10**9
    assert result.remarks[-1:] == ["assumed, not measured, of guessed: nodes.imc_bandwidth_gbs, nodes.cores.speed_ppm"]
    graph = tmp_path / "stream.npz"
    streaming().save(graph)
    ns.Machine(**MACHINE).save(tmp_path / "guessed.yaml")
    file = tmp_path / "run.yaml"
    paths = "machine: ./guessed.yaml\nworkload: ./stream.npz\n"
    file.write_text(f"{paths}strategy: randomized\nruntime: bare\nworkers: 1\nseed: 1\n")
    assert main(["run", str(file), "--engine", "native"]) == 0
    said = capsys.readouterr().out
    assert "makespan with half of nodes.imc_bandwidth_gbs: +100.0 %, with twice: -50.0 % (same seed)" in said
    assert "half and twice of these change nothing: nodes.cores.speed_ppm" in said
    assert main(["run", str(file), "--engine", "reference"]) == 0
    assert "tried in short runs of the native engine alone" in capsys.readouterr().out


def test_a_sweep_its_answers_and_its_page_name_them(tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "results"
    axes = {"workload": streaming(4), "sweep": {"workers": [1, 2]}, "repeat": 2}
    found = ns.sweep(question(**axes), folder, jobs=1, progress=False)
    fields = "nodes.imc_bandwidth_gbs, nodes.cores.speed_ppm, links.between, links.bandwidth_gbs, coherence"
    note = next(note for note in found.compare("workers").notes if note.startswith("assumed"))
    assert note == f"assumed, not measured, of guessed: {fields}"
    assert note in (folder / "index.html").read_text()
    assert main(["compare", str(folder), "--axis", "workers"]) == 0
    assert note in " ".join(capsys.readouterr().out.split())
    before = found.to_frame().drop(columns="assumed")
    assert of_table(before) == [], "a table of before says nothing"
    assert of_table(pd.concat([found.to_frame().assign(error="it failed")])) == []
