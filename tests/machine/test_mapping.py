import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.mapping import MAPPINGS, map_workers
from numasim.machine.topology import Machine
from numasim.parts.models.machine_model import MachineSpec

MEMORY = {"memory": "1GiB", "imc_bandwidth_gbs": 1}


def cube(sockets: int, per_socket: int, cores: int, threads_per_core: int) -> Machine:
    """Return a machine of the given shape whose nodes form a ring."""
    nodes = sockets * per_socket
    ring = [{"from": a, "to": (a + 1) % nodes, "bandwidth_gbs": 1} for a in range(nodes) if nodes > 1]
    return build(
        MachineSpec.model_validate(
            {
                "name": "cube",
                "sockets": sockets,
                "nodes": {"per_socket": per_socket, "cores": cores, "threads_per_core": threads_per_core, **MEMORY},
                "caches": {},
                "local_latency_ns": 1,
                "hop_latency_ns": 1,
                "links": ring,
                "coherence": {"same_core_ns": 1, "same_socket_ns": 1, "cross_socket_ns": 1},
                "clock": {"base_ghz": 1},
                "smt": {"busy_ppm": 500_000, "poll_ppm": 500_000},
            }
        )
    )


@pytest.mark.parametrize("policy", MAPPINGS)
@settings(max_examples=30)
@given(shape=st.tuples(*[st.integers(1, 3)] * 4), share=st.floats(0, 1))
def test_mappings_are_injective_consistent_and_what_they_say(
    policy: str, shape: tuple[int, int, int, int], share: float
) -> None:
    machine = cube(*shape)
    workers = 1 + int(share * (machine.threads - 1))
    placed = map_workers(machine, workers, policy)
    assert placed.workers == workers
    assert len(set(placed.thread.tolist())) == workers
    assert np.array_equal(placed.core, machine.core_of_thread[placed.thread])
    assert np.array_equal(placed.node, machine.node_of_core[placed.core])
    assert np.array_equal(placed.socket, machine.socket_of_node[placed.node])
    assert np.array_equal(placed.llc, machine.llc_of_core[placed.core])
    if policy == "numa-even-cores-first":
        assert placed.node.tolist() == [worker % machine.nodes for worker in range(workers)]
        assert len(set(placed.core.tolist())) == min(workers, machine.cores)
    for node in range(machine.nodes) if policy == "numa-spread" else ():
        assert placed.node.tolist() == [worker * machine.nodes // workers for worker in range(workers)]
        on_node = placed.core[placed.node == node]
        assert len(set(on_node.tolist())) == min(len(on_node), machine.cores // machine.nodes)


@pytest.mark.parametrize(
    ("policy", "threads"),
    [
        # cores 0,1 | 2,3 || 4,5 | 6,7; | separates nodes, || sockets; core c has the threads c and 8 + c
        ("numa-even-cores-first", [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]),
        ("scatter", [0, 4, 2, 6, 1, 5, 3, 7, 8, 12, 10, 14, 9, 13, 11, 15]),
        ("contiguous", [0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15]),
        ("smt-first", [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]),
        ("os-order", list(range(16))),
        ("numa-spread", [0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15]),
    ],
)
def test_mapping_by_hand(policy: str, threads: list[int]) -> None:
    assert map_workers(cube(2, 2, 2, 2), 16, policy).thread.tolist() == threads


@pytest.mark.parametrize("workers", [0, -1, 25])
def test_worker_count_outside_the_machine_is_refused(machines: dict[str, Machine], workers: int) -> None:
    with pytest.raises(InputError, match=f"workers: {workers} workers do not fit .* expected 1 to 24 workers"):
        map_workers(machines["xeon-e5-2620-2s"], workers)


def test_unknown_mapping_is_refused_with_the_nearest(machines: dict[str, Machine]) -> None:
    with pytest.raises(InputError, match=r"no thread mapping 'scater'.*did you mean 'scatter'\?"):
        map_workers(machines["xeon-e5-2620-2s"], 2, "scater")
