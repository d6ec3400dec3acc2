"""The thresholds S and s of a queue, from the (s, S) inventory model (thesis eq. 3.3 and 3.4; model 4.3).

    S = C - lambda * T_push        s = mu * T_pop

with C the capacity, lambda the arrival rate of tasks at the queue, mu the rate at which its worker executes them, and
T_push, T_pop the mean times of a push and a pop. Both products are rounded up; all arithmetic is on integers.
"""

from __future__ import annotations

from dataclasses import dataclass

from numasim.parts.unit_factors import MILLION
from numasim.strategy.steal_plan import Thresholds


@dataclass(frozen=True)
class Measured:
    """What a worker has measured of its queue when it computes the thresholds."""

    capacity: int
    pushes: int
    span_ps: int  # time since the start, in which the pushes came
    executed: int
    busy_ps: int  # time spent executing them
    peak_sum: int  # sum over queues of their longest lengths so far
    queues: int


def first_thresholds(rule: Thresholds, capacity: list[int]) -> tuple[list[int], list[int]]:
    """Return (S, s) before anything is measured: S = C - 1 (at least 1), by rule `avail` s + 1, and s = 1."""
    low = [rule.min_tasks if rule.min_tasks is not None else 1] * len(capacity)
    if rule.max_tasks is not None:
        return [rule.max_tasks] * len(capacity), low
    if rule.rule == "avail":
        return [s + 1 for s in low], low
    return [max(1, c - 1) for c in capacity], low


def computed_thresholds(rule: Thresholds, push_ps: int, pop_ps: int, seen: Measured) -> tuple[int, int]:
    """Return (S, s) of one queue from what its worker has measured."""
    low = rule.min_tasks if rule.min_tasks is not None else max(1, _ceil(seen.executed * pop_ps, seen.busy_ps))
    if rule.max_tasks is not None:
        return rule.max_tasks, low
    return RULES[rule.rule](rule, push_ps, low, seen), low


def _literal(rule: Thresholds, push_ps: int, low: int, seen: Measured) -> int:
    return max(1, seen.capacity - _ceil(seen.pushes * push_ps, seen.span_ps))


def _avail(rule: Thresholds, push_ps: int, low: int, seen: Measured) -> int:
    """Return S such that a task is available if the queue holds more tasks than its owner keeps."""
    return low + 1


def _fraction(rule: Thresholds, push_ps: int, low: int, seen: Measured) -> int:
    """Return S as a fraction of the mean over the queues of their longest length."""
    return max(low + 1, seen.peak_sum * rule.fraction_ppm // (seen.queues * MILLION))


RULES = {"literal": _literal, "avail": _avail, "fraction": _fraction}


def _ceil(part: int, whole: int) -> int:
    return -(-part // whole) if whole else 0
