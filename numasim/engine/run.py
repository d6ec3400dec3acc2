"""`simulate`: one Plan in, one Result out, on the engine of that name."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from numasim.engine.build import build_plan
from numasim.engine.collect import collect
from numasim.engine.invariants import assert_valid
from numasim.engine.ledger import Executed
from numasim.engine.plan import Plan
from numasim.engine.reference import ReferenceEngine
from numasim.engine.result import Result
from numasim.engine.trace import Listener, Trace
from numasim.errors import InputError
from numasim.spec.run import RunSpec

Log = Sequence[Executed]
Engine = Callable[[Plan, bool, Listener | None], tuple[Result, Log | None]]


def _reference(plan: Plan, keep_log: bool, listener: Listener | None) -> tuple[Result, Log | None]:
    engine = ReferenceEngine(plan, Trace(listener), keep_log)
    try:
        engine.run()
    finally:
        engine.trace.hashes()  # what a listener has heard is complete up to a deadlock
    result = collect(
        plan,
        engine.workers,
        engine.producers,
        engine.ledger,
        makespan_ps=engine.now,
        hashes=engine.trace.hashes(),
        events=engine.events,
    )
    return result, engine.ledger.log


ENGINES: dict[str, Engine] = {"reference": _reference}
DEFAULT_ENGINE = "reference"


def require_engine(name: str) -> None:
    """Raise InputError unless there is an engine of that name."""
    if name not in ENGINES:
        raise InputError(
            f"there is no engine {name!r}", expected=f"one of {', '.join(ENGINES)}", value=name, known=ENGINES
        )


def simulate(
    plan: Plan, engine: str = DEFAULT_ENGINE, *, check: bool = False, listener: Listener | None = None
) -> Result:
    """Run ``plan``. ``check`` holds the result against the invariants of the model (CheckError if one is broken);
    ``listener`` is called with batches of trace records [n, 5].

    Raises InputError for an engine that does not exist and DeadlockError where tasks are left that nobody can run.
    """
    require_engine(engine)
    start = time.perf_counter()
    result, log = ENGINES[engine](plan, check, listener)
    result.engine_s = time.perf_counter() - start
    if check:
        assert_valid(plan, result, log)
    return result


def simulate_spec(spec: RunSpec, seed: int, engine: str = DEFAULT_ENGINE, check: bool = False) -> Result:
    """Build the Plan of ``spec`` and run it with ``seed``."""
    return simulate(build_plan(spec, seed), engine, check=check)
