"""The stencils of LAWS: rows of leaves by hand, halos at the borders, buffers in turn, closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from workload_setup import make

from numasim.workload.graph import Loop, Mode, Op, Workload
from numasim.workload.phases import steps

PLANES = {"heat": 1, "sor": 1, "9p": 1}
SOLIDS = {"6p": 1, "25p": 4}
HALO = PLANES | SOLIDS


class Piece(NamedTuple):
    """Rows from ``first`` to ``end - 1`` of a region."""

    region: int
    first: int
    end: int
    mode: Mode


def program(name: str, x: int, **more: Any) -> Workload:
    z = {"z": 2} if name.removesuffix("-ir") in SOLIDS else {}
    return make(name, x=x, y=3, **z, **{"sweeps": 2, **more})


def pieces(work: Workload, phase: int) -> list[list[Piece]]:
    """Return the pieces that each leaf of a phase accesses, in the order of tasks."""
    row_bytes = work.regions[0].bytes // work.parameters["x"]
    (root,) = work.phases[phase].roots
    ops = slice(work.op_ptr[root], work.op_ptr[work.subtree_end()[root]])
    leaves = work.op_arg[ops][work.op_code[ops] == Op.RUN].tolist()
    each = [range(*work.segment_accesses[segment : segment + 2].tolist()) for segment in leaves]
    return [[piece for at in accesses for piece in pieces_of(work, at, row_bytes)] for accesses in each]


def pieces_of(work: Workload, at: int, row_bytes: int) -> list[Piece]:
    accesses, found = work.accesses, []
    for number in range(int(accesses.rows[at])):
        first, rest = divmod(int(accesses.offset[at] + number * accesses.stride[at]), row_bytes)
        rows, left = divmod(int(accesses.row_bytes[at]), row_bytes)
        assert rest == left == 0
        found.append(Piece(int(accesses.region[at]), first, first + rows, Mode(int(accesses.mode[at]))))
    return found


def test_leaves_of_sor_in_place_on_twenty_rows() -> None:
    work = program("sor", 20, buffers=1)
    update, read = Mode.READ_WRITE, Mode.READ
    expected = [
        [Piece(0, 0, 8, update), Piece(0, 8, 9, read)],
        [Piece(0, 8, 16, update), Piece(0, 7, 8, read), Piece(0, 16, 17, read)],
        [Piece(0, 16, 20, update), Piece(0, 15, 16, read)],
    ]
    assert pieces(work, 0) == pieces(work, 1) == expected
    assert pieces(program("sor", 7, buffers=1), 0) == [[Piece(0, 0, 7, update)]]


@pytest.mark.parametrize("form", ["", "-ir"])
@pytest.mark.parametrize("name", HALO)
@pytest.mark.parametrize(("x", "leaf_rows"), [(1, 8), (8, 8), (9, 8), (61, 3), (64, 8), (101, 2)])
def test_every_row_is_written_once_and_read_with_its_halo(name: str, form: str, x: int, leaf_rows: int) -> None:
    work = program(name + form, x, leaf_rows=leaf_rows)
    for phase in (0, 1):
        at = 0
        for read, written in pieces(work, phase):
            assert (read.region, written.region) == (phase, 1 - phase)
            assert (read.mode, written.mode) == (Mode.READ, Mode.WRITE)
            assert (written.first, written.end) == (at, min(x, at + leaf_rows))
            assert (read.first, read.end) == (max(0, at - HALO[name]), min(x, written.end + HALO[name]))
            at = written.end
        assert at == x
    assert {region.initialised for region in work.regions} == {False}


class Counted:
    """A number that counts operations."""

    ops = 0

    def __add__(self, other: Counted) -> Counted:
        type(self).ops += 1
        return self

    __sub__ = __mul__ = __add__


def twenty_five_points(u: Counted, c: Counted) -> Counted:
    result = c * u
    for _ in range(4):
        result = result + c * (u + u + u + u + u + u)
    return result


FORMULAS: dict[str, Callable[[Counted, Counted], Counted]] = {
    "heat": lambda u, c: u + c * (u - c * u + u) + c * (u - c * u + u),
    "sor": lambda u, c: c * (u + u + u + u) + c * u,
    "9p": lambda u, c: c * u + c * (u + u + u + u) + c * (u + u + u + u),
    "6p": lambda u, c: (u + u + u + u + u + u) * c,
    "25p": twenty_five_points,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_operations_are_those_of_the_formula(name: str) -> None:
    Counted.ops = 0
    FORMULAS[name](Counted(), Counted())
    work = program(name, 40, ps_per_1000_ops=1000)
    points = 40 * 3 * (2 if name in SOLIDS else 1)
    assert work.parameters["ops_per_point"] == Counted.ops
    assert work.facts["ops"] == 2 * points * Counted.ops
    executed = 1 if name != "sor" else 2  # the loop has two passes over both half sweeps
    assert executed * int(work.segment_compute_ps.sum()) == work.facts["ops"]


def test_half_sweeps_do_the_red_and_the_black_points() -> None:
    """The operations are right also in rows with an odd number of points, where one colour has one more point."""
    work = program("sor", 10, leaf_rows=3, ops_per_point=1, ps_per_1000_ops=1000, sweeps=1)
    by_colour = [[0] * 4, [0] * 4]
    for row in range(10):
        for column in range(3):
            by_colour[(row + column) % 2][row // 3] += 1
    assert work.segment_compute_ps.tolist() == by_colour[0] + by_colour[1]


def test_sweeps_are_a_loop_over_two_and_an_odd_one_behind_it() -> None:
    names = {"heat": ["a to b", "b to a"], "sor": ["red", "black"]}
    for count in (1, 2, 3, 6, 7):
        work = program("heat", 40, sweeps=count)
        order = [work.phases[step.phase] for step in steps(work.phases, work.loops)]
        assert [phase.name for phase in order] == [names["heat"][sweep % 2] for sweep in range(count)]
        assert len({phase.roots for phase in order}) == min(count, 2)
        half = program("sor", 40, sweeps=count)
        assert [half.phases[step.phase].name for step in steps(half.phases, half.loops)] == names["sor"] * count
    assert program("heat", 40, sweeps=7).loops == (Loop(0, 2, 3),)
