"""Bare SimPy: timeouts without a model, a lower limit of what any simulation on SimPy costs."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from numasim.benchmark.effort import Effort
from numasim.benchmark.sampling import Probe

if TYPE_CHECKING:
    import simpy

PROCESSES = 24  # processes that wait


def bare_probe(effort: Effort) -> Probe[float]:
    """The probe of the rate of bare timeouts."""
    timeouts = max(PROCESSES, int(effort.sample_s * timeouts_per_second(effort.first_tasks)))
    return Probe(lambda: (timeouts_per_second(timeouts),), float)


def timeouts_per_second(timeouts: int, processes: int = PROCESSES) -> float:
    """The rate of a SimPy simulation in which ``processes`` wait repeatedly, ``timeouts`` times in all."""
    import simpy

    env = simpy.Environment()
    each = -(-timeouts // processes)
    for number in range(processes):
        env.process(_waiter(env, each, 1000 + number))
    start = time.perf_counter()
    env.run()
    return each * processes / (time.perf_counter() - start)


def _waiter(env: simpy.Environment, times: int, delay: int) -> Generator[simpy.Event, Any, None]:
    for _ in range(times):
        yield env.timeout(delay)
