"""Measure how much of its speed the native engine keeps if it calls a user's controller, a function that may change the
strategy, between iterations (passes through the program's loop).

    python verification/controller_rate.py --pairs 15

The controller always makes the same choice, so a run without the controller has the same events. The runs with and
without the controller are done in pairs, one after the other, in alternating order; their events per second of
processor time are compared. Both engines must give the same hashes, with and without the controller. A line for each
model has the number of tasks of an iteration, the median over pairs of the ratio with to without the controller, the
least ratio, and the ratio of the fastest runs. Exit status 1 if hashes differ, or if the median is below the bound
under the default model.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from speed import Ratio, in_pairs

from numasim.engine.simulate import ENGINES, simulate
from numasim.plan.build_plan import build_plan, revised
from numasim.plan.plan import Plan, Run
from numasim.spec.run_spec import resolve

BOUND = 0.90
SEED = 1
PROGRAM = {"name": "heat", "x": 2048, "y": 2048}
CONTROLLER = """\
from numasim.strategy.control.controller import Controls

FAR, NEAR = Controls(switches=frozenset({"far"})), Controls(switches=frozenset())


def choose(program, best_ps, measures):
    if measures is None:
        return None, FAR
    best_ps = measures.time_ps if best_ps is None else min(best_ps, measures.time_ps)
    return best_ps, FAR if measures.time_ps < 9 * best_ps else NEAR
"""
MODELS: Mapping[str, Mapping[str, Any]] = {
    "by default": {},
    "uncoupled": {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"},
}


def plan_of(model: Mapping[str, Any], sweeps: int, folder: Path) -> Plan:
    """Return the plan of the controlled strategy for a program of ``sweeps`` sweeps."""
    (folder / "mine.py").write_text(CONTROLLER)
    steal = [{"from": "own-node"}, {"from": "other-nodes", "when": "far"}]
    document = {
        "machine": "xeon-6130-4s",
        "workload": {**PROGRAM, "sweeps": sweeps},
        "workers": 16,
        "model": dict(model),
        "strategy": {"steal": steal, "tune": {"python": "mine:choose"}},
    }
    return build_plan(resolve(document, folder))


def cpu_s(plan: Plan) -> float:
    """Return the processor time of a run; both runs of a pair have the same events."""
    begin = time.process_time()
    ENGINES["native"](Run(plan, SEED), False, None)
    return time.process_time() - begin


def hashes(plan: Plan, engine: str) -> tuple[str, str]:
    """Return the hashes of a run."""
    counters = simulate(plan, SEED, engine, check=True).counters
    return counters["trace_hash"], counters["event_hash"]


def main() -> int:
    """Measure and print the rates. Return 1 if hashes differ or the bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--sweeps", type=int, default=600)
    given = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    kept = True
    with TemporaryDirectory() as name:
        for label, model in MODELS.items():
            short, plan = (plan_of(model, sweeps, Path(name)) for sweeps in (4, given.sweeps))
            # the run without the controller has the switch in the state that the controller sets
            plain_short, plain = (
                revised(each, tuning=None, control=replace(each.control, switches=1)) for each in (short, plan)
            )
            runs = [(each, engine) for each in (short, plain_short) for engine in ("reference", "native")]
            same = len({hashes(*run) for run in runs}) == 1
            sides = partial(cpu_s, plan), partial(cpu_s, plain)
            in_pairs(*sides, 1)  # this first pair prepares the plans and is not counted
            found = Ratio(label, "native", in_pairs(*sides, given.pairs))
            tasks = plan.workload.tasks // plan.workload.loops[0].repeat
            print(
                f"{label}: {tasks} tasks an iteration; hashes {'equal' if same else 'DIFFER'}; "
                f"median {found.median:.3f}, least {min(found.ratios):.3f}, of fastest {found.of_fastest:.3f}"
            )
            kept &= same and (found.median >= BOUND or label != "by default")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
