"""From a system to a run: machines with different nodes are imported, shown, and simulated, equally on all engines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sysfs_trees import TREES, Tree, put

import numasim as ns
from numasim.cli import main
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.report.figures.traffic import loads_of, node_traffic
from numasim.spec.single_part import read_machine

ENGINE_OWN = ("events", "event_hash", "mode")
HYBRID = Tree(cores=4)  # the last two cores are slow
KINDS = {
    "a core is offline": (TREES["a core is offline"], 7),
    "a node without memory": (TREES["a node without memory"], 4),
    "a node without processors": (TREES["a node without processors"], 4),
    "a node on a socket without processors": (TREES["a control group on one node"], 4),
    "last-level caches within a node": (replace(TREES["clusters that share a cache"], sockets=2), 16),
    "slow cores": (HYBRID, 4),
}


@pytest.mark.parametrize("placement", ["first-touch", "interleave", "next-touch"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_machine(kind: str, placement: str, tmp_path: Path, capsys: Any) -> None:
    tree, workers = KINDS[kind]
    root, file, picture = tree.write(tmp_path / "sys"), tmp_path / "machine.yaml", tmp_path / "machine.svg"
    if tree is HYBRID:
        for cpu in range(4):
            put(root, f"devices/system/cpu/cpu{cpu}/cpu_capacity", "1024" if cpu < 2 else "512")
    assert main(["machine", "import", "--sysfs", str(root), "--name", "kind", "-o", str(file)]) == 0
    assert main(["machine", "check", str(file)]) == 0
    assert main(["machine", "show", str(file), "--picture", str(picture)]) == 0
    assert "nan" not in capsys.readouterr().out
    assert picture.stat().st_size > 0
    spec = {
        "machine": str(file),
        "workload": {"name": "strassen", "n": 128},
        "strategy": {"name": "local", "like": "nearest-first", "placement": placement},
        "workers": workers,
        "seed": 5,
    }
    results = [ns.run(spec, engine=engine) for engine in ENGINES]
    for result in results:
        assert_sound(result, build(read_machine(str(file))))
    tables = [[result.node_bytes, result.node_attempts, result.node_success, result.node_pages] for result in results]
    for result, table in zip(results[1:], tables[1:], strict=True):
        assert common(result) == common(results[0])
        assert all(np.array_equal(mine, its) for mine, its in zip(table, tables[0], strict=True))


def common(result: Result) -> dict[str, Any]:
    return {name: value for name, value in result.counters.items() if name not in ENGINE_OWN}


def assert_sound(result: Result, machine: Machine) -> None:
    """Check that numbers are defined, nodes without cores get no steal attempts, and nodes without memory no bytes."""
    assert "nan" not in [str(value) for value in result.counters.values()]
    without_cores, without_memory = machine.cores_of_node == 0, machine.memory_bytes == 0
    assert not result.node_attempts[without_cores].any()
    assert not result.node_attempts[:, without_cores].any()
    assert not result.node_bytes[:, without_memory].any()
    assert np.isfinite(loads_of(machine, result).controller_percent).all()
    assert node_traffic(machine, result).axes
