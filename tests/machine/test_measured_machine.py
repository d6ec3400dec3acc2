"""Machines from measurements: each text format, several files together, and levels of times between cores.

The texts are made up in the formats of their programs. A machine of four cores in two sockets stands behind most.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.core_times import CoreTimes, found_levels, read_core_times
from numasim.machine.measured_machine import import_machine

LSCPU_P = "# The following is the parsable format\n# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n" + "".join(
    f"{cpu},{cpu},{cpu // 2},{cpu // 2},,{cpu},{cpu},{cpu},{cpu // 2}\n" for cpu in range(4)
)
LSCPU_E = "CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE\n" + "".join(
    f"  {cpu}    {cpu // 2}      {cpu // 2}    {cpu} {cpu}:{cpu}:{cpu}:{cpu // 2}   yes\n" for cpu in range(4)
)
NUMACTL = (
    "available: 2 nodes (0-1)\nnode 0 cpus: 0 1\nnode 0 size: 8000 MB\nnode 0 free: 9 MB\nnode 1 cpus: 2-3 (2)\n"
    "node 1 size: 8000 MB\nnode distances:\nnode   0   1 \n  0:  10  20 \n  1:  20  10 \n"
)
MLC = (
    "Intel(R) Memory Latency Checker - v3.99\nMeasuring idle latencies for sequential access (in ns)...\n"
    "\t\tNuma node\n"
    "Numa node\t     0\t     1\n       0\t  70.1\t 130.2\n       1\t 130.4\t  70.3\n\n"
    "Measuring Memory Bandwidths between nodes within system\nUsing Read-only traffic type\n\t\tNuma node\n"
    "Numa node\t     0\t     1\n       0\t50000.0\t20000.0\n       1\t21000.0\t52000.0\n"
)
LOWER = ",,,\n20.0,,,\n90.0,91.0,,\n92.0,90.0,21.0,\n"
TERMINAL = "       0   1   2   3\n  0\n  1  20±1\n  2  90±2  91±2\n  3  92±1  90±2  21±1\n"
C2CLAT = (
    " CPU    0    1    2    3\n   0    0   20   90   92\n   1   20    0   91   90\n   2   90   91    0   21\n"
    "   3   92   90   21    0\n"
)
COHERENCY = "offset,core0,core1,core2,core3\n0,x,20,90,92\n0,20,x,91,90\n0,90,91,x,21\n0,92,90,21,x\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Return the path of a file with each text, by the text's name."""
    texts = {"p": LSCPU_P, "e": LSCPU_E, "numactl": NUMACTL, "mlc": MLC, "times": LOWER}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    return {name: tmp_path / f"{name}.txt" for name in texts}


@pytest.mark.parametrize("text", [LOWER, TERMINAL, C2CLAT, f"$data << EOD\n{C2CLAT}EOD\n", COHERENCY])
def test_each_table_of_times_is_the_same_matrix(text: str) -> None:
    times = read_core_times(text, "table")
    assert times is not None
    expected = [[0, 20, 90, 92], [20, 0, 91, 90], [90, 91, 0, 21], [92, 90, 21, 0]]
    assert times.both_ways.tolist() == expected


