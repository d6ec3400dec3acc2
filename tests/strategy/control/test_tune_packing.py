"""Algorithm 1 of LAWS (model 4.8) on made-up times of iterations: which packings are tried, and which are kept.

A packing is a set of tasks, the roots of subtrees that one socket executes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from control_programs import LEAF, program_of, regular
from pydantic import ValidationError

from numasim.parts.models.tune_model import CpuBoundSpec, TuneSpec
from numasim.schema.enumerations import Tier
from numasim.strategy.control.built_in import PLAIN, PackingTuner, bound_instructions, is_cpu_bound, tasks_of_loop
from numasim.strategy.control.controller import I64, Controls, Measures, Program
from numasim.workload.phases import Loop

FREE, ROOT, LOCAL = Tier.FREE, Tier.ROOT, Tier.LOCAL
BINARY = program_of([[regular(2, 5)]])  # depths 0 to 4, 16 leaves
LEAF_MISSES = np.where(BINARY.depth == 4, 25, 0)  # four leaves below depth 2 miss 100 lines: 6,400 bytes fill the cache


def measures(program: Program, iteration: int, time_ps: int = 0, misses: I64 | None = None, phase: int = 0) -> Measures:
    none = np.zeros(program.tasks, np.int64)
    nodes = program.nodes
    return Measures(
        iteration=iteration,
        phase=phase,
        time_ps=time_ps,
        task_ps=none,
        misses=none if misses is None else misses,
        bytes=np.zeros((program.tasks, nodes), np.int64),
        node_bytes=np.zeros((nodes, nodes), np.int64),
        worker_busy_ps=np.zeros(program.workers, np.int64),
    )


@dataclass
class Run:
    """Iterations of a loop under a tuner: the roots of each iteration, from the initial packing on."""

    program: Program
    tuner: PackingTuner
    misses: I64
    roots: list[list[int]] = field(default_factory=list)

    def iterate(self, time_of: dict[int, int], iterations: int) -> list[int]:
        """Return [iterations] the depth of the roots in each; an iteration at ``depth`` takes ``time_of[depth]``."""
        state, controls = self.tuner(self.program, None, None)
        assert all_are(FREE, controls), "in the first iteration"
        tiers = controls.tiers
        found: list[int] = []
        time_ps = 0
        for iteration in range(iterations):
            state, controls = self.tuner(self.program, state, measures(self.program, iteration, time_ps, self.misses))
            tiers = tiers if controls.tiers is None else controls.tiers
            roots = np.flatnonzero(tiers == ROOT)
            self.roots.append(roots.tolist())
            depth = set(self.program.depth[roots].tolist())
            assert len(depth) == 1
            found += depth
            time_ps = time_of[found[-1]]
        return found


def packing(**fields: object) -> PackingTuner:
    return PackingTuner(TuneSpec.model_validate({"what": "packing", **fields}))


A_HUNDREDTH_LESS = {"keep": {"faster_by_per_mille": 10}}  # from 1,000 ps to 990 is enough, to 991 is not


@pytest.mark.parametrize(
    ("time_of", "fields", "depths"),
    [
        # the tuner tries smaller subtrees while each iteration is faster than the last; an equal time ends this
        ({2: 100, 3: 90, 4: 80}, {}, [2, 3, 4, 4, 4, 4, 4, 4]),
        ({2: 100, 3: 90, 4: 95}, {}, [2, 3, 4, 3, 3, 3, 3, 3]),
        ({2: 100, 3: 90, 4: 90}, {}, [2, 3, 4, 3, 3, 3, 3, 3]),
        # if the first smaller subtrees are not faster, the tuner tries larger subtrees than those of the first packing
        ({0: 95, 1: 90, 2: 100, 3: 110}, {}, [2, 3, 1, 0, 1, 1, 1, 1]),
        ({0: 95, 1: 90, 2: 100, 3: 100}, {}, [2, 3, 1, 0, 1, 1, 1, 1]),
        # an equal time does not end larger subtrees: the printed listing stops only if the new time is longer
        ({0: 80, 1: 100, 2: 100, 3: 110}, {}, [2, 3, 1, 0, 0, 0, 0, 0]),
        ({0: 101, 1: 100, 2: 100, 3: 110}, {}, [2, 3, 1, 0, 1, 1, 1, 1]),
        # the initial packing stays if smaller and larger subtrees are slower
        ({1: 101, 2: 100, 3: 101}, {}, [2, 3, 1, 2, 2, 2, 2, 2]),
        # leaves cannot get smaller, a whole tree cannot get larger
        ({1: 97, 2: 96, 3: 98, 4: 99}, {"start": {"depth": 4}}, [4, 3, 2, 1, 2, 2, 2, 2]),
        ({0: 100, 1: 101}, {"start": {"depth": 0}}, [0, 1, 0, 0, 0, 0, 0, 0]),
        # strategies without moves, and with only one of the two moves
        ({2: 100}, {"moves": []}, [2, 2, 2, 2, 2, 2, 2, 2]),
        ({2: 100, 3: 110}, {"moves": ["children"]}, [2, 3, 2, 2, 2, 2, 2, 2]),
        ({1: 100, 2: 100, 0: 120}, {"moves": ["parents"]}, [2, 1, 0, 1, 1, 1, 1, 1]),
        # within slices a subtree gets no larger than a slice: two sockets have a half of the tree each
        ({1: 90, 2: 100, 3: 110}, {"within": "slice"}, [2, 3, 1, 1, 1, 1, 1, 1]),
        ({1: 90, 2: 100}, {"within": "slice", "start": {"depth": 0}}, [1, 2, 1, 1, 1, 1, 1, 1]),
        ({1: 90, 2: 100}, {"within": "slice", "start": "slices"}, [1, 2, 1, 1, 1, 1, 1, 1]),
        # with `keep`, a packing that is faster by less than a hundredth is not kept, nor is one that is equally fast
        ({2: 1000, 3: 990, 4: 981}, A_HUNDREDTH_LESS, [2, 3, 4, 3, 3, 3, 3, 3]),
        ({2: 1000, 3: 991, 1: 1000}, A_HUNDREDTH_LESS, [2, 3, 1, 2, 2, 2, 2, 2]),
        ({2: 1000, 3: 991, 1: 990, 0: 981}, A_HUNDREDTH_LESS, [2, 3, 1, 0, 1, 1, 1, 1]),
        ({2: 1000, 3: 991, 1: 990, 0: 980}, A_HUNDREDTH_LESS, [2, 3, 1, 0, 0, 0, 0, 0]),
    ],
)
def test_depths_of_the_packings_that_are_tried(
    time_of: dict[int, int], fields: dict[str, object], depths: list[int]
) -> None:
    assert Run(BINARY, packing(**fields), LEAF_MISSES).iterate(time_of, len(depths)) == depths


@pytest.mark.parametrize("keep", ["fastest", {"faster_by_per_mille": 0}, {"faster_by_per_mille": 1000}, {}])
def test_no_other_rule_keeps_a_packing(keep: Any) -> None:
    with pytest.raises(ValidationError, match="keep"):
        TuneSpec.model_validate({"what": "packing", "keep": keep})


def test_roots_at_different_depths() -> None:
    """A root that is a leaf stays while other roots move down (A-16); on the way up, the outer root stays."""
    tree = [[LEAF, LEAF], LEAF]  # 0: whole; 1 with leaves 2 and 3; leaf 4
    program = program_of([[tree]])
    tuner = packing(start={"depth": 1})
    state, _ = tuner(program, None, None)
    roots = []
    for iteration, time_ps in enumerate([0, 100, 90, 0, 0]):
        state, controls = tuner(program, state, measures(program, iteration, time_ps))
        roots.append(None if controls.tiers is None else np.flatnonzero(controls.tiers == ROOT).tolist())
    assert roots == [[1, 4], [2, 3, 4], [2, 3, 4], None, None]


def test_every_loop_is_profiled_and_searched_anew() -> None:
    """A phase before the loop is an iteration of its own; its measurements do not determine the loop's packing."""
    program = program_of([[regular(2, 2)], [regular(2, 3)], [regular(2, 2)]], loops=(Loop(1, 3, 4),))
    assert tasks_of_loop(program, 0).tolist() == [True] * 3 + [False] * 10
    assert tasks_of_loop(program, 1).tolist() == [False] * 3 + [True] * 10
    misses = np.array([0, 200, 10, 0, 0, 60, 60, 0, 60, 60, 0, 0, 0])
    tuner = packing()
    state, _ = tuner(program, None, None)
    state, controls = tuner(program, state, measures(program, 0, 5, misses, phase=0))
    assert roots_of(controls) == [2]  # 200 lines of 64 bytes are more than 6,400
    state, controls = tuner(program, state, measures(program, 0, 5, misses, phase=1))
    assert roots_of(controls) == [5, 6, 8, 9, 10]  # 120 lines are too many; the whole second tree fits
    state, controls = tuner(program, state, measures(program, 1, 100, misses, phase=1))
    assert roots_of(controls) == [5, 6, 8, 9, 11, 12]
    state, controls = tuner(program, state, measures(program, 2, 110, misses, phase=1))
    assert roots_of(controls) == [4, 7, 10]


