"""Files to specify with: a machine of two nodes and a runner of texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

MACHINE = """\
name: toy
sockets: 2
nodes: {cores: 6, threads_per_core: 2, memory: 16GiB, imc_bandwidth_gbs: 30}
caches: {}
latency_ns: [[77.3, 124.7], [122.8, 75.0]]
links: [{between: [0, 1], bandwidth_gbs: 11}]
coherence: {same_core_ns: 5, same_socket_ns: 15.435, cross_socket_ns: 38.428}
clock: {base_ghz: 2.0}
smt: {busy_ppm: 650000, poll_ppm: 850000}
"""
RUN = """\
machine: ./machine.yaml
workload: {name: strassen, n: 256}
strategy: {name: mine, steal: [{from: others}]}
workers: 24
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a machine file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "machine.yaml").write_text(MACHINE)
    return tmp_path


@pytest.fixture
def run_file(folder: Path) -> Callable[..., Path]:
    """Writes ``run.yaml``: a complete run and what is appended to it."""

    def write(extra: str = "", text: str = RUN) -> Path:
        (folder / "run.yaml").write_text(text + extra)
        return Path("run.yaml")

    return write
