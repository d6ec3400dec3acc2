"""The bounds of LAWS (Chen and Guo 2015, section 5): worked out by hand, and against runs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from numasim.engine.check.locality_bounds import LeafAccess
from numasim.engine.check.packing_bounds import packed_work, space_bound

# 0 (10) has the children 1 (2) and 5 (4); 1 has 2, 3 and 4 (6, 8, 6), 5 has 6 (20)
PARENT = np.array([-1, 0, 1, 1, 1, 0, 5])
END = np.array([7, 5, 3, 4, 5, 7, 7])
OWN = np.array([10, 2, 6, 8, 6, 4, 20])


def test_work_and_chains_by_hand() -> None:
    found = packed_work(OWN, PARENT, END, np.array([1, 5]))
    assert found.free == 10
    assert found.subtrees == (22, 24)
    assert found.chains == (10, 24)
    assert found.free_chain == 10
    assert found.chain == 34  # 0, 5, 6


def test_subtrees_that_begin_lower_on_one_side() -> None:
    found = packed_work(OWN, PARENT, END, np.array([1, 6]))
    assert (found.free, found.free_chain, found.chain) == (14, 14, 34)
    assert (found.subtrees, found.chains) == ((22, 20), (10, 20))


def test_time_bounds_by_hand() -> None:
    """Two sockets of two cores."""
    found = packed_work(OWN, PARENT, END, np.array([1, 5]))
    assert found.free_ps(2) == 5 + 10
    assert found.subtree_ps(2) == [11 + 10, 12 + 24]
    assert found.local_ps(2, 2) == 12 + 17 + 24  # 46 / 4 and 34 / 2
    assert found.sum_ps(2, 2) == 15 + 53
    assert found.printed_ps(2, 2) == 5 + 12 + 17 + 34
    assert found.greedy_ps(2, 2) == 34 + 10 + 36  # (10 + 21 + 36) / 2, then the free chain and the longer subtree


def test_without_subtrees_all_is_free() -> None:
    found = packed_work(OWN, PARENT, END, np.array([], np.int64))
    assert (found.free, found.subtrees, found.free_chain, found.chain) == (56, (), 34, 34)
    assert found.greedy_ps(2, 2) == found.printed_ps(2, 2) == 28 + 34


def test_the_printed_bound_does_not_hold_for_few_subtrees() -> None:
    """Eight leaves of 1,000 ps below a root that takes no time, packed as one subtree: a socket of two cores executes
    them, two at a time, in 4,000 ps. Equation 13 says 2,000 + 500 + 1,000 on two sockets.
    """
    own, parent = np.array([0] + [1000] * 8), np.array([-1] + [0] * 8)
    found = packed_work(own, parent, np.array([9, *range(2, 10)]), np.array([0]))
    assert found.printed_ps(2, 2) == 3500
    assert found.sum_ps(2, 2) == 3500
    assert found.greedy_ps(2, 2) == 2500 + 5000


def test_space_bound_by_hand() -> None:
    """A chain of 5 tasks is live on one worker."""
    assert space_bound(serial_tasks=5, subtrees=3, workers=16) == 80
    assert space_bound(serial_tasks=5, subtrees=100, workers=16) == 500


def test_locality_by_hand() -> None:
    """Four sockets, 1 ps a byte at home and 3 elsewhere; 60 bytes of its own, 4 at the border."""
    leaf = LeafAccess(60, 4, Fraction(1), Fraction(3))
    assert leaf.random_ps(4) == 64 * Fraction(1, 4) + 64 * 3 * Fraction(3, 4) == 160
    assert leaf.allocated_ps == 60 + 12
    assert leaf.gain_ps(4) == Fraction(1, 2) * (180 - 4) == 88 == leaf.random_ps(4) - leaf.allocated_ps
    assert LeafAccess(1, 9, Fraction(1), Fraction(3)).gain_ps(4) < 0  # little of its own, much at the border
