"""Random plans for property tests: small machines, graphs, strategies, runtimes and joins.

`plans` combines what is shipped; `any_runs` has programs, strategies and runtimes written at random as well.
"""

from __future__ import annotations

from typing import Any

from engine_setup import plan_of, shipped_runtime, shipped_strategy, toy
from hypothesis import strategies as st
from random_recipes import RandomRun, random_run

from numasim.machine.topology import Machine
from numasim.parts import catalog
from numasim.parts.models.placement_model import PlacementSpec
from numasim.parts.models.runtime_model import BackoffSpec, CostSpec, JoinKind, RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.plan import Plan
from numasim.workload.generate import generate
from numasim.workload.graph import Workload
from numasim.workload.registry import workload_spec

STRATEGIES = catalog.names("strategies")
RUNTIMES = catalog.names("runtimes")

seeds = st.integers(0, 2**64 - 1)
JOINS: tuple[JoinKind, ...] = ("help", "own", "strict", "continuation", "block", "leapfrog")
SELF_SUFFICIENT: tuple[JoinKind, ...] = ("help", "continuation")  # always end, see `that_end`

machines: st.SearchStrategy[Machine] = st.builds(
    toy, sockets=st.integers(1, 3), cores=st.integers(1, 3), threads=st.integers(1, 2), nodes=st.integers(1, 2)
)


@st.composite
def times(draw: st.DrawFn) -> dict[str, Any]:
    grain = draw(st.sampled_from([1, 100, 5000]))
    low, high = sorted((draw(st.integers(0, 10)) * grain, draw(st.integers(0, 10)) * grain))
    return {"low_ns": low, "high_ns": high}


SHAPES = {
    "random-fork-join": {"tasks": st.integers(1, 40), "task_bytes": st.sampled_from([0, 1000, 70_000])},
    "random-layered": {
        "layers": st.integers(1, 5),
        "width": st.integers(1, 6),
        "degree": st.integers(1, 3),
        "task_bytes": st.sampled_from([0, 9000]),
    },
    "independent": {"tasks": st.integers(1, 60)},
}


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    name = draw(st.sampled_from(sorted(SHAPES)))
    shape = {key: draw(values) for key, values in SHAPES[name].items()}
    if name != "independent":
        shape["graph_seed"] = draw(st.integers(0, 1000))
    return generate(workload_spec(name, **shape, **draw(times())))


def with_join(name: str, join: JoinKind) -> RuntimeSpec:
    return shipped_runtime(name).model_copy(update={"join": join})


def that_end(strategy: StrategySpec) -> tuple[JoinKind, ...]:
    """The joins under which work always ends. Where a continuation may be stolen, a nested join may steal that of a
    parent and then wait for itself.
    """
    return SELF_SUFFICIENT if strategy.spawn == "help-first" else ("continuation",)


@st.composite
def plans(draw: st.DrawFn, joins: tuple[JoinKind, ...] = SELF_SUFFICIENT) -> Plan:
    machine = draw(machines)
    strategy = shipped_strategy(draw(st.sampled_from(STRATEGIES)))
    join = draw(st.sampled_from(that_end(strategy) if joins == SELF_SUFFICIENT else joins))
    return plan_of(
        draw(workloads()),
        draw(st.integers(1, min(8, machine.threads))),
        strategy.model_copy(update={"join": join}),
        with_join(draw(st.sampled_from(RUNTIMES)), join),
        machine,
    )


# Strategies that look at no lengths, take one task a steal, and leave new tasks to their spawner.
OBLIVIOUS = ("randomized", "randomized-self", "help-first", "last-victim", "nearest-first", "ring", "ring-after-last")
STRICT_SHAPES = ("fib", "independent", "random-fork-join")


@st.composite
def strict_workloads(draw: st.DrawFn) -> Workload:
    """Trees whose tasks wait for all their children, some of them folded, and ranges."""
    name = draw(st.sampled_from(STRICT_SHAPES))
    if name == "fib":
        spec = workload_spec("fib", n=draw(st.integers(0, 9)), leaf_ns=draw(st.integers(0, 300)))
        return generate(spec, folded=draw(st.booleans()))
    shape = {key: draw(values) for key, values in SHAPES[name].items()}
    return generate(workload_spec(name, **shape, **draw(times())))


@st.composite
def oblivious_plans(draw: st.DrawFn) -> Plan:
    """Plans of which most are skippable."""
    machine = draw(machines)
    costs = CostSpec(
        probe_ns=draw(st.sampled_from([1, 100])),
        probe_remote_ns=draw(st.sampled_from([2, 300])),
        take_ns=draw(st.sampled_from([0, 30])),
        pop_ns=draw(st.sampled_from([0, 0, 0, 20])),
    )
    backoff = BackoffSpec(first_ns=draw(st.sampled_from([0, 70])), after=draw(st.sampled_from(["round", "probe"])))
    how = shipped_runtime("bare").model_copy(update={"costs": costs, "backoff": backoff})
    strategy = shipped_strategy(draw(st.sampled_from(OBLIVIOUS)))
    placement = PlacementSpec(policy=draw(st.sampled_from(["first-touch", "interleave", "block"])))
    return plan_of(
        draw(strict_workloads()),
        draw(st.integers(1, min(8, machine.threads))),
        strategy.model_copy(update={"placement": placement}),
        how,
        machine,
    )


def any_runs() -> st.SearchStrategy[RandomRun]:
    return st.randoms(use_true_random=False).map(random_run)
