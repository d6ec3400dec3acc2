"""Every topology is imported exactly, or refused in a sentence: never rounded.

The files here describe real machines and made-up machines of lstopo. NUMASIM_TOPOLOGIES names a folder with further XML
files of hwloc, and unpacked copies of sysfs in folders `sys`, for example a clone of hwloc with the unpacked archives
of `tests/hwloc/linux`.
"""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest
from counted import Counts, counted_in_sysfs, counted_in_xml
from synthetic_topologies import ARCHIVE, names
from sysfs_trees import CHANGES, DAMAGED, TREES, put, write_bitmaps

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.importing import import_machine
from numasim.machine.topology import Machine
from numasim.parts.models.sources import unsourced

HERE = Path(__file__).parent / "hwloc"
REFUSED = {  # systems that a machine file cannot describe
    "smt-9": "core 0 has 9 hardware threads; expected at most 8",
    "last-level-of-each-thread": "core 0 has several caches of level 3, the last one; expected ",
    "nodes-of-threads": "core 0 has threads on nodes 0-1; expected ",
}


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
    caches = sorted(machine.llc_bytes_of_domain) if machine.caches.llc_bytes else ()
    return Counts(machine.cores, machine.threads, machine.nodes, tuple(caches))


def counted(path: Path) -> Counts:
    return counted_in_sysfs(path) if path.is_dir() else counted_in_xml(path)


@pytest.mark.parametrize("path", topologies(HERE), ids=lambda path: path.stem)
def test_the_topologies_here_are_imported_exactly(path: Path) -> None:
    assert counts(imported(path)) == counted(path)


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the made-up systems."""
    folder = tmp_path_factory.mktemp("synthetic")
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            found = archive.extractfile(member)
            assert found is not None
            (folder / Path(member.name).name).write_bytes(found.read())
    return folder


def test_the_made_up_systems_are_those_listed(synthetic: Path) -> None:
    assert sorted(path.stem for path in synthetic.iterdir()) == sorted(names())


@pytest.mark.parametrize("name", names())
def test_made_up_systems_are_imported_exactly_or_refused(name: str, synthetic: Path) -> None:
    path = synthetic / f"{name}.xml"
    problem = REFUSED.get(name.partition("-")[2])
    if problem is None:
        assert counts(imported(path)) == counted(path)
        return
    with pytest.raises(InputError) as refused:
        imported(path)
    assert problem in str(refused.value)


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


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", TREES)
def test_made_up_copies_of_sysfs_are_imported_exactly(name: str, change: str, tmp_path: Path) -> None:
    root = TREES[name].write(tmp_path / "sys")
    CHANGES[change](root)
    assert counts(imported(root)) == counted(root)


@pytest.mark.parametrize("name", TREES)
def test_bitmaps_of_old_kernels_say_the_same_as_lists(name: str, tmp_path: Path) -> None:
    root = TREES[name].write(tmp_path / "sys")
    before = counts(imported(root))
    write_bitmaps(root)
    assert counts(imported(root)) == before


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("a processor on no node", "processor 0 is on no node"),
        ("processors on two nodes", "processor 0 is on nodes 0-1"),
        ("a list backwards", "'0,9-5' is no list of processors"),
        ("no bitmap", "'0x3' is no bitmap"),
        ("a bitmap that is too wide", "is no bitmap"),
    ],
)
def test_processors_on_no_node_or_several_are_refused(name: str, problem: str, tmp_path: Path) -> None:
    file, text = DAMAGED[name]
    root = TREES["a node without memory"].write(tmp_path / "sys")
    put(root, file.replace("cpumap", "cpulist"), "")
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
