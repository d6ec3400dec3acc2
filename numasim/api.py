"""The Python interface: one run, or a sweep, from a YAML file, a shipped name or a mapping.

A single run does not import the storage of sweeps, whose import takes longer than most simulations.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from numasim import no_collection
from numasim.draws import repeat_seed
from numasim.engine.assumed_values import assumed_fields
from numasim.engine.result import Result
from numasim.engine.simulate import DEFAULT_ENGINE, NOT_BUILT, left_out, require_engine, simulate_spec
from numasim.engine.simulate import simulate as simulate_plan
from numasim.html import show_as
from numasim.plan.build_plan import build_plan
from numasim.spec.identity import identity, sweep_key
from numasim.spec.one_run import load_run
from numasim.spec.run_spec import Described, RunSpec

if TYPE_CHECKING:
    from numasim.plan.plan import Plan
    from numasim.report.sweep_result import SweepResult

NOTHING: Mapping[str, Any] = MappingProxyType({})  # default of ``spec``; all fields are then in ``changes``
__all__ = ["run", "simulate", "sweep"]


def _result_html(result: Result) -> str:
    from numasim.report.notebooks.result_html import result_html

    return result_html(result)


show_as(Result, _result_html)


def run(
    spec: Described = NOTHING,
    *,
    engine: str | None = None,
    check: bool = False,
    trace: str | Path | None = None,
    schedule: str | Path | None = None,
    over_time: bool = False,
    **changes: Any,
) -> Result:
    """Simulate one run and return its result.

    ``spec`` is the path of a YAML file, the name of a shipped sweep, or a mapping with the same fields. ``changes``
    replace fields of the spec (``workers=24``, ``strategy="threshold"``, a dotted field by ``**{"a.b": c}``); without a
    spec all fields are given as changes. A machine, strategy or workload may be a name, a path, a mapping, or a
    `Machine`, `Strategy` or `Graph`. A sweep has axes, lists of values of fields, and a cell for each combination of
    values. If the spec is a sweep, its first cell with the given values is run. Of repeats, the first is run.

    With ``check`` the result is checked against the invariants of the model. ``trace`` names a trace file for Perfetto,
    or NAME.paje or NAME.prv for Paje and Paraver; an ending .gz compresses the file. ``schedule`` names a file (.npz,
    .wf.json for WfFormat, .dot, .gv or .graphml) with the tasks that each worker executed, and when. With ``over_time``
    the result has tables of the run over time. Each of the last three makes the engine simulate every event. The
    default ``engine`` is native; if the native engine is not built, a warning is given and the reference engine runs.
    Raises InputError for a bad spec.
    """
    with no_collection():
        loaded = load_run(spec, changes=changes)
    return run_spec(
        loaded,
        _chosen_engine(engine),
        check,
        trace=None if trace is None else Path(trace),
        over_time=over_time,
        schedule=None if schedule is None else Path(schedule),
    )


def _chosen_engine(name: str | None) -> str:
    """Return the engine ``name``, by default the fastest available; warn if that is the reference engine."""
    if name is None and DEFAULT_ENGINE != "native":
        warnings.warn(NOT_BUILT, RuntimeWarning, 3)
    return name or DEFAULT_ENGINE


def run_spec(
    spec: RunSpec,
    engine: str = DEFAULT_ENGINE,
    check: bool = False,
    *,
    trace: Path | None = None,
    over_time: bool = False,
    schedule: Path | None = None,
) -> Result:
    """Return the result of one run of ``spec`` with the seed of its first repeat; the result has the spec's hash."""
    seed = repeat_seed(spec.seed, 0)
    if trace is None and schedule is None and not over_time:
        result = simulate_spec(spec, seed, engine, check)
    else:
        from numasim.report.trace.watched_run import simulate_watched

        plan = build_plan(spec)
        result = simulate_watched(plan, seed, engine, check, trace, over_time, schedule)
        result.left_out += left_out(spec, plan)
    result.identity = identity(spec, seed, engine)
    result.assumed = tuple(assumed_fields(spec))
    return result


def simulate(plan: Plan, seed: int | str | None = None, engine: str = DEFAULT_ENGINE, **options: Any) -> Result:
    """Run ``plan`` with ``seed`` on ``engine``; the options are those of `numasim.engine.simulate.simulate`.

    In version 0.1 a plan had a seed, and the second argument was the engine. A call in this form runs with the seed 0
    and gives a warning with the present form.
    """
    if isinstance(seed, int):
        return simulate_plan(plan, seed, engine, **options)
    warnings.warn(
        "a plan has no seed any more; this run has 0: write simulate(plan, SEED, engine=...)", FutureWarning, 2
    )
    return simulate_plan(plan, 0, seed or engine, **options)


def sweep(
    spec: Described = NOTHING,
    directory: str | Path | None = None,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    engine: str | None = None,
    progress: bool = True,
    **changes: Any,
) -> SweepResult:
    """Simulate the missing runs of a sweep and return its tables.

    ``spec`` and ``changes`` are as for `run`. The axes are in the field ``sweep``; values of axes may be objects, too.
    ``directory`` keeps the results; an interrupted sweep continues where it stopped, and the directory's ``spec.yaml``
    describes the sweep, with objects written out. The default is ``results/<name of the file>``, and for a mapping
    ``results/sweep-<hash>``; mappings that differ only in their repeats have equal hashes. Raises InputError for a
    directory with results of another specification. ``jobs`` is the number of processes (default: one per core).
    ``cluster`` is the address of a Dask scheduler whose workers simulate in place of local processes, or ``local:N``
    for N workers that are started here. With ``progress`` a notebook and a terminal show a bar.
    """
    from numasim.report.sweep_result import SweepResult, reported_sweep
    from numasim.spec.sweep_spec import load_sweep

    engine = _chosen_engine(engine)
    require_engine(engine)
    loaded = load_sweep(spec, changes=changes)
    name = Path(spec).stem if isinstance(spec, str | Path) else f"sweep-{sweep_key(loaded)[:12]}"
    outcome = reported_sweep(
        loaded,
        Path("results") / name if directory is None else directory,
        jobs=jobs,
        cluster=cluster,
        engine=engine,
        runner=simulate_spec,
        progress=progress,
    )
    return SweepResult(outcome.directory)
