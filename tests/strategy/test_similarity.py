"""The node to which a task is most similar (which has most of the task's data): by the matrices of thesis section 5.4,
and by Algorithms 3 and 4 as printed. An object is a piece of memory; it is unbound while it has no home node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategy_setup import Snapshot, on_nodes, stealing, strategy, toy_machine

from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.schema.enumerations import BELOW_MAX_MARK, BELOW_MIN_MARK, MAX_MARK, MIN_MARK
from numasim.strategy.compile_strategy import compile_strategy
from numasim.strategy.probe import Prober
from numasim.strategy.similarity import UNBOUND, Objects
from numasim.strategy.steal_plan import StealPlan

READ, WRITE, BOTH = 1, 2, 3
HIGH, LOW = 6, 2  # S and s of every queue
ROOM = 9
COUNTED = {"reads": READ, "writes": WRITE, "both": BOTH}


def plan_on(spec: StrategySpec, nodes: list[int], latency_ps: Any = None) -> StealPlan:
    machine = toy_machine(max(nodes) + 1 if latency_ps is None else len(latency_ps), latency_ps=latency_ps)
    return compile_strategy(spec, RuntimeSpec(), machine, on_nodes(nodes))


def a_worker_a_node(nodes: int, latency_ps: Any = None, **rule: Any) -> Prober:
    """Return a prober of one worker on each node; a task without a node goes to the queue of the second family."""
    queues = {"deque": {"per": "worker"}, "else": {"per": "machine"}}
    rules = [{"to": "data", "queue": "deque", **rule}, {"to": "any", "queue": "else"}]
    spec = stealing({"from": "own", "queue": "else"}, queues=queues, dispatch=rules)
    return Prober(plan_on(spec, list(range(nodes)), latency_ps), 1)


# ---- section 5.4 ---------------------------------------------------------------------------------------------------

D_T = np.array([[1, 0], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0]])  # tasks x objects
D_S = np.array([[1, 0], [0, 1]])  # objects x nodes
D_T_TIMES_D_S = np.array([[1, 0], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0]])  # tasks x nodes, as printed


def objects_of(uses: Any, homes: Any, size: Any = 1) -> list[Objects]:
    """Return the objects of a task by its row of D_T; an object without a node in D_S is unbound."""
    node = [int(row.argmax()) if row.any() else UNBOUND for row in np.asarray(homes)]
    sizes = np.broadcast_to(size, len(node))
    return [Objects(node[o], READ, 1, int(sizes[o])) for o in np.flatnonzero(uses)]


@pytest.mark.parametrize("weigh", ["bytes", "objects"])
def test_the_six_tasks_of_section_5_4(weigh: str) -> None:
    """Tasks 0, 1, 3 and 5 use an object on node 0, tasks 2 and 4 an object on node 1."""
    assert np.array_equal(D_T @ D_S, D_T_TIMES_D_S)
    prober, view = a_worker_a_node(2, weigh=weigh), Snapshot([0, 0, 0])
    queues = [prober.place(0, view, objects=objects_of(uses, D_S)) for uses in D_T]
    assert queues == [0, 0, 1, 0, 1, 0] == D_T_TIMES_D_S.argmax(axis=1).tolist()


@st.composite
def relations(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Draw (D_T of one task, D_S, bytes of each object): up to eight objects, some unbound, and up to five nodes."""
    objects, nodes = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    uses = draw(st.lists(st.integers(0, 1), min_size=objects, max_size=objects))
    home = draw(st.lists(st.integers(-1, nodes - 1), min_size=objects, max_size=objects))
    size = draw(st.lists(st.sampled_from([1, 2, 64, 4096]), min_size=objects, max_size=objects))
    matrix = np.zeros((objects, nodes), int)
    bound = np.flatnonzero(np.array(home) >= 0)
    matrix[bound, np.array(home)[bound]] = 1
    return np.array(uses), matrix, np.array(size)


@given(relations(), st.sampled_from(["bytes", "objects"]))
def test_the_node_is_the_argmax_of_the_matrix_product(relation: tuple[Any, Any, Any], weigh: str) -> None:
    uses, homes, size = relation
    nodes = homes.shape[1]
    product = (uses * size if weigh == "bytes" else uses) @ homes
    found = a_worker_a_node(nodes, weigh=weigh).place(
        0, Snapshot([0] * (nodes + 1)), objects=objects_of(uses, homes, size)
    )
    assert found == (product.argmax() if product.any() else nodes)


@given(relations(), st.data())
def test_the_cheapest_node_is_the_argmin_of_bytes_times_latency(
    relation: tuple[Any, Any, Any], data: st.DataObject
) -> None:
    uses, homes, size = relation
    nodes = homes.shape[1]
    latency = [[data.draw(st.sampled_from([1, 70, 200])) for _ in range(nodes)] for _ in range(nodes)]
    product = uses * size @ homes
    cost = product @ np.array(latency).T
    found = a_worker_a_node(nodes, latency, rank="cheapest").place(
        0, Snapshot([0] * (nodes + 1)), objects=objects_of(uses, homes, size)
    )
    assert found == (cost.argmin() if product.any() else nodes)


