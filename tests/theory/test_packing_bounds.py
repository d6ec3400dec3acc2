"""The equations of LAWS (Chen and Guo 2015, section 5) on one small tree, worked out by hand.

`test_laws_runs` compares the equations with runs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from numasim.engine.observe.trace_hash import Rank
from numasim.engine.reference.ledger import Executed
from numasim.strategy.control.controller import Program

sys.path.insert(0, str(Path(__file__).parents[2] / "verification" / "laws"))

from laws_equations import live_at_most, packed_work, pass_of, space_checks, time_checks

# Task 0 takes 10 ps; its children are 1 (2 ps) and 5 (4 ps). Task 1 has the children 2, 3 and 4 (6, 8, 6 ps), task 5
# has the child 6 (20 ps).
PARENT = np.array([-1, 0, 1, 1, 1, 0, 5])
END = np.array([7, 5, 3, 4, 5, 7, 7])
OWN = np.array([10, 2, 6, 8, 6, 4, 20])


def test_work_chains_and_time_bounds_by_hand() -> None:
    found = packed_work(OWN, PARENT, END, np.array([1, 5]))
    assert found.free == 10
    assert found.subtrees == (22, 24)
    assert found.chains == (10, 24)
    assert found.free_chain == 10
    assert found.chain == 34  # tasks 0, 5 and 6: 10 + 4 + 20 ps
    # on two sockets of two cores
    assert found.free_ps(2) == 5 + 10
    assert found.subtree_ps(2) == [11 + 10, 12 + 24]
    assert found.local_ps(2, 2) == 12 + 17 + 24  # 46 / 4 and 34 / 2
    assert found.sum_ps(2, 2) == 15 + 53
    assert found.printed_ps(2, 2) == 5 + 12 + 17 + 34
    assert found.greedy_ps(2, 2) == 34 + 10 + 36  # (10 + 21 + 36) / 2, then the free chain and the longer subtree


# ---- a pass of the tree above on two sockets of two cores, with 1 and 5 as roots, from 100 to 160 -----------------

STRETCHES = [
    (0, 0, 10, 20),  # of an earlier pass
    (0, 0, 100, 110),
    (1, 0, 110, 112),
    (2, 0, 112, 118),
    (3, 1, 113, 121),
    (4, 0, 118, 124),
    (5, 2, 111, 115),
    (6, 2, 115, 135),
]
PUT = [(110, 1), (110, 5), (112, 1), (20, 5)]  # puts (time, task): roots, the continuation of 1, an earlier pass


DEPTH = np.array([0, 1, 2, 2, 2, 1, 2])
KNOWN = Program(PARENT, DEPTH, END, np.zeros(len(PARENT), np.int64), ((0,),), (), (2,), 2, 0, 0, 64, 4, 2)
LOG = [Executed(task, 0, worker, begin, end) for task, worker, begin, end in STRETCHES]


def test_a_pass_by_hand() -> None:
    records = np.array([(when, Rank.PUT, 0, task, 0) for when, task in PUT], np.uint64)
    ran = pass_of(LOG, records, KNOWN, 100, 160)
    assert ran.tasks.tolist() == list(range(7))
    assert ran.own_ps.tolist() == OWN.tolist()
    assert ran.begun.tolist() == [100, 110, 112, 113, 118, 111, 115]
    assert ran.ended.tolist() == [135, 124, 118, 121, 124, 135, 135]
    assert ran.created.tolist() == [100, 110, 112, 113, 118, 110, 115]
    assert live_at_most(ran) == 6  # from 115 on 0, 1, 2, 3, 5 and 6; 4 begins as 2 ends


def test_checks_of_a_pass_by_hand() -> None:
    roots = np.array([1, 5])
    ran = pass_of(LOG, np.zeros((0, 5), np.uint64), KNOWN, 100, 160)
    found = time_checks(ran, KNOWN, roots, 2, 2, search_ps=0)
    seen = {name: [(each.measured, each.bound) for each in checks] for name, checks in found.items()}
    assert seen == {
        "9": [(14, 21), (24, 36)],
        "10": [(25, 19 + 24)],  # 14 and 24 on two sockets, and the longer chain
        "11": [(25, 53)],
        "12": [(60, 68)],
        "13": [(60, 68)],
        "greedy": [(60, 80)],
    }
    slower = time_checks(ran, KNOWN, roots, 2, 2, search_ps=2)
    assert [each.bound for each in slower["9"]] == [15 + 14, 14 + 28]  # 30 / 2, two tasks in a chain; 28 / 2, two
    assert slower["10"][0].bound == 21 + 28
    nothing = time_checks(ran, KNOWN, roots[:0], 2, 2, search_ps=0)
    assert [(each.measured, each.bound) for each in nothing["8"]] == [(60, 28 + 34)]
    space = space_checks(ran, KNOWN, roots, workers=1)
    assert (space["14"].bound, space["15"].bound) == (3, 6)
