"""Values of every parameter of every workload family are run on all engines, or refused in one sentence.

Names, types and bounds come from the models of the families, so that a new family is covered without a change here. An
accepted program of more than `BUILT` rows is not built. A program is built and not run if it has more than `RUN` tasks,
more than `RUN_PS` of work, or a transaction whose abort takes longer than `RUN_PS`, because idle workers make many
probes meanwhile.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "workload"))

from engine_difference import difference
from parameter_values import accepted, every_value, keys_of, names_of, with_value

from numasim.engine.simulate import ENGINES, simulate
from numasim.errors import InputError
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Run
from numasim.spec.run_spec import resolve
from numasim.workload.registry import FAMILIES

BUILT, RUN, RUN_PS = 30_000, 1_500, 10**10
LATENCY_PS = 124_700
SEED = 3
TEAM = 3


def runs(name: str, parameters: object) -> str | None:
    """Return why the program is refused; None if the program runs or is too large. Fail if engines differ."""
    checked = accepted(name, parameters)  # type: ignore[arg-type]
    if isinstance(checked, str):
        return checked
    mapping = {"name": name, **parameters}  # type: ignore[dict-item]
    try:
        spec = resolve({"machine": "xeon-e5-2620-2s", "strategy": "randomized", "workers": TEAM, "workload": mapping})
        if checked.totals().rows > BUILT or checked.totals().items > BUILT:
            return None
        plan = build_plan(spec)
        tasks = plan.workload.tasks + plan.workload.segments
        undo_ps = max((word.undo_ps for word in plan.workload.words), default=0)
        if tasks > RUN or max(checked.totals().serial_ps(LATENCY_PS), undo_ps) > RUN_PS:
            return None
        if len(ENGINES) == 1:
            simulate(plan, SEED, check=True)
        else:
            assert difference(Run(plan, SEED)) is None
    except InputError as refused:
        return str(refused)
    return None


def tried() -> list[tuple[str, str]]:
    """Return (family, parameter) pairs; of several families with the same parameters and generator only one family."""
    alike = {(family.generate, *keys_of(family)): name for name, family in FAMILIES.items()}
    pairs = {(name, key) for name, key, _ in every_value() if name in alike.values()}
    return sorted(pair for pair in pairs if pair[1] != "nodes")  # `nodes` is a list with an entry for each thread


@pytest.mark.parametrize(("name", "key"), tried())
def test_every_value_runs_or_is_refused(name: str, key: str) -> None:
    """An allowed word runs with some values of the other parameters; other values run or one sentence refuses them."""
    field = keys_of(FAMILIES[name])[key]
    values = [value for family, which, value in every_value() if (family, which) == (name, key)]
    allowed = 0
    for value in values:
        refusals = []
        for parameters in with_value(name, key, value):
            refused = runs(name, parameters)
            if refused is None:
                break
            refusals.append(refused)
        else:
            assert all(refusals)
            assert value not in names_of(field), refusals
            continue
        allowed += 1
    assert allowed >= 2
