"""Every workload family, shipped strategy and shipped machine, any two of them together in some run.

The reference engine's result is held against the invariants, that of every other engine against it. What three of them
together might bring about is left to random plans, and to `verification/long_equality.py --cells`, which runs every
family under every strategy on every machine.
"""

from __future__ import annotations

from itertools import combinations, product

import pytest
from equality import EXPECTED, OTHERS, REFERENCE
from registry_cells import AXES, STRATEGIES, Cell, cells_of_every_pair, run_of_cell

from numasim.engine.check.engine_difference import difference, disagreements
from numasim.engine.simulate import simulate


@pytest.mark.parametrize("strategy", STRATEGIES[::2])
def test_engines_agree_on_every_second_strategy(strategy: str) -> None:
    """With the other tests of the short form of the sanitized tests, these enter every line that all enter."""
    engines_agree_on_the_registries(strategy)


@pytest.mark.parametrize("strategy", STRATEGIES[1::2])
def test_engines_agree_on_the_strategies_between(strategy: str) -> None:
    engines_agree_on_the_registries(strategy)


def engines_agree_on_the_registries(strategy: str) -> None:
    for cell in cells_of_every_pair(strategy):
        run = run_of_cell(cell)
        result = simulate(run.plan, run.seed, EXPECTED, check=True)
        assert result.counters["tasks"] == run.plan.workload.tasks
        for other in OTHERS:
            if any(disagreements(result, simulate(run.plan, run.seed, other))):
                pytest.fail(f"{cell}: {difference(run, REFERENCE, other)}")


@pytest.mark.parametrize(("one", "other"), [*combinations(Cell._fields, 2)])
def test_any_two_values_are_together(one: str, other: str) -> None:
    cells = [cell for strategy in STRATEGIES for cell in cells_of_every_pair(strategy)]
    together = {(getattr(cell, one), getattr(cell, other)) for cell in cells}
    assert together == set(product(getattr(AXES, one), getattr(AXES, other)))
