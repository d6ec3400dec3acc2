"""The default dispatch rules of a strategy that gives none.

A worker keeps what it spawns. An extra producer has no queue of its own and deals round robin, as does a worker whose
queue is full when the runtime scans on to the next one (thesis chapter 3).
"""

from __future__ import annotations

from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.search_model import DispatchSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.strategy.levels import Rule


def dispatch_rules(spec: StrategySpec, runtime: RuntimeSpec) -> list[Rule]:
    """Return the strategy's rules, or those that follow from the runtime."""
    if spec.dispatch is not None:
        return [Rule(rule) for rule in spec.dispatch]
    rules = [Rule(DispatchSpec.model_construct(target="own"))]
    if runtime.on_full == "next" or runtime.producer == "extra":
        around = DispatchSpec.model_construct(target="any", pick="round-robin")
        rules.append(Rule(around, for_producer=runtime.on_full != "next"))
    return rules
