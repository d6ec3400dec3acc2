import numpy as np
import pytest

from numasim.machine.mapping import map_workers
from numasim.machine.routing import distance_classes, line_transfer_ps
from numasim.machine.topology import Machine


def test_thesis_machine_by_hand(machines: dict[str, Machine]) -> None:
    """Workers 0, 2, 4 on node 0, workers 1, 3, 5 on node 1; the two latencies between the nodes differ."""
    machine = machines["xeon-e5-2620-2s"]
    classes = distance_classes(machine, map_workers(machine, 24))
    assert classes[0, [0, 12, 2, 14, 1, 13]].tolist() == [0, 0, 1, 1, 4, 4]
    assert classes[1, [1, 13, 3, 15, 0, 12]].tolist() == [0, 0, 1, 1, 3, 3]


@pytest.mark.parametrize("name", ["opteron-6161-2s", "tilepro64", "xeon-6130-4s", "opteron-8380-4s"])
def test_classes_order_workers_like_latency(machines: dict[str, Machine], name: str) -> None:
    machine = machines[name]
    placed = map_workers(machine, machine.threads)
    classes = distance_classes(machine, placed)
    latency = machine.latency_ps[placed.node[:, None], placed.node]
    for row, times in zip(classes, latency, strict=True):
        assert (np.diff(times[np.argsort(row, kind="stable")]) >= 0).all()


def test_line_transfer_by_hand(machines: dict[str, Machine]) -> None:
    machine = machines["xeon-e5-2620-2s"]
    times = line_transfer_ps(machine, map_workers(machine, 24))
    assert times[0, [0, 12, 2, 1]].tolist() == [5_000, 5_000, 15_435, 38_428]
    assert np.array_equal(times, times.T)
    remote_share = np.count_nonzero(times == 38_428) / (24 * 23)
    assert remote_share == 12 / 23
