"""The rules of papers beside the thesis, on whole runs: hierarchies of sockets, places, mailboxes."""

from __future__ import annotations

import pytest
from engine_setup import observe, plan_of, shipped_strategy, toy

from numasim.engine.simulate import ENGINES
from numasim.schema.enumerations import Tier
from numasim.workload.generate import generate
from numasim.workload.registry import workload_spec


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("strategy", ["cab", "hws", "slaw"])
def test_what_is_below_a_root_runs_on_the_socket_of_its_root(strategy: str, engine: str) -> None:
    """CAB and HWS steal local tasks within a socket alone, SLAW all tasks within a place."""
    work = generate(workload_spec("fib", n=11, spawn_ns=20, leaf_ns=300, join_ns=20))
    plan = plan_of(work, 6, shipped_strategy(strategy), "bare", toy(2, 3))
    seen = observe(plan, engine)
    sockets: dict[int, set[int]] = {}
    for worker, task, *_ in seen.stretches:
        sockets.setdefault(task, set()).add(int(plan.workers.node[worker]))
    ends, tiers = plan.workload.subtree_end(), plan.control.tiers
    roots = [task for task in range(plan.workload.rows) if tiers[task] == Tier.ROOT]
    for root in roots:
        below = [sockets[task] for task in range(root, int(ends[root])) if task in sockets]
        assert len(set().union(*below)) == 1
    assert len({socket for root in roots for socket in sockets[root]}) == 2  # both sockets have some
