"""The C runtime and the Python importer of machine files read the same topology (nodes, caches, cores) from sysfs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from runtime_sources import refusal
from sysfs_trees import CHANGES, DAMAGED, TREES, Tree, put

from numasim.errors import InputError
from numasim.machine.sysfs import read_sysfs


def topology(program: Path, *arguments: str | Path) -> Any:
    answer = subprocess.run([program, "topology", *arguments], capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def groups(cpus: list[dict[str, int]], member: str) -> set[frozenset[int]]:
    """Return the sets of processors with the same number in the field ``member``, such as their socket."""
    return {frozenset(cpu["id"] for cpu in cpus if cpu[member] == value) for value in {cpu[member] for cpu in cpus}}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", TREES)
def test_both_readers_of_sysfs_see_the_same(name: str, change: str, program: Path, tmp_path: Path) -> None:
    root = TREES[name].write(tmp_path)
    CHANGES[change](root)
    seen, inventory = topology(program, "--root", root), read_sysfs(root)
    threads = [vars(thread) for thread in inventory.threads]
    ids = [node["id"] for node in seen["nodes"]]
    assert [cpu["id"] for cpu in seen["cpus"]] == [thread["id"] for thread in threads]
    for member in ("core", "socket"):
        assert groups(seen["cpus"], member) == groups(threads, member)
    assert [ids[cpu["node"]] for cpu in seen["cpus"]] == [thread["node"] for thread in threads]
    assert {node["id"]: node["memory_bytes"] for node in seen["nodes"]} == inventory.memory_bytes
    pairs = {(a, b): far for a, row in zip(ids, seen["distance"], strict=True) for b, far in zip(ids, row, strict=True)}
    assert pairs == inventory.distance
    usable = {thread["id"] for thread in threads}
    first = min(usable)
    caches = {cache.level: cache for cache in inventory.caches if first in cache.threads}
    for cache in seen["caches"]:
        same = caches.pop(cache["level"])
        assert (cache["bytes"], cache["line_bytes"], cache["cpus"]) == (
            same.size_bytes,
            same.line_bytes,
            len(same.threads & usable),
        )
    assert caches == {}


@pytest.mark.parametrize("name", DAMAGED)
def test_both_readers_of_sysfs_refuse_the_same(name: str, program: Path, tmp_path: Path) -> None:
    file, text = DAMAGED[name]
    root = TREES["a node without memory"].write(tmp_path)
    put(root, file.replace("cpumap", "cpulist"), "")
    put(root, file, text)
    with pytest.raises(InputError):
        read_sysfs(root)
    said = refusal(program, "topology", "--root", root)
    assert str(root) in said
    assert "damaged" in said


def test_a_bitmap_of_several_groups(program: Path, tmp_path: Path) -> None:
    """Processor 69 is bit 5 of the highest of three groups of 32 bits; some systems begin a new line after it."""
    put(tmp_path, "devices/system/cpu/online", "0,69")
    put(tmp_path, "devices/system/node/online", "0-1")
    put(tmp_path, "devices/system/node/node0/cpumap", "00000000,00000000,00000001")
    put(tmp_path, "devices/system/node/node1/cpumap", "20,\n00000000,00000000")
    seen = topology(program, "--root", tmp_path)
    assert [(cpu["id"], cpu["node"]) for cpu in seen["cpus"]] == [(0, 0), (69, 1)]


@pytest.mark.parametrize(
    ("tree", "cores", "siblings"),
    [
        (TREES["two nodes with hardware threads"], [*range(12), *range(12)], [0] * 12 + [1] * 12),
        (Tree(cores=2, threads=2, offline=(0,)), [0, 1, 0], [0, 0, 1]),  # processors 1 to 3
    ],
)
def test_hardware_threads_of_a_core_are_siblings(
    tree: Tree, cores: list[int], siblings: list[int], program: Path, tmp_path: Path
) -> None:
    cpus = topology(program, "--root", tree.write(tmp_path))["cpus"]
    assert [(cpu["core"], cpu["sibling"]) for cpu in cpus] == [*zip(cores, siblings, strict=True)]


def test_a_system_whose_kernel_knows_no_nodes_has_one(program: Path, tmp_path: Path) -> None:
    put(tmp_path, "devices/system/cpu/online", "0-2")
    seen = topology(program, "--root", tmp_path)
    assert (seen["cores"], seen["sockets"], seen["distance"]) == (3, 1, [[10]])
    assert seen["nodes"] == [{"id": 0, "memory_bytes": 0, "cpus": 3}]


def test_the_affinity_mask_is_obeyed(program: Path) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    everything = topology(program)
    assert [cpu["id"] for cpu in everything["cpus"]] == allowed
    arguments = ["taskset", "-c", str(allowed[-1]), str(program), "topology"]
    one = json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
    assert [cpu["id"] for cpu in one["cpus"]] == [allowed[-1]]
    assert one["nodes"][one["cpus"][0]["node"]]["cpus"] == 1


def test_threads_and_memory_that_are_put_somewhere_are_found_there(program: Path) -> None:
    seen, found = topology(program), topology(program, "--binding")
    assert found["pages_at_home"] == [[node["id"], found["pages"]] for node in seen["nodes"] if node["memory_bytes"]]
    assert found["threads_at_home"] == found["threads"] == len(seen["cpus"])


def test_mistakes_are_one_sentence(program: Path, tmp_path: Path) -> None:
    assert "cannot be read" in refusal(program, "topology", "--root", tmp_path)
    assert "--rot is no option here" in refusal(program, "topology", "--rot", tmp_path)
    assert "--root is no option here" in refusal(program, "topology", "--root")
    assert "needs the running system" in refusal(program, "topology", "--root", tmp_path, "--binding")
    root = Tree(allowed="7").write(tmp_path)
    assert "this request is not possible" in refusal(program, "topology", "--root", root)
