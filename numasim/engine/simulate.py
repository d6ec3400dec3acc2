"""`simulate`: a Plan and a seed in, one Result out, on the engine of that name."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Protocol

from numasim.engine.check.invariants import assert_valid
from numasim.engine.observe.trace_hash import Listener
from numasim.engine.observe.watch import Watcher
from numasim.engine.reference.ledger import Executed
from numasim.engine.result import Result
from numasim.errors import InputError
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan
from numasim.plan.run import Run
from numasim.spec.run_spec import RunSpec

COMPILED = "numasim.native._engine"

Log = Sequence[Executed]


class Engine(Protocol):
    """An engine: takes a run, whether to keep a log of segments, a listener for records and a watch for rows."""

    def __call__(
        self, run: Run, keep_log: bool, listener: Listener | None, watcher: Watcher | None = None, /
    ) -> tuple[Result, Log | None]:
        """The result, and the log where one was requested and the run has gone through all stretches."""


def _reference(
    run: Run, keep_log: bool, listener: Listener | None, watcher: Watcher | None = None, /
) -> tuple[Result, Log | None]:
    from numasim.engine.reference.reference import execute

    return execute(run, keep_log, listener, watcher)


def _native(
    run: Run, keep_log: bool, listener: Listener | None, watcher: Watcher | None = None, /
) -> tuple[Result, Log | None]:
    from numasim.engine.native.native_engine import execute

    return execute(run, keep_log, listener, watcher)


ENGINES: dict[str, Engine] = {"reference": _reference}
if find_spec(COMPILED):
    ENGINES["native"] = _native
DEFAULT_ENGINE = "native" if "native" in ENGINES else "reference"


def require_engine(name: str) -> None:
    """Raise InputError unless there is an engine of that name."""
    if name not in ENGINES:
        raise InputError(
            f"there is no engine {name!r}", expected=f"one of {', '.join(ENGINES)}", value=name, known=ENGINES
        )


def simulate(
    plan: Plan,
    seed: int,
    engine: str = DEFAULT_ENGINE,
    *,
    check: bool = False,
    listener: Listener | None = None,
    watch: Watcher | None = None,
) -> Result:
    """Run ``plan`` with ``seed`` (0 to 2**64 - 1), that of all random draws.

    ``check`` checks the result against the invariants of the model (CheckError if one is broken); ``listener`` is
    called with batches of trace records [n, 5], ``watch`` with batches of what a run does [n, 7]
    (`numasim.engine.observe.watch`): a watched run goes through every event.

    Raises InputError for an engine that does not exist and DeadlockError where tasks are left that no worker can run.
    """
    require_engine(engine)
    plan = replace(plan, skip=False) if watch and plan.skip else plan
    start = time.perf_counter()
    result, log = ENGINES[engine](Run(plan, seed), check, listener, watch)
    result.engine_s = time.perf_counter() - start
    if check:
        assert_valid(plan, result, log)
    return result


def simulate_spec(spec: RunSpec, seed: int, engine: str = DEFAULT_ENGINE, check: bool = False) -> Result:
    """Build the Plan of ``spec`` and run it with ``seed``."""
    return simulate(build_plan(spec), seed, engine, check=check)