def roots_of(controls: Controls) -> list[int]:
    assert controls.tiers is not None
    return np.flatnonzero(controls.tiers == ROOT).tolist()


def all_are(tier: Tier, controls: Controls) -> bool:
    return controls.tiers is not None and set(controls.tiers.tolist()) == {tier}


def test_programs_bound_by_the_processor_are_not_packed() -> None:
    program = program_of([[regular(2, 3)]], compute_ps=10**9)  # a millisecond: 2.5 million instructions
    tuner = packing(cpu_bound={})
    few = np.where(program.depth == 2, 2499, 0)
    state, _ = tuner(program, None, None)
    later, controls = tuner(program, state, measures(program, 0, 5, few))
    assert controls.switches == {PLAIN}
    assert all_are(LOCAL, controls)
    _, controls = tuner(program, later, measures(program, 1, 5, few))
    assert vars(controls) == vars(Controls())  # no control changes
    many = np.full(program.tasks, 2500)
    _, controls = tuner(program, state, measures(program, 0, 5, many))
    assert controls.switches == frozenset()
    assert packing()(program, state, measures(program, 0, 5, few))[1].switches == frozenset()


@pytest.mark.parametrize("phases", [[[regular(2, 3)]], [[regular(2, 3)], [regular(2, 3)]]])
def test_programs_without_a_loop_are_not_packed(phases: list[Any]) -> None:
    """There is no second iteration that could use measurements, and in the first iteration no socket helps another."""
    tuner, program = packing(), program_of(phases, repeat=1)
    state, controls = tuner(program, None, None)
    for phase in range(len(phases)):
        assert controls.switches == {PLAIN}
        assert all_are(LOCAL, controls)
        state, controls = tuner(program, state, measures(program, 0, phase=phase))
    assert program_of(phases, loops=(Loop(0, len(phases), 1),), repeat=2).iterations == (1,) * len(phases)


