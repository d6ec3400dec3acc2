"""Draws against published numbers of splitmix64 and against plain big-integer arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim import draws

U64 = st.integers(0, 2**64 - 1)

# Rosetta Code, "Pseudo-random numbers/Splitmix64", and the reference splitmix64.c of Vigna from state 0
PUBLISHED = {
    1234567: (6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821),
    0: (0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC),
}


@pytest.mark.parametrize("state", sorted(PUBLISHED))
def test_draws_are_splitmix64(state: int) -> None:
    assert tuple(draws.draw(state, k) for k in range(len(PUBLISHED[state]))) == PUBLISHED[state]


@given(U64, st.integers(1, 9), st.integers(0, 2**40))
def test_streams_start_where_the_definition_says(seed: int, kind: int, ident: int) -> None:
    inner = draws.mix((kind * draws.GAMMA + ident + 1) % 2**64)
    assert draws.base(seed, kind, ident) == draws.mix(seed ^ inner)


@given(U64, st.integers(1, 2**63))
def test_below_is_the_high_half_of_the_product(x: int, n: int) -> None:
    assert draws.below(x, n) == x * n // 2**64
    assert 0 <= draws.below(x, n) < n


def test_mix_is_a_bijection_where_it_can_be_inverted() -> None:
    def unmix(z: int) -> int:
        z ^= z >> 31 ^ z >> 62
        z = z * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
        z ^= z >> 27 ^ z >> 54
        z = z * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
        return z ^ z >> 30 ^ z >> 60

    for z in (0, 1, 2**63, 2**64 - 1, 0x0123456789ABCDEF):
        assert unmix(draws.mix(z)) == z


@given(st.lists(U64, min_size=1, max_size=5), U64, st.integers(1, 9), st.integers(0, 2**20), st.integers(1, 2**63))
def test_array_forms_equal_the_scalar_ones(numbers: list[int], seed: int, kind: int, k: int, n: int) -> None:
    array = np.array(numbers, np.uint64)
    assert draws.mix_array(array).tolist() == [draws.mix(z) for z in numbers]
    assert draws.draw_array(array, k).tolist() == [draws.draw(z, k) for z in numbers]
    assert draws.below_array(array, n).tolist() == [draws.below(z, n) for z in numbers]
    idents = array >> np.uint64(8)
    assert draws.base_array(seed, kind, idents).tolist() == [draws.base(seed, kind, int(i)) for i in idents]


def test_repeats_have_seeds_of_their_own() -> None:
    seeds = [draws.repeat_seed(7, repeat) for repeat in range(1000)]
    assert len(set(seeds)) == 1000
    assert seeds[0] == draws.mix((7 + draws.GAMMA) % 2**64)
