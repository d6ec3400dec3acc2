"""Runs plans for `speed.py` and says what CPU time they take: orders on standard input, answers on standard output.

Both are one JSON object a line. ``{"plan": SPECIFICATION}`` makes the plan that the following orders are about; its
answer has the number of tasks. ``{"engine": NAME, "sample_s": S}`` runs the plan as often as S seconds have room for,
once at least; its answer is the mean CPU time of a run in seconds.
"""

from __future__ import annotations

import gc
import json
import sys
from typing import Any

from benchmark_list import cpu_s
from installed import Built, build, symbol


def prepared(spec: dict[str, Any]) -> Built:
    """The plan of ``spec``."""
    return build(symbol("resolve", "spec.run")(spec), spec["seed"])


def mean_s(plan: Built, engine: str, sample_s: float) -> float:
    """The mean CPU time of runs that take ``sample_s`` together, in seconds."""
    gc.collect()
    seconds = [cpu_s(lambda: plan.run(engine))]
    while sum(seconds) < sample_s:
        seconds.append(cpu_s(lambda: plan.run(engine)))
    return sum(seconds) / len(seconds)


def main() -> None:
    """Answer until there are no more orders."""
    plan: Built | None = None
    for line in sys.stdin:
        order = json.loads(line)
        if "plan" in order:
            plan = prepared(order["plan"])
            answer: float = plan.plan.workload.tasks
        else:
            assert plan is not None
            answer = mean_s(plan, order["engine"], order["sample_s"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