def test_a_switch_on_which_nothing_depends_stays_off() -> None:
    """A user's strategy may pack tasks, and steal in the same way whether or not tasks are packed."""
    few = np.zeros(15, np.int64)
    for repeat, iterations in ((1, 0), (9, 1)):
        program = program_of([[regular(2, 4)]], compute_ps=10**9, repeat=repeat, switches=())
        tuner = packing(cpu_bound={})
        state, controls = tuner(program, None, None)
        for iteration in range(iterations):
            state, controls = tuner(program, state, measures(program, iteration, 5, few))
        assert controls.switches == frozenset()
        assert all_are(LOCAL, controls)


def test_a_phase_before_a_loop_is_for_the_data_of_the_loop() -> None:
    """Tasks are bound to no socket until the loop has been profiled, and again after the loop."""
    program = program_of([[regular(2, 2)], [regular(2, 2)], [regular(2, 2)]], loops=(Loop(1, 2, 3),), repeat=1)
    tuner = packing()
    state, controls = tuner(program, None, None)
    for phase, iteration in ((0, 0), (1, 0), (1, 1), (1, 2)):
        assert all_are(FREE, controls) == (iteration == 0)
        assert not controls.switches
        state, controls = tuner(program, state, measures(program, iteration, phase=phase))
    assert all_are(FREE, controls)


@pytest.mark.parametrize(
    ("misses", "compute_us", "bound", "counted"),
    [
        ([2499, 2500], [1000, 1000], 2_500_000, 5_000_000),  # exactly one miss in a thousand instructions is not fewer
        ([0, 0, 7], [0, 5, 0], 12_500, 12_500),  # tasks without instructions have no weight
        ([0, 0], [0, 0], 0, 0),
        ([9_000_000_000, 1], [2, 3_000_000_000_000], 75 * 10**14, 75 * 10**14 + 5000),  # the products need 63 bits
    ],
)
def test_instructions_of_tasks_bound_by_the_processor(
    misses: list[int], compute_us: list[int], bound: int, counted: int
) -> None:
    assert bound_instructions(CpuBoundSpec(), np.array(misses), np.array(compute_us) * 10**6) == (bound, counted)


def test_most_instructions_decide() -> None:
    """Half of the instructions are not most instructions; many small tasks do not outweigh a large task."""
    assert is_cpu_bound(CpuBoundSpec(), np.array([0, *[99] * 9]), np.array([10**9, *[10**6] * 9]))
    assert not is_cpu_bound(CpuBoundSpec(), np.array([0, 9999]), np.array([10**9, 10**9]))
    assert is_cpu_bound(CpuBoundSpec(), np.array([0, 0, 9999]), np.array([10**9] * 3))
    assert not is_cpu_bound(CpuBoundSpec(), np.array([0]), np.array([0]))
