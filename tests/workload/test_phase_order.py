"""The order of phases by hand. A turn is a run of a phase, an iteration a pass of an outermost loop (model 3.6)."""

from itertools import islice

from numasim.workload.phases import Loop, Phase, Step, runs_of, steps

A, B, C, D = range(4)


def rows(phases, loops):
    return [(step.phase, step.iteration, step.turn, step.ends_iteration) for step in steps(phases, loops)]


def test_a_phase_alone_is_a_loop_of_its_repeats():
    assert rows([Phase(repeat=2), Phase()], []) == [(A, 0, 0, True), (A, 1, 1, True), (B, 0, 0, True)]


def test_the_phases_of_a_loop_share_its_iterations():
    found = rows([Phase(), Phase(), Phase(), Phase()], [Loop(B, D, 2)])
    passes = [(phase, turn, turn, phase == C) for turn in range(2) for phase in (B, C)]
    assert found == [(A, 0, 0, True), *passes, (D, 0, 0, True)]


def test_inner_loops_and_repeats_are_turns_of_one_iteration():
    phases = [Phase(), Phase(repeat=2), Phase()]
    found = rows(phases, [Loop(A, D, 2), Loop(B, C, 3)])
    once = [A, *[B] * 6, C]
    assert [row[0] for row in found] == once * 2
    assert [row[1] for row in found] == [0] * 8 + [1] * 8
    assert [row[2] for row in found if row[0] == B] == list(range(12))
    assert [at for at, row in enumerate(found) if row[3]] == [7, 15]
    assert runs_of(phases, [Loop(A, D, 2), Loop(B, C, 3)]) == [2, 12, 2]


def test_loops_side_by_side_count_anew():
    found = rows([Phase(), Phase()], [Loop(A, B, 2), Loop(B, C, 2)])
    assert found == [(A, 0, 0, True), (A, 1, 1, True), (B, 0, 0, True), (B, 1, 1, True)]


def test_very_many_steps_are_made_one_by_one():
    phases, loops = [Phase(repeat=10**9)], [Loop(A, B, 10**9)]
    assert next(steps(phases, loops)) == Step(A, 0, 0, False)
    assert len(list(islice(steps(phases, loops), 5))) == 5
