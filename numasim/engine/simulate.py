"""`simulate`: run a Plan with a seed on the engine of a given name, and return the Result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from numasim.engine.check.bounds import Bounds, bounds_of, check_bounds
from numasim.engine.observe.trace_hash import Listener
from numasim.engine.observe.watch import Watcher
from numasim.engine.reference.ledger import Executed
from numasim.engine.remarks import free_wake_ups, memory_left_out
from numasim.engine.result import Result
from numasim.errors import InputError
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Keyed, Plan, Run
from numasim.spec.run_spec import RunSpec
from numasim.workload.graph import I64
from numasim.workload.parameters import WorkloadFile
from numasim.workload.recording.recorded import scaled_on

ANY_SEED = 0  # the seed of a run of which only facts are used that are the same for all seeds
COMPILED = "numasim.engine.native._engine"

Log = Sequence[Executed]


class Engine(Protocol):
    """An engine: takes a run, whether to keep a log of segments, a listener for records and a watch for rows."""

    def __call__(
        self, run: Run, keep_log: bool, listener: Listener | None, watcher: Watcher | None = None, /
    ) -> tuple[Result, Log | None]:
        """Return the result, and the log if it was requested and the run has simulated all stretches."""


def _of(module: str, name: str) -> Callable[..., Any]:
    """Return the function ``name`` of a module of engines, which is imported when the function is first called."""

    def call(*given: Any) -> Any:
        return getattr(import_module(f"numasim.engine.{module}"), name)(*given)

    return call


ENGINES: dict[str, Engine] = {"reference": _of("reference.reference", "execute")}
CHAINS: dict[str, Callable[[Run, I64], list[int]]] = {"reference": _of("reference.reference", "longest_chains_ps")}
if find_spec(COMPILED):
    ENGINES["native"] = _of("native.native_engine", "execute")
    CHAINS["native"] = _of("native.native_engine", "longest_chains_ps")
DEFAULT_ENGINE = "native" if "native" in ENGINES else "reference"
NOT_BUILT = "the native engine is not built here; using the reference engine (slower)"


def require_engine(name: str) -> None:
    """Raise InputError unless there is an engine of that name."""
    if name not in ENGINES:
        raise InputError(f"there is no engine {name!r}", value=name, known=ENGINES)


def simulate(
    plan: Plan,
    seed: int,
    engine: str = DEFAULT_ENGINE,
    *,
    check: bool = False,
    listener: Listener | None = None,
    watch: Watcher | None = None,
) -> Result:
    """Run ``plan`` with ``seed`` (0 to 2**64 - 1), the seed of all random draws.

    ``check`` checks the result against the invariants of the model (CheckError if an invariant is broken). ``listener``
    is called with batches of trace records [n, 5], ``watch`` with batches of rows about the run [n, 7]
    (`numasim.engine.observe.watch`): a watched run simulates every event.

    Every result is compared with the bounds that no schedule can beat: work / workers and the critical path (model 8).

    Raises InputError for an engine that does not exist, DeadlockError if tasks are left that no worker can run, and
    CheckError for a result below a bound.
    """
    require_engine(engine)
    plan = replace(plan, skip=False) if watch and plan.skip else plan
    start = time.perf_counter()
    result, log = ENGINES[engine](Run(plan, seed), check, listener, watch)
    result.engine_s = time.perf_counter() - start
    check_bounds(plan, result, bounds(plan, engine))
    if check:
        from numasim.engine.check.invariants import assert_valid

        assert_valid(Run(plan, seed), result, log)
    return result


def bounds(plan: Plan, engine: str = DEFAULT_ENGINE) -> Bounds:
    """Return the bounds of every run of ``plan``, whatever the strategy; ``engine`` walks the graph."""
    return _bounds(Keyed((plan.workload, plan.machine, plan.effects, plan.coupled), plan), engine)


@lru_cache(maxsize=2)
def _bounds(shared: Keyed[Plan], engine: str) -> Bounds:
    return bounds_of(shared.value, partial(CHAINS[engine], Run(shared.value, ANY_SEED)))


def simulate_spec(spec: RunSpec, seed: int, engine: str = DEFAULT_ENGINE, check: bool = False) -> Result:
    """Build the Plan of ``spec`` and run it with ``seed``."""
    plan = build_plan(spec)
    result = simulate(plan, seed, engine, check=check)
    result.left_out += left_out(spec, plan)
    if result.counters["wakeups"]:
        result.left_out += tuple(free_wake_ups(spec))
    return result


def left_out(spec: RunSpec, plan: Plan) -> tuple[str, ...]:
    """Return remarks about missing parts of a run's program, and about assumptions on the machine of a recording."""
    work = plan.workload
    file = spec.workload.file if isinstance(spec.workload, WorkloadFile) else None
    memory = memory_left_out(work, file) if file else []
    name = Path(file).stem if file else work.name
    if not work.recorded:
        return tuple(memory)
    factor = work.recorded.factor(plan.machine.core_steps_per_s)
    return (*memory, *work.recorded.remarks(name), *scaled_on(name, {plan.machine.name: factor}))