def test_levels_of_a_machine_are_found_without_a_topology() -> None:
    """Two sockets of two caches of four cores: 20 ns within a cache, 60 within a socket, 150 between them; +-5 %."""
    cpu = np.arange(16)
    same = [cpu // size == (cpu // size)[:, None] for size in (4, 8)]
    exact = np.where(same[0], 20.0, np.where(same[1], 60.0, 150.0))
    noise = np.random.default_rng(1).uniform(0.95, 1.05, (16, 16))
    ns = exact * np.triu(noise, 1)
    found = found_levels(CoreTimes(np.where(ns > 0, ns, np.nan), None, "made:1"))
    assert [len(set(level.unit.tolist())) for level in found.levels] == [4, 2, 1]
    assert [level.pairs for level in found.levels] == [4 * 6, 2 * 16, 64]
    for level, time_ns in zip(found.levels, (20, 60, 150), strict=True):
        assert 0.95 * time_ns <= level.median_ns <= 1.05 * time_ns
    assert found.stand_for_the_matrix
    assert not found.odd


@pytest.mark.parametrize("topology", ["p", "e"])
def test_measurements_replace_what_a_topology_assumes(files: dict[str, Path], topology: str) -> None:
    draft = import_machine(files[topology], files["numactl"], files["mlc"], files["times"], name="mine")
    spec = draft.check()
    machine = build(spec)
    assert (machine.sockets, machine.nodes, machine.cores) == (2, 2, 4)
    assert machine.memory_bytes.tolist() == [8000 * 2**20] * 2
    assert machine.latency_ps.tolist() == [[70100, 130200], [130400, 70300]]
    assert machine.imc_bytes_per_s.tolist() == [51 * 10**9] * 2  # the median of both nodes
    assert machine.links.bytes_per_s.tolist() == [20 * 10**9] * 2  # the slower direction
    assert spec.coherence.same_socket_ns == Decimal("20.5")
    assert spec.coherence.cross_socket_ns == Decimal("90.5")
    marks = {
        field: draft.sources[field] for field in ("latency_ns", "nodes.imc_bandwidth_gbs", "coherence.same_socket_ns")
    }
    assert [source.split(",")[0] for source in marks.values()] == [
        "measured: mlc.txt:5", "measured: mlc.txt:12", "measured: times.txt:1",
    ]  # fmt: skip
    assert draft.sources["nodes.memory"] == "read: numactl -H in numactl.txt"
    assert any(remark.startswith("times.txt:1: rows are taken as") for remark in draft.remarks)


def test_of_two_files_that_measure_the_same_the_first_counts(files: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "later.txt").write_text(MLC.replace("70.1", "99.9") + "Measuring Loaded Latencies for the system\n")
    (tmp_path / "others.csv").write_text(LOWER.replace("20.0", "33.0"))
    draft = import_machine(files["p"], files["mlc"], tmp_path / "later.txt", files["times"], tmp_path / "others.csv")
    assert draft.values["latency_ns"][0][0] == Decimal("70.1")
    said = " ".join(draft.remarks)
    assert "later.txt:5: not used, latency_ns is measured: mlc.txt:5" in said
    assert "others.csv:1: not used" in said
    assert "later.txt: loaded latencies of Intel MLC are not used" in said


def test_groups_of_a_matrix_alone_are_derived_and_not_read(files: dict[str, Path]) -> None:
    sources = import_machine(files["times"]).sources
    assert sources["caches.cores_per_llc"].startswith("derived: groups of processors by the core-to-core times")
    assert sources["sockets"].startswith("assumed")


def test_a_matrix_that_levels_do_not_fit_is_taken_whole(files: dict[str, Path]) -> None:
    files["times"].write_text(",,,\n20.0,,,\n90.0,300.0,,\n140.0,90.0,21.0,\n")
    spec = import_machine(files["p"], files["times"]).check()
    assert spec.coherence.cores_ns is not None
    assert [float(each) for each in spec.coherence.cores_ns[1]] == [20, 5, 300, 90]  # 5: assumed within a core


def test_contradictions_between_topologies_are_named(files: dict[str, Path]) -> None:
    files["numactl"].write_text(NUMACTL.replace("2-3 (2)", "2"))
    remarks = import_machine(files["p"], files["numactl"]).remarks
    assert "processors: 4 in lscpu -p in p.txt, 3 in numactl -H in numactl.txt; the former is taken" in remarks


def test_a_table_of_other_nodes_is_not_used_and_named(files: dict[str, Path]) -> None:
    files["p"].write_text(LSCPU_P.replace(",1,1,", ",0,0,"))
    draft = import_machine(files["p"], files["mlc"])
    assert "mlc.txt:5: not used, a table of nodes 0-1 reading nodes 0-1; the machine has nodes 0" in draft.remarks
    assert draft.sources["local_latency_ns"].startswith("assumed")


STREAM = "Function    Best Rate MB/s  Avg time\nCopy:           90000.0     0.1\nTriad:          80000.0     0.1\n"
LIKWID_BENCH = "LIKWID MICRO BENCHMARK\nTest: load\nTime:\t\t\t1.0e+00 sec\nMByte/s:\t\t64000.00\n"


@pytest.mark.parametrize(("text", "gbs"), [(STREAM, 40), (LIKWID_BENCH, 32)])
def test_a_bandwidth_of_the_whole_system_is_shared_by_its_nodes(files: dict[str, Path], text: str, gbs: int) -> None:
    files["mlc"].write_text(text)
    draft = import_machine(files["p"], files["mlc"])
    assert build(draft.check()).imc_bytes_per_s.tolist() == [gbs * 10**9] * 2
    assert "as if the threads of all nodes took part" in draft.sources["nodes.imc_bandwidth_gbs"]


LIKWID = (
    "CPU name:\tExample CPU @ 2.40GHz\n*****\nHardware Thread Topology\n*****\nSockets:\t\t1\n"
    "HWThread\tThread\t\tCore\t\tSocket\t\tAvailable\n"
    "0\t\t0\t\t0\t\t0\t\t*\n1\t\t0\t\t1\t\t0\t\t*\n2\t\t1\t\t0\t\t0\t\t*\n3\t\t1\t\t1\t\t0\t\t*\n-----\n"
    "Level:\t\t\t3\nSize:\t\t\t25 MB\nCache groups:\t\t( 0 2 1 3 )\n-----\nDomain:\t\t\t0\nProcessors:\t\t( 0 2 1 3 )\n"
    "Distances:\t\t10\nTotal memory:\t\t4096 MB\n"
)


def test_the_topology_of_likwid_has_cores_caches_and_memory(tmp_path: Path) -> None:
    (tmp_path / "likwid.txt").write_text(LIKWID)
    machine = build(import_machine(tmp_path / "likwid.txt").check())
    assert (machine.cores, machine.threads) == (2, 4)
    assert machine.llc_bytes_of_domain == [25 * 2**20]
    assert machine.memory_bytes.tolist() == [4 * 2**30]
    assert machine.clock.base_hz == 2_400_000_000


BAD = {
    "no known program wrote this text": "hello\n",
    "the row has 2 columns, and the titles name 9": LSCPU_P + "4,4\n",
    "a processor is listed twice": LSCPU_P + "3,3,1,1,,3,3,3,1\n",
    "node 1 has 1 distances for 2 nodes": NUMACTL.replace("  1:  20  10", "  1:  20"),
    "'x' is no list of processors": NUMACTL.replace("cpus: 0 1", "cpus: x"),
    "the row of node 1 does not have a number for each of 2 nodes": MLC.replace("\t  70.3", ""),
    "bad.txt: this file does not say which processors the machine has": MLC,
    "some pairs of processors have no time": ",,,\n20.0,,,\n90.0,,,\n92.0,90.0,21.0,\n",
    "'1.2.3' stands where a number is needed": LIKWID.replace("Distances:\t\t10", "Distances:\t\t1.2.3"),
    "'9\u00b2' stands where a number is needed": LSCPU_P.replace("\n0,0,", "\n0,9\u00b2,"),
    "the row of processor 1 has 5 cells": ",,,\n20.0,,,,\n90.0,91.0,,\n92.0,90.0,21.0,\n",
}


@pytest.mark.parametrize("problem", BAD)
def test_a_damaged_text_is_refused_with_its_place(tmp_path: Path, problem: str) -> None:
    (tmp_path / "bad.txt").write_text(BAD[problem])
    with pytest.raises(InputError) as refused:
        import_machine(tmp_path / "bad.txt")
    assert problem in str(refused.value)


MEASURED = Path(__file__).resolve().parents[3] / "shared" / "data" / "measured"


@pytest.mark.skipif(not MEASURED.is_dir(), reason="the measured machines are not here")
@pytest.mark.parametrize(
    ("file", "units"),
    [("amd_epyc_9654_2s", [24, 2, 1]), ("intel_xeon_8360y_2s", [72, 2, 1]), ("amd_ryzen_9_7900x", [12, 2, 1])],
)
def test_the_levels_of_measured_processors(file: str, units: list[int]) -> None:
    """A Genoa has 24 caches of 8 cores, an Ice Lake 36 cores of two threads a socket, a Ryzen two caches of 6 cores."""
    times = read_core_times((MEASURED / "c2c" / f"{file}.csv").read_text(), file)
    assert times is not None
    assert [len(set(level.unit.tolist())) for level in found_levels(times).levels] == units
