"""Some contrasts of `verification/contrasts.py`: answers name no cause for chance, and name planted effects.

A null contrast compares two cells that differ only in their random numbers. A planted effect changes one thing that
costs time, such as the bandwidth of a link; the answer must name this change.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "verification"))

from contrasts import PROGRAMS, answer_to, null_contrasts, null_frame, planted_effects, under_two_names

PLANTED = ("links of a square halved", "slow lines, locks of domains", "polls a hundred times slower")


def test_draws_alone_have_no_cause():
    found = null_contrasts(null_frame(PROGRAMS[:1], repeat=12))
    assert found.contrasts == 9
    assert (found.caused_alone, found.caused_together) == (0, 0)


def test_a_strategy_does_not_differ_from_itself_under_another_name():
    found = under_two_names(PROGRAMS[:1], repeat=2)
    assert len(found) == 9
    assert (found["difference"] == 0).all()
    assert (found["because"] == "").all()


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_effect_is_named(name):
    (effect,) = [each for each in planted_effects() if each.name == name]
    sentence = answer_to(effect, repeat=12)
    assert effect.names(sentence), sentence
