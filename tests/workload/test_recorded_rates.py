"""Compute times of recorded programs on cores of another rate, by hand; files keep where a program was recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import numasim as ns
from numasim.errors import InputError
from numasim.workload.describe import describe
from numasim.workload.graph import Workload
from numasim.workload.graph_forms import read_graph, write_graph
from numasim.workload.recording.core_rates import at_rate
from numasim.workload.recording.recorded import Recorded


def recorded(times_ns: list[float], rate: int = 250_000_000, **more: int) -> Workload:
    graph = ns.Graph("made")
    for time_ns in times_ns:
        graph.task(time_ns)
    return replace(graph.specified().workload, recorded=Recorded("a processor", 0, rate, **more))


def test_times_are_multiplied_by_the_rate_there_over_the_rate_here() -> None:
    # at 250/400 of the time, 1,000 ps become 625 ps, 1 ps becomes 1 (0.625), 4 ps become 3 (2.5)
    found = at_rate(recorded([1, 0.001, 0.004]), 400_000_000)
    assert found.segment_compute_ps.tolist() == [625, 1, 3]
    assert at_rate(recorded([1]), 100_000_000).segment_compute_ps.tolist() == [2500]


def test_no_product_is_cut_to_64_bits() -> None:
    """With the largest rates and a time of 2.3 days, floats or 64-bit products are wrong by far more than 1 ps."""
    time_ps, here, there = 199_999_999_999_999_999, 1_999_999_999, 1_999_999_973
    work = replace(recorded([1], here), segment_compute_ps=np.array([time_ps], np.int64))
    assert at_rate(work, there).segment_compute_ps.tolist() == [(time_ps * here + there // 2) // there]
    with pytest.raises(InputError, match="too long for a run"):
        at_rate(work, 1)


def test_items_of_ranges_take_their_share_too() -> None:
    graph = ns.Graph("loop")
    graph.range(3, compute_ns=[1, 2, 3])
    graph.barrier()
    graph.range(4, compute_ns=8)
    work = replace(graph.specified().workload, recorded=Recorded(core_steps_per_s=100))
    first, other = at_rate(work, 200).ranges
    assert first.compute is not None
    assert first.compute.items.tolist() == [500, 1000, 1500]
    assert (first.low_ps, first.high_ps) == (500, 1500)
    assert (other.low_ps, other.high_ps) == (4000, 4000)


@pytest.mark.parametrize(("here", "there"), [(0, 400_000_000), (250_000_000, 0), (250_000_000, 250_000_000)])
def test_a_rate_that_is_not_known_scales_nothing(here: int, there: int) -> None:
    work = recorded([1], here)
    assert at_rate(work, there) is work


@pytest.mark.parametrize("name", ["graph.json", "graph.npz"])
def test_files_keep_where_a_program_was_recorded(name: str, tmp_path: Path) -> None:
    work = recorded([1], sizes=64, guessed_sizes=8)
    write_graph(work, tmp_path / name)
    found = read_graph(tmp_path / name)
    assert found.recorded == work.recorded
    assert found.digest() == work.digest() != replace(work, recorded=None).digest()
    assert "  recorded         a processor, 250.0 million steps per second\n" in describe(found)
    assert "8 of 64 sizes of accesses follow from the addresses of dependences" in describe(found)


def test_a_graph_without_a_recording_has_the_digest_of_its_arrays() -> None:
    """If the digest had a new field for the recording, results of earlier versions would no longer be recognised."""
    work = replace(recorded([1]), name="plain", recorded=None)
    assert work.digest() == "0ad87f0b087ae0c501b70b39f926b9ca"
