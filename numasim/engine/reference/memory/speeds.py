"""The speed of each worker: shared cores, clocks that fall with load, kinds of cores, spread of speeds (model 2.6).

Speeds are in ppm of a worker alone on a core of the fastest kind at the machine's highest clock; compute times refer to
such a worker. The spread, a random factor of each worker, scales both computing and memory. Clock and kind of core
scale computing alone; a shared core slows memory, too, if the specification says so. A worker executes while it has
work in hand, overheads included. It polls while it searches, backs off, or waits for a lock, an atomic word or at a
barrier. It rests while it sleeps or has no part in a serial phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from numasim.draws import DrawClass, base, draw
from numasim.parts.unit_factors import MILLION
from numasim.plan.effects import noise_ppm
from numasim.plan.plan import Plan


class Activity(IntEnum):
    """What a worker does, as far as it changes the speed of other workers."""

    EXECUTES = 0
    POLLS = 1
    RESTS = 2


class Speed(NamedTuple):
    """The speeds at which a worker computes and gets bytes from memory, in ppm, at least 1."""

    compute_ppm: int
    memory_ppm: int


class Speeds:
    """Computes the speed of every worker from the activities of all workers."""

    def __init__(self, plan: Plan, seed: int) -> None:
        smt, clock, effects = plan.machine.smt, plan.machine.clock, plan.effects
        shared = effects.smt != "none"
        self._beside = {
            Activity.EXECUTES: smt.busy_ppm if shared else MILLION,
            Activity.POLLS: smt.poll_ppm if shared else MILLION,
            Activity.RESTS: MILLION,
        }
        core, self._socket = plan.workers.core.tolist(), plan.workers.socket.tolist()
        self._mates = [[v for v in range(len(core)) if v != w and core[v] == core[w]] for w in range(len(core))]
        on_core = {c: [v for v in range(len(core)) if core[v] == c] for c in core}
        self._cores_of = [
            [on_core[c] for c in sorted({core[v] for v in range(len(core)) if self._socket[v] == s})]
            for s in range(max(self._socket) + 1)
        ]
        self._slows_memory = effects.smt == "memory"
        steps = zip(clock.active.tolist(), clock.hz.tolist(), strict=True)
        self._steps: list[tuple[int, int]] = list(steps) if effects.clock == "turbo" else []
        self._base_hz = clock.base_hz
        self._core_ppm = plan.machine.speed_of_core[plan.workers.core].tolist()
        drawn = (draw(base(seed, DrawClass.WORKER_SPEED, w), 0) for w in range(len(core)))
        self._own = [MILLION + noise_ppm(number, effects.worker_spread_ppm) for number in drawn]

    def of_all(self, activity: Sequence[Activity]) -> list[Speed]:
        """Return [workers] the speed of each, from ``activity`` [workers]."""
        clocks = [self._clock_ppm(cores, activity) for cores in self._cores_of]
        return [self._of(w, activity, clocks[self._socket[w]]) for w in range(len(activity))]

    def _of(self, w: int, activity: Sequence[Activity], clock_ppm: int) -> Speed:
        shared = MILLION
        for mate in self._mates[w]:
            shared = shared * self._beside[activity[mate]] // MILLION
        compute = shared * clock_ppm // MILLION * self._core_ppm[w] // MILLION * self._own[w] // MILLION
        memory = (shared if self._slows_memory else MILLION) * self._own[w] // MILLION
        return Speed(max(1, compute), max(1, memory))

    def _clock_ppm(self, cores: Sequence[Sequence[int]], activity: Sequence[Activity]) -> int:
        """Return a socket's clock in ppm of its highest one: it falls with the number of cores that do not rest."""
        if not self._steps:
            return MILLION
        active = sum(any(activity[v] != Activity.RESTS for v in core) for core in cores)
        hz = next((hz for most, hz in self._steps if active <= most), self._base_hz)
        return hz * MILLION // self._steps[0][1]
