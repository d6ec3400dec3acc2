"""Run plans for `speed.py`. Each line of standard input is an order, each line of standard output an answer, in JSON.

``{"plan": SPECIFICATION}`` makes the plan for the following orders, and answers with the number of tasks, or with null
if this version of numasim refuses the specification. ``{"engine": NAME, "sample_s": S}`` runs the plan as often as fits
into S seconds, at least once, and answers with the mean CPU time of a run in seconds.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from typing import Any

from installed import Built, build, symbol


def made(spec: dict[str, Any]) -> Built | None:
    """Return the plan of a specification, None if the specification is refused."""
    try:
        return build(symbol("resolve", "spec.run_spec")(spec), spec["seed"])
    except symbol("InputError", "errors"):
        return None


def mean_s(plan: Built, engine: str, sample_s: float) -> float:
    """Return the mean CPU time of runs that take ``sample_s`` together, in seconds."""
    gc.collect()
    runs, start, took_s = 0, time.process_time(), 0.0
    while not runs or took_s < sample_s:
        plan.run(engine)
        runs, took_s = runs + 1, time.process_time() - start
    return took_s / runs


def main() -> None:
    """Answer until there are no more orders."""
    plan: Built | None = None
    answer: int | float | None
    for line in sys.stdin:
        order = json.loads(line)
        if "plan" in order:
            plan = made(order["plan"])
            answer = plan.plan.workload.tasks if plan else None
        else:
            assert plan is not None
            answer = mean_s(plan, order["engine"], order["sample_s"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
