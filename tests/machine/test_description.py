import pytest

from numasim.machine.description import describe, rate, size, time
from numasim.machine.topology import Machine


@pytest.mark.parametrize(
    ("count", "text"),
    [(64, "64 B"), (1024, "1 KiB"), (5118 * 1024, "5118 KiB"), (1536 * 2**20, "1536 MiB"), (2**34, "16 GiB")],
)
def test_size(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("time_ps", "text"), [(77_300, "77.3 ns"), (75_000, "75 ns"), (15_435, "15.435 ns"), (0, "0 ns")]
)
def test_time(time_ps: int, text: str) -> None:
    assert time(time_ps) == text


def test_rate() -> None:
    assert rate(8_885_000_000) == "8.885 GB/s"


def test_summary_of_the_thesis_machine_by_hand(machines: dict[str, Machine]) -> None:
    assert describe(machines["xeon-e5-2620-2s"]).splitlines() == [
        "machine    xeon-e5-2620-2s",
        "shape      2 sockets, 2 nodes, 12 cores, 24 hardware threads",
        "caches     L1 32 KiB, L2 256 KiB; last level 15 MiB shared by 6 cores",
        "memory     16 GiB and 30 GB/s a node",
        "clock      2 GHz; turbo 2.5 to 2 busy, 2.4 to 4 busy, 2.3 to 6 busy",
        "latency    local 75 ns to 77.3 ns, remote 122.8 ns to 124.7 ns, factor 1.61 to 1.64",
        "            77.3  124.7",
        "           122.8     75",
        "links      2 directed, each 22 GB/s and +47.4 ns to 47.8 ns, at most 1 on a route",
        "coherence  a line within a core 5 ns, within a socket 15.435 ns, across sockets 38.428 ns",
    ]


def test_large_machines_are_summarised_without_matrix(machines: dict[str, Machine]) -> None:
    lines = describe(machines["tilepro64"]).splitlines()
    assert "latency    local 8 ns, remote 36.3 ns to 53.2 ns, factor 4.54 to 6.65" in lines
    assert len(lines) == 8
