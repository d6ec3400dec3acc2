"""Every topology that hwloc's test suite has is imported exactly, or refused in a sentence: never rounded.

The files here are a few of those. NUMASIM_TOPOLOGIES names a folder with more: XML files of hwloc anywhere below it,
and unpacked copies of sysfs, each a folder `sys`; such as a clone of hwloc with the archives of `tests/hwloc/linux`
unpacked.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from counted import Counts, counted_in_sysfs, counted_in_xml
from sysfs_trees import TREES, put

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.importing import import_machine
from numasim.machine.topology import Machine
from numasim.parts.models.sources import unsourced

HERE = Path(__file__).parent / "hwloc"


def topologies(folder: Path) -> list[Path]:
    """XML files and copies of sysfs below a folder."""
    files = [path for path in folder.rglob("*.xml") if "<topology" in path.read_text(errors="replace")[:1000]]
    return sorted([*files, *(path.parent for path in folder.rglob("sys/devices") if path.is_dir())])


def more_topologies() -> list[Path]:
    named = os.environ.get("NUMASIM_TOPOLOGIES")
    return topologies(Path(named)) if named else []


def imported(path: Path) -> Machine:
    draft = import_machine(sysfs=path, name="copy") if path.is_dir() else import_machine(path)
    spec = draft.check()
    assert unsourced(spec) == []
    return build(spec)


def counts(machine: Machine) -> Counts:
    caches = machine.cache_domains if machine.caches.llc_bytes else 0
    return Counts(machine.cores, machine.threads, machine.nodes, caches)


def counted(path: Path) -> Counts:
    return counted_in_sysfs(path) if path.is_dir() else counted_in_xml(path)


@pytest.mark.parametrize("path", topologies(HERE), ids=lambda path: path.stem)
def test_the_topologies_here_are_imported_exactly(path: Path) -> None:
    assert counts(imported(path)) == counted(path)


@pytest.mark.parametrize("path", more_topologies(), ids=str)
def test_more_topologies_are_imported_exactly_or_refused(path: Path) -> None:
    try:
        machine = imported(path)
    except InputError as refused:
        said = str(refused)
        assert "\n" not in said
        assert "; expected " in said
        return
    assert counts(machine) == counted(path)


@pytest.mark.parametrize("name", TREES)
def test_made_up_copies_of_sysfs_are_imported_exactly(name: str, tmp_path: Path) -> None:
    root = TREES[name].write(tmp_path / "sys")
    assert counts(imported(root)) == counted(root)


@pytest.mark.parametrize("name", TREES)
def test_bitmaps_of_old_kernels_say_the_same_as_lists(name: str, tmp_path: Path) -> None:
    """Kernels had bitmaps before they had lists; some copies end in a zero byte."""
    root = TREES[name].write(tmp_path / "sys")
    before = counts(imported(root))
    for found in [*root.rglob("core_cpus_list"), *root.rglob("shared_cpu_list"), *root.rglob("node*/cpulist")]:
        numbers = [int(word) for word in found.read_text().replace("\n", "").split(",") if word]
        bits = f"{sum(1 << number for number in numbers):016x}"
        name_of_map = {"core_cpus_list": "thread_siblings", "shared_cpu_list": "shared_cpu_map", "cpulist": "cpumap"}
        (found.parent / name_of_map[found.name]).write_text(f"{bits[:8]},{bits[8:]}\n\0")
        found.unlink()
    assert counts(imported(root)) == before == counted(root)


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("devices/system/node/node0/cpulist", "1", "processor 0 is on no node"),
        ("devices/system/node/node1/cpulist", "0-3", "processor 0 is on nodes 0-1"),
        ("devices/system/node/node0/cpulist", "0,9-5", "'0,9-5' is no list of processors"),
    ],
)
def test_processors_on_no_node_or_several_are_refused(file: str, text: str, problem: str, tmp_path: Path) -> None:
    root = TREES["a node without memory"].write(tmp_path / "sys")
    put(root, file, text)
    with pytest.raises(InputError) as refused:
        imported(root)
    assert problem in str(refused.value)


def test_memory_that_may_not_be_used_is_none(tmp_path: Path) -> None:
    root = TREES["a node without processors"].write(tmp_path / "sys")
    put(root, "fs/cgroup/cpuset.mems.effective", "1")
    machine = imported(root)
    assert machine.memory_bytes.tolist() == [0, 8 * 2**30], "node 2 has neither processors nor memory to use"
    assert counts(machine) == counted(root)
