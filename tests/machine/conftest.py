"""Machines for the tests: the shipped files and small ones made from keywords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.parts import catalog
from numasim.parts.models.machine_model import MachineSpec
from numasim.spec.single_part import read_machine


@pytest.fixture(scope="session")
def shipped() -> dict[str, MachineSpec]:
    return {name: read_machine(name) for name in catalog.names("machines")}


@pytest.fixture(scope="session")
def machines(shipped: dict[str, MachineSpec]) -> dict[str, Machine]:
    return {name: build(spec) for name, spec in shipped.items()}


@pytest.fixture(scope="session")
def document() -> Callable[..., dict[str, Any]]:
    """Return a valid two-node machine as a mapping; keywords replace keys, and None removes a key."""

    def make(**changes: Any) -> dict[str, Any]:
        whole: dict[str, Any] = {
            "name": "small",
            "sockets": 2,
            "nodes": {"cores": 2, "memory": "1GiB", "imc_bandwidth_gbs": 10},
            "caches": {"l1": "32KiB", "l2": "256KiB", "llc": "8MiB", "llc_scope": "socket", "llc_hit_ns": 10},
            "local_latency_ns": 80,
            "hop_latency_ns": 40,
            "links": [{"between": [0, 1], "bandwidth_gbs": 5}],
            "coherence": {"same_core_ns": 1, "same_socket_ns": 15, "cross_socket_ns": 38},
            "clock": {"base_ghz": 2},
        }
        whole.update(changes)
        return {key: value for key, value in whole.items() if value is not None}

    return make
