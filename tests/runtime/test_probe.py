"""The probe, a C program that measures this machine: medians with intervals, and reasons for missing measurements."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import pytest
from compiling import RUNTIME, compile_library
from hypothesis import given
from hypothesis import strategies as st

MEASURED = {
    *("kilostep", "pause", "memory_latency", "memory_bandwidth", "cache_latency", "page_fault", "page_fault_together"),
    *("page_migration", "line_transfer", "wake", "wake_call", "fiber_switch", "push", "pop", "take", "probe"),
    *("spawn_join", "join_nothing"),
}
BETWEEN_CORES = {"line_transfer", "wake", "wake_call", "page_fault_together"}


def probe(program: Path, cpus: Sequence[int]) -> Any:
    command = ["taskset", "-c", ",".join(map(str, cpus)), program, "probe", "--quick"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def names(entries: list[dict[str, Any]]) -> set[str]:
    return {entry["name"] for entry in entries}


@pytest.fixture(scope="module")
def everything(measured: Path) -> Any:
    return json.loads(measured.read_text())


def test_everything_is_measured_or_said_to_be_missing(everything: Any) -> None:
    assert everything["format"] == "numasim probe 1"
    assert names(everything["findings"]) | names(everything["missing"]) >= MEASURED
    assert all(gap["why"] for gap in everything["missing"])


def test_a_finding_is_a_median_within_its_interval(everything: Any) -> None:
    for finding in everything["findings"]:
        assert 0 < finding["low"] <= finding["median"] <= finding["high"]
        assert 6 <= finding["samples"] <= 21
        assert finding["discarded"] < 8 * 21
        assert finding["unit"] == ("GB/s" if finding["name"] == "memory_bandwidth" else "ns")


def test_one_core_has_nobody_to_measure_against(program: Path) -> None:
    alone = probe(program, [min(os.sched_getaffinity(0))])
    reasons = {gap["name"]: gap["why"] for gap in alone["missing"] if gap["name"] in BETWEEN_CORES}
    assert reasons == dict.fromkeys(BETWEEN_CORES, "there is one core only")
    assert not BETWEEN_CORES & names(alone["findings"])


def test_cores_are_measured_one_by_one_without_the_rest(program: Path) -> None:
    command = [program, "probe", "--quick", "--cores"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert names(found["findings"]) == {"kilostep"}
    places = [each["from"] for each in found["findings"]]
    assert len(set(places)) == len(places)
    assert all(100 < each["median"] < 100_000 for each in found["findings"])  # 0.1 to 100 ns a step


def test_mistakes_are_one_sentence(program: Path) -> None:
    said = subprocess.run([program, "probe", "--fast"], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == "numasim-runtime: probe: --fast is no option here; expected --quick or --cores\n"


# ---- intervals


class Estimate(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_double) for name in ("median", "low", "high")),
        *((name, ctypes.c_uint32) for name in ("samples", "discarded")),
    ]


@pytest.fixture(scope="module")
def library(c_compiler: str) -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(compile_library(c_compiler, "libestimate", [RUNTIME / "probe" / "estimate.c"])))
    loaded.ns_estimate_of.restype = Estimate
    loaded.ns_estimate_of.argtypes = [ctypes.POINTER(ctypes.c_double), ctypes.c_uint32, ctypes.c_uint32]
    return loaded


def at_most(below: int, count: int) -> Fraction:
    """Return the probability that at most ``below`` of ``count`` samples are below the median of their distribution."""
    return Fraction(sum(comb(count, each) for each in range(below + 1)), 2**count)


@pytest.mark.parametrize("count", range(6, 64))
def test_the_interval_is_the_shortest_that_covers_the_median(count: int, library: ctypes.CDLL) -> None:
    trim = library.ns_estimate_trim(count)
    assert at_most(trim, count) <= Fraction(1, 40) < at_most(trim + 1, count)


@pytest.mark.parametrize("count", [1, 2, 5, 6, 21, 50, 51])
def test_an_estimate_is_made_of_order_statistics(count: int, library: ctypes.CDLL) -> None:
    samples = [float((place * 37) % 101) for place in range(count)]
    ordered = sorted(samples)
    trim = library.ns_estimate_trim(count) if count >= 6 else 0
    found = library.ns_estimate_of((ctypes.c_double * count)(*samples), count, 3)
    assert found.median == (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    assert (found.low, found.high) == (ordered[trim], ordered[-1 - trim])
    assert (found.samples, found.discarded) == (count, 3)


@given(st.lists(st.integers(0, 300), max_size=40))
def test_samples_count_where_most_of_them_are(library: ctypes.CDLL, values: list[int]) -> None:
    """The largest group of samples within a factor of two (of equal groups, the lowest) is sorted to the front."""
    groups = [[each for each in sorted(values) if low <= each <= 2 * low] for low in sorted(set(values))]
    expected = max(groups, key=len, default=[])
    samples = (ctypes.c_double * len(values))(*values)
    assert library.ns_estimate_together(samples, len(values)) == len(expected)
    assert list(samples)[: len(expected)] == expected
    assert sorted(samples) == sorted(values)
