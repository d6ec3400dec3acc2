"""Every topology in an XML file of hwloc is imported with exactly its cores, threads, nodes and caches, or refused.

The files here describe real machines and made-up machines of lstopo. `verification/machine_imports.py` imports all
files of hwloc's own tests.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from counted import Counts, counted_in_xml
from synthetic_topologies import ARCHIVE, names
from sysfs_trees import DAMAGED, TREES, put

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.measured_machine import import_machine
from numasim.machine.topology import Machine
from numasim.parts.models.sources import unsourced

HERE = Path(__file__).parent / "hwloc"
REFUSED = {  # systems that a machine file cannot describe
    "smt-9": "core 0 has 9 hardware threads; expected at most 8",
    "last-level-of-each-thread": "core 0 has several caches of level 3, the last one; expected ",
    "nodes-of-threads": "core 0 has threads on nodes 0-1; expected ",
}


def imported(path: Path) -> Machine:
    spec = (import_machine(sysfs=path) if path.is_dir() else import_machine(path)).check()
    assert unsourced(spec) == []
    return build(spec)


def counts(machine: Machine) -> Counts:
    caches = sorted(machine.llc_bytes_of_domain) if machine.caches.llc_bytes else ()
    return Counts(machine.cores, machine.threads, machine.nodes, tuple(caches))


@pytest.mark.parametrize("path", sorted(HERE.glob("*.xml")), ids=lambda path: path.stem)
def test_the_topologies_here_are_imported_exactly(path: Path) -> None:
    assert counts(imported(path)) == counted_in_xml(path)


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the made-up systems."""
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
        assert counts(imported(path)) == counted_in_xml(path)
        return
    with pytest.raises(InputError) as refused:
        imported(path)
    assert problem in str(refused.value)


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
    assert imported(root).memory_bytes.tolist() == [0, 8 * 2**30], "node 2 has neither processors nor memory to use"
