"""A plan file in the runtime: the times of segments whose bodies are measured, and refused fields."""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any

import numpy as np
import pytest
from parts_library import PlanFile, Toucher, library

from engine_setup import plan_of, stealing, toy  # isort: skip
from task_graphs import Access, Run, body, graph, phase, task  # isort: skip

from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Mode, Region
from numasim.workload.sync_parameters import Role, SyncObject

NS_ERROR_FIELD = -4


class Pages:
    """The pages of a plan in the runtime."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.library, self.file = plan, library(), PlanFile(plan)
        self.made = c_void_p(self.library.probe_pages(self.file.handle))

    def start(self, segment: int, node: int, measured_ps: int = -1) -> tuple[int, int, int]:
        """Return (time, time if all bytes were local, overhead) of a segment that starts on ``node``."""
        time = self.library.ns_plan_file_start(self.file.handle, self.made, segment, Toucher(node, 0), measured_ps)
        return time.total_ps, time.local_ps, time.owed_ps

    def counts(self) -> tuple[int, list[list[int]]]:
        """Return (page faults, bytes by pair of nodes)."""
        nodes, node_bytes = self.plan.machine.nodes, self.library.probe_node_bytes(self.made)
        return self.library.probe_faults(self.made), np.ctypeslib.as_array(node_bytes, (nodes, nodes)).tolist()

    def close(self) -> None:
        """Free everything."""
        self.library.probe_pages_destroy(self.made)
        self.file.close()


PAGE = 4096
REGION = Region("data", 64 * PAGE, initialised=False)
READ = Access(0, 0, 2 * PAGE)


def touching(*accesses: Access, **placement: Any) -> Plan:
    """Return a plan with one segment of 1 ns and these accesses, on two nodes with 100 ns latency, 100 ns apart."""
    work = graph(task(Run(1000, accesses)), regions=(REGION,))
    strategy = stealing(placement={"policy": "first-touch", "granule": 1, **placement}, mapping="contiguous")
    return plan_of(work, 2, strategy, machine=toy(sockets=2, cores=1), skip=False)


def test_a_measured_time_computes_for_as_long_and_waits_as_planned() -> None:
    wait_ps = 2 * PAGE // 64 * 100_000 // 10  # 100 ns / 10 overlapping lines of a sequential walk = 10 ns a line
    pages = Pages(touching(READ))
    assert pages.start(0, 0) == (wait_ps, wait_ps, 0)
    assert pages.start(0, 1, 0) == (2 * wait_ps, wait_ps, 0)
    assert pages.start(0, 1, wait_ps + 5) == (2 * wait_ps, wait_ps + 5, 0)
    assert pages.start(0, 1, 3 * wait_ps) == (3 * wait_ps, 3 * wait_ps, 0)
    assert pages.counts() == (2, [[2 * PAGE, 0], [6 * PAGE, 0]])
    pages.close()


def test_work_without_accesses_takes_what_it_computes() -> None:
    pages = Pages(plan_of(graph(task(7, 11)), 2))
    assert [pages.start(0, 0), pages.start(1, 0), pages.start(1, 0, 5)] == [(7, 7, 0), (11, 11, 0), (5, 5, 0)]
    assert pages.counts() == (0, [[0]])
    pages.close()


WRITE = Access(0, PAGE, PAGE, mode=Mode.WRITE)
BAD_FIELDS: dict[str, tuple[Any, str]] = {
    "compute_ps": (np.array([-1]), "compute_ps has a value out of bounds: -1 at 0, not from 0 to 1152921504606846976"),
    "settled_ps": (np.array([0]), "settled_ps has 1 entries instead of 2"),
    "open_ptr": (np.array([0, 1]), "open_ptr does not run from 0 to 2"),
    "open_access": (np.array([0, 2]), "open_access has a value out of bounds: 2 at 1, not from 0 to 1"),
    "access_region": (np.array([0, 1], np.uint32), "access_region has a value out of bounds: 1 at 1, not from 0 to 0"),
    "access_offset": (np.array([63 * PAGE, 0]), "access 0 reaches beyond its region"),
    "access_factor": (
        np.array([1, 2**34]),
        "access_factor has a value out of bounds: 17179869184 at 1, not from 0 to 8589934592",
    ),
    "access_mlp": (np.array([0, 1]), "access_mlp has a value out of bounds: 0 at 0, not from 1 to 1000000"),
    "unit_pages": (np.array([0]), "unit_pages has a value out of bounds: 0 at 0, not from 1 to 1048576"),
    "home_ptr": (np.array([1, 1]), "home_ptr does not run from 0 to 0"),
    "free_pages": (np.array([1]), "nodes_by_distance has 0 entries instead of 2"),
    "latency_ps": (np.array([-1] * 4), "latency_ps has a value out of bounds: -1 at 0, not from 0 to 9007199254740992"),
}
BAD_WORDS: dict[str, tuple[Any, str]] = {
    "word_role": (np.array([5], np.uint8), "word_role has a value out of bounds: 5 at 0, not from 0 to 4"),
    "word_home": (np.array([1], np.int32), "word_home has a value out of bounds: 1 at 0, not from 0 to 0"),
    "worker_home": (np.array([0], np.int32), "worker_home has 1 entries instead of 2"),
    "word_parties": (np.array([0]), "word_parties has a value out of bounds: 0 at 0, not from 1 to 1048576"),
    "lock_kind": ("spinning", "lock_kind is 'spinning', which is not a name that is known"),
    "barrier_kind": ("", "barrier_kind is '', which is not a name that is known"),
    "lock_batch": (0, "lock_batch is 0, not from 1 to 1152921504606846976"),
    "lock_fair": (2, "lock_fair is 2, not from 0 to 1"),
    "signal_ps": (-1, "signal_ps is -1, not from 0 to 9007199254740992"),
    "spin_ps": ("long", "spin_ps is not there as one integer"),
}


def assert_refused(plan: Plan, name: str, value: Any, sentence: str) -> None:
    """Assert that the file of a plan is refused if a field has another value."""
    file = PlanFile(plan, {name: value})
    assert (file.error, file.problem) == (NS_ERROR_FIELD, sentence)
    file.close()


@pytest.mark.parametrize("name", BAD_FIELDS)
def test_fields_of_segments_and_pages_are_checked(name: str) -> None:
    assert_refused(touching(READ, WRITE), name, *BAD_FIELDS[name])


@pytest.mark.parametrize("name", BAD_WORDS)
def test_fields_of_words_are_checked(name: str) -> None:
    words = (SyncObject("gate", Role.BARRIER, parties=2),)
    work = graph(body(0), body(0), phases=(phase(0, 1, deal=Deal.CYCLIC),), words=words)
    assert_refused(plan_of(work, 2), name, *BAD_WORDS[name])
