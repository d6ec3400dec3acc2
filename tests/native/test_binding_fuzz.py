"""The compiled engine runs a plan with wrong sizes, types and values, or raises an exception; it never crashes.

The arrays of valid plans are distorted in one to three places and given to the engine in another process, which prints
the number of each case. By hand: ``python tests/native/test_binding_fuzz.py SEED CASES``.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from engine_setup import SEED, plan_of, seeded
from random_recipes import random_run

from numasim.workload.registry import generate, workload_spec

CASES = 1500
SEEDS = (1, 2)
PLANS = 60
PATIENCE_S = 0.2  # a distorted plan may run for ever; such a run counts as passed
MOST_BYTES = 3 << 30
EXTREMES = (-1, 0, 1, 2, 255, 65_535, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**64, -(2**63))
TYPES = (np.int64, np.int32, np.uint8, np.uint32, np.uint64, np.float64)
ELSE: tuple[Any, ...] = (
    *(None, "", "help", "none", 1.5, True, [], {}, [None], b"bytes", 7),
    *(np.zeros(3), np.zeros((0,), np.int64)),
)

Array = np.ndarray[Any, Any]


class Impatience(BaseException):
    """A run takes too long."""


# ---- distortions ---------------------------------------------------------------------------------------------------


def _entry(chance: Random, array: Array) -> Array:
    """Return the array with some entries at or beyond the limits of its type."""
    changed = array.copy()
    for _ in range(chance.choice((1, 1, 3)) if len(array) else 0):
        at = chance.randrange(len(array))
        near = int(array[at]) + chance.choice((-1, 1)) if chance.random() < 0.5 else chance.choice(EXTREMES)
        changed[at] = np.array([near % 2**64], np.uint64).astype(array.dtype)[0]
    return changed


ARRAYS: tuple[Callable[[Random, Array], Any], ...] = (
    _entry,
    _entry,
    _entry,
    lambda chance, array: array[: chance.randrange(len(array) + 1)],
    lambda chance, array: np.concatenate([array, array[: chance.randrange(9)]]),
    lambda chance, array: array[::-1].copy(),
    lambda chance, array: np.array(chance.sample(array.tolist(), len(array)), array.dtype),
    lambda chance, array: np.repeat(array, 2)[::2],
    lambda chance, array: array.reshape(1, -1),
    lambda chance, array: array.astype(chance.choice(TYPES)),
    lambda chance, array: array.tolist(),
    lambda chance, array: array.byteswap().view(array.dtype.newbyteorder()),
)


def distorted(chance: Random, value: Any) -> Any:
    """Return a value in place of ``value``, mostly of the same kind."""
    if chance.random() < 0.1:
        return chance.choice(ELSE)
    if isinstance(value, np.ndarray):
        return chance.choice(ARRAYS)(chance, value.ravel())
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice((*EXTREMES, value + 1, value - 1))
    if isinstance(value, list):
        return chance.choice((value[:-1], value * 2, value[::-1], [*value, None]))
    return chance.choice(("help", "own", "strict", "continuation", "block", "none", "extra", "master", "phase", "?"))


def distort(chance: Random, fields: dict[str, Any]) -> None:
    """Distort, leave out or add one field of a plan, or one field of a record of the plan."""
    name = chance.choice([*fields])
    value = fields[name]
    if isinstance(value, list) and value and isinstance(value[0], dict) and chance.random() < 0.8:
        at = chance.randrange(len(value))
        fields[name] = [*value[:at], dict(value[at]), *value[at + 1 :]]
        distort(chance, fields[name][at])
    elif chance.random() < 0.03:
        del fields[name]
    else:
        fields[name] = distorted(chance, value)


# ---- the process ---------------------------------------------------------------------------------------------------


def valid_plans(chance: Random) -> list[dict[str, Any]]:
    """Return the fields of plans of every kind; one plan has a folded program."""
    from numasim.engine.native.native_engine import fields

    folded = generate(workload_spec("fib", n=9, spawn_ns=1, leaf_ns=1, join_ns=1), folded=True)
    runs = [seeded(plan_of(folded, 4, "randomized")), *(random_run(chance) for _ in range(PLANS))]
    return [fields(run if run.plan.skipping else run.unfolded()) for run in runs]


def fate(fields: dict[str, Any], patience_s: float) -> str:
    """Run the fields of a plan. Returns how the run ends; an unexpected exception is raised again."""
    from numasim.engine.native import _engine

    try:
        signal.setitimer(signal.ITIMER_REAL, patience_s)
        try:
            watched = fields.get("skip") is False
            _engine.run(_engine.Plan(fields), SEED, True, lambda _: None, (lambda _: None) if watched else None)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except (ValueError, OverflowError, MemoryError, Impatience, _engine.Deadlock) as problem:
        return type(problem).__name__
    return "runs"


def _lose_patience(*_: object) -> None:
    raise Impatience


def main(seed: int, cases: int) -> None:
    """Try ``cases`` distorted plans and print the number of each."""
    if "ASAN_OPTIONS" not in os.environ:  # a sanitizer needs more address space
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    signal.signal(signal.SIGALRM, _lose_patience)
    plans = valid_plans(Random(seed))
    fates = Counter([fate(plans[0], patience_s=0)])  # a sound plan runs without a time limit
    for case in range(cases):
        print(f"case {case}", flush=True)
        chance = Random(f"numasim {seed} {case}")
        fields = dict(chance.choice(plans))
        for _ in range(chance.choice((1, 1, 2, 3))):
            distort(chance, fields)
        fates[fate(fields, PATIENCE_S)] += 1
    print(dict(fates))


# ---- tests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_distorted_plans_are_run_or_refused(seed: int) -> None:
    pytest.importorskip("numasim.engine.native._engine")
    here = Path(__file__)
    paths = [str(here.parents[1] / "engine"), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, str(here), str(seed), str(CASES)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[-4000:]
    assert "'ValueError'" in done.stdout
    assert "'runs'" in done.stdout


def test_what_a_listener_raises_comes_out() -> None:
    engine = pytest.importorskip("numasim.engine.native._engine")

    def refuse(_: object) -> None:
        raise LookupError("heard enough")

    for fields in valid_plans(Random(3))[:10]:
        with pytest.raises(LookupError, match="heard enough"):
            engine.run(engine.Plan(fields), SEED, False, refuse)


def test_a_plan_that_has_been_read_serves_any_number_of_runs() -> None:
    engine = pytest.importorskip("numasim.engine.native._engine")
    for fields in valid_plans(Random(3))[:10]:
        shared = engine.Plan(fields)
        for seed in (1, 2, 1):
            results = [outcome(engine, plan, seed) for plan in (shared, engine.Plan(fields))]
            assert results[0] == results[1]


def outcome(engine: Any, plan: Any, seed: int) -> dict[Any, Any]:
    """Return the numbers that a run counts; at a deadlock the tasks that are left, and the time."""
    try:
        found = engine.run(plan, seed, False, None)
    except engine.Deadlock as deadlock:
        return dict(enumerate(deadlock.args))
    return {name: value for name, value in found.items() if isinstance(value, int)}


def test_a_plan_that_skips_cannot_be_watched() -> None:
    engine = pytest.importorskip("numasim.engine.native._engine")
    skipping = next(fields for fields in valid_plans(Random(3)) if fields["skip"])
    with pytest.raises(ValueError, match="a run that is watched skips nothing"):
        engine.run(engine.Plan(skipping), SEED, False, None, print)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
