"""A plan file in the C runtime: times of segments whose code is measured, and wrong fields, which are refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiling import ADDRESSES, compile_program, core_sources
from runtime_sources import HERE, refusal, sources, told

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))  # machines and graphs of the engine's tests are used here

from engine_setup import plan_of, stealing, toy
from task_graphs import Access, Run, body, graph, phase, task

from numasim.plan.plan import Plan
from numasim.runtime.fields_file import plan_fields, write_fields, write_plan
from numasim.workload.graph import Deal, Mode, Region
from numasim.workload.sync_parameters import Role, SyncObject

PAGE = 4096
REGION = Region("data", 64 * PAGE, initialised=False)
READ = Access(0, 0, 2 * PAGE)


def touching(*accesses: Access, **placement: Any) -> Plan:
    """Return a plan of one segment of 1 ns with these accesses, on two nodes: 100 ns local latency, 200 ns remote."""
    work = graph(task(Run(1000, accesses)), regions=(REGION,))
    strategy = stealing(placement={"policy": "first-touch", "granule": 1, **placement}, mapping="contiguous")
    return plan_of(work, 2, strategy, machine=toy(sockets=2, cores=1), skip=False)


def test_a_measured_time_computes_for_as_long_and_waits_as_planned(c_compiler: str, tmp_path: Path) -> None:
    """An argument of the program says how a segment starts: (segment, node, measured ps or -1). For each the program
    prints (ps, ps if all bytes were local, overhead in ps); then the page faults and the bytes by pair of nodes.
    """
    files = [HERE / "virtual" / "segment_times.c", *sources("fields.c", "plan_file.c"), *core_sources()]
    program = compile_program(c_compiler, tmp_path / "segment_times", files, ADDRESSES)

    def started(plan: Plan, *starts: tuple[int, int, int]) -> list[int]:
        write_plan(plan, 1, tmp_path / "plan")
        return [int(text) for text in told(program, tmp_path / "plan", *sum(starts, ())).split()]

    wait_ps = 2 * PAGE // 64 * 100_000 // 10  # 100 ns / 10 overlapping lines of a sequential walk = 10 ns a line
    found = started(touching(READ), (0, 0, -1), (0, 1, 0), (0, 1, wait_ps + 5), (0, 1, 3 * wait_ps))
    assert found[:3] == [wait_ps, wait_ps, 0]
    assert found[3:6] == [2 * wait_ps, wait_ps, 0]
    assert found[6:9] == [2 * wait_ps, wait_ps + 5, 0]
    assert found[9:12] == [3 * wait_ps, 3 * wait_ps, 0]
    assert found[12:] == [2, 2 * PAGE, 0, 6 * PAGE, 0]
    without_accesses = started(plan_of(graph(task(7, 11)), 2), (0, 0, -1), (1, 0, -1), (1, 0, 5))
    assert without_accesses == [7, 7, 0, 11, 11, 0, 5, 5, 0, 0, 0]


WRITE = Access(0, PAGE, PAGE, mode=Mode.WRITE)
BAD_FIELDS: dict[str, tuple[Any, str]] = {
    "compute_ps": (np.array([-1]), "compute_ps has a value out of bounds: -1 at 0, not from 0 to 1152921504606846976"),
    "settled_ps": (np.array([0]), "settled_ps has 1 entries instead of 2"),
    "open_ptr": (np.array([0, 1]), "open_ptr does not run from 0 to 2"),
    "open_access": (np.array([0, 2]), "open_access has a value out of bounds: 2 at 1, not from 0 to 1"),
    "access_region": (np.array([0, 1], np.uint32), "access_region has a value out of bounds: 1 at 1, not from 0 to 0"),
    "access_offset": (np.array([63 * PAGE, 0]), "access 0 reaches beyond its region"),
    "free_pages": (np.array([1]), "free_pages has 1 entries instead of 2 or none"),
}
BAD_WORDS: dict[str, tuple[Any, str]] = {
    "word_role": (np.array([5], np.uint8), "word_role has a value out of bounds: 5 at 0, not from 0 to 4"),
    "word_home": (np.array([1], np.int32), "word_home has a value out of bounds: 1 at 0, not from 0 to 0"),
    "lock_kind": ("spinning", "lock_kind is 'spinning', which is not a name that is known"),
    "lock_batch": (0, "lock_batch is 0, not from 1 to 1152921504606846976"),
    "lock_fair": (2, "lock_fair is 2, not from 0 to 1"),
    "spin_ps": ("long", "spin_ps is not there as one integer"),
}


WORDS = (SyncObject("gate", Role.BARRIER, parties=2),)
TEAM = graph(body(0), body(0), phases=(phase(0, 1, deal=Deal.CYCLIC),), words=WORDS)


@pytest.mark.parametrize("name", [*BAD_FIELDS, *BAD_WORDS])
def test_a_wrong_field_is_named(name: str, program: Path, tmp_path: Path) -> None:
    """Each kind of check is tested once; the schema has the bounds and sizes of all other fields."""
    plan = touching(READ, WRITE) if name in BAD_FIELDS else plan_of(TEAM, 2)
    value, sentence = {**BAD_FIELDS, **BAD_WORDS}[name]
    write_fields({**plan_fields(plan, 1), name: value}, tmp_path / "plan")
    assert refusal(program, "plan", tmp_path / "plan").endswith(f"plan {tmp_path / 'plan'}: {sentence}\n")