@given(relations(), st.sampled_from(["reads", "writes", "both"]), st.data())
def test_only_objects_that_are_used_in_the_way_asked_for_count(
    relation: tuple[Any, Any, Any], count: str, data: st.DataObject
) -> None:
    uses, homes, size = relation
    nodes = homes.shape[1]
    some = [o._replace(mode=data.draw(st.sampled_from([READ, WRITE, BOTH]))) for o in objects_of(uses, homes, size)]
    product = np.zeros(nodes, int)
    for o in some:
        if (o.home != UNBOUND and o.mode in (COUNTED[count], BOTH)) or (count == "both" and o.home != UNBOUND):
            product[o.home] += o.bytes
    found = a_worker_a_node(nodes, count=count).place(0, Snapshot([0] * (nodes + 1)), objects=some)
    assert found == (product.argmax() if product.any() else nodes)


# ---- Algorithms 3 and 4 --------------------------------------------------------------------------------------------


def create_task(lengths: list[int], nodes: list[int], objects: list[Objects], high: list[int], low: list[int]) -> int:
    """Return the queue that gets a task by thesis Algorithm 4, as model 4.5 interprets it (A-13, A-14)."""

    def least_loaded(queues: list[int]) -> int:
        return min(queues, key=lambda q: lengths[q])

    every = list(range(len(nodes)))
    if not objects:
        return next((q for q in every if lengths[q] < low[q]), least_loaded(every))
    domain = stealing_domain(lengths, nodes, objects)
    preferred = least_loaded(domain)
    if lengths[preferred] < high[preferred]:
        return preferred
    return next((q for q in domain if lengths[q] < high[q]), preferred)


def stealing_domain(lengths: list[int], nodes: list[int], objects: list[Objects]) -> list[int]:
    """Return the queues of getMemoryStealingDomain (Algorithm 3), or of the domain with the least total load.

    The domain with the least load is for unbound data, and for data spread evenly over the machine, which Algorithm 3
    leaves open.
    """
    everywhere = {sum(o.bytes for o in objects if o.home == node) for node in range(3)}
    domains = {node: [q for q, on in enumerate(nodes) if on == node] for node in sorted(set(nodes))}
    similar = {node: sum(o.bytes for o in objects if o.home == node) for node in domains}
    if any(similar.values()) and len(everywhere) > 1:
        return domains[max(domains, key=lambda node: (similar[node], -node))]
    return domains[min(domains, key=lambda node: (sum(lengths[q] for q in domains[node]), node))]


def snapshot(plan: StealPlan, lengths: list[int], high: list[int], low: list[int]) -> Snapshot:
    """Return the lengths, and the watch bits that follow from the lengths if no bit is latched."""
    bound = {MAX_MARK: high, MIN_MARK: low}
    assert {tuple(pair) for pair in plan.watch.tolist()} <= {(MAX_MARK, BELOW_MAX_MARK), (MIN_MARK, BELOW_MIN_MARK)}
    return Snapshot(lengths, [[int(n >= s) for n, s in zip(lengths, bound[at], strict=True)] for at, _ in plan.watch])


placements = st.lists(
    st.builds(Objects, st.integers(-1, 2), st.sampled_from([READ, BOTH]), st.just(1), st.sampled_from([1, 64, 100])),
    max_size=4,
)


@given(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=1, max_size=8), placements, st.data())
def test_locality_binding_is_algorithm_4(nodes: list[int], objects: list[Objects], data: st.DataObject) -> None:
    nodes = [0, *nodes, 2]  # a machine of three nodes, of which node 1 may have no workers
    lengths = data.draw(st.lists(st.integers(0, ROOM), min_size=len(nodes), max_size=len(nodes)))
    high, low = [HIGH] * len(nodes), [LOW] * len(nodes)
    plan = plan_on(strategy("locality-binding"), nodes)
    expected = create_task(lengths, nodes, objects, high, low)
    assert Prober(plan, 1).place(0, snapshot(plan, lengths, high, low), objects=objects) == expected


def test_where_queues_have_thresholds_of_their_own_it_stays_with_the_least_loaded() -> None:
    """Algorithm 4 prefers a longer queue to the least loaded one if only the longer one holds fewer than its S."""
    nodes, lengths, high, low = [0, 0], [4, 5], [3, 6], [1, 1]
    data = [Objects(0, READ, 1, 64)]
    plan = plan_on(strategy("locality-binding"), nodes)
    assert create_task(lengths, nodes, data, high, low) == 1
    assert Prober(plan, 1).place(0, snapshot(plan, lengths, high, low), objects=data) == 0
