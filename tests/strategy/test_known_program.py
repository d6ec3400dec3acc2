"""The data that controllers get about a program: the arrays over tasks, units and caches, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from strategy_setup import on_nodes, stealing, strategy, toy_machine

from numasim.strategy.control.task_control import known_program, label_unit, llc_bytes_of_units
from numasim.workload.builder import Draft, Shape
from numasim.workload.graph import Op, Workload

FORK = Shape((Op.RUN, Op.SPAWN, Op.SPAWN, Op.WAIT, Op.RUN), (0, 0), (0, 0))
LEAF = Shape((Op.RUN,), (0,), (0,))


def two_trees() -> Workload:
    """Return a program: task 0 forks 1 and 4, task 1 forks 2 and 3, task 5 is a lone root; times are in ps."""
    draft = Draft(np.array([-1, 0, 1, 1, 0, -1]), np.array([0, 0, 1, 1, 1, 1]), [FORK, LEAF])
    draft.compute_runs(0, np.array([[10, 5], [10, 5]]))
    draft.compute(1, 100)
    return draft.finish(name="two trees", parameters={}, kernels=("work",))


def test_the_arrays_over_tasks_into_which_nothing_can_be_written() -> None:
    program = known_program(two_trees(), toy_machine(2), on_nodes([0, 1]), "node")
    assert program.tasks == 6
    assert program.parent.tolist() == [-1, 0, 1, 1, 0, -1]
    assert program.depth.tolist() == [0, 1, 2, 2, 1, 0]
    assert program.subtree_end.tolist() == [5, 4, 3, 4, 5, 6]
    assert program.compute_ps.tolist() == [15, 15, 100, 100, 100, 100]
    assert program.roots == ((0, 5),)
    assert (program.workers, program.nodes, program.units) == (2, 2, 2)
    for array in (program.parent, program.depth, program.subtree_end, program.compute_ps):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_only_units_with_a_worker_count() -> None:
    """Workers are on nodes 0 and 3 of four, with two nodes a socket: two nodes, two sockets and one machine count."""
    machine, workers = toy_machine(4, nodes_a_socket=2), on_nodes([0, 3, 3], nodes_a_socket=2)
    kinds = ("worker", "node", "socket", "machine")
    assert [len(llc_bytes_of_units(kind, machine, workers)) for kind in kinds] == [3, 2, 2, 1]


def test_a_unit_has_the_caches_of_its_workers() -> None:
    """Nodes 0 to 3 have caches of 100, 200, 400, 800 bytes; nodes 0, 1 and 2, 3 are sockets; node 2 has no worker."""
    plain = toy_machine(4, nodes_a_socket=2)
    machine = replace(plain, caches=replace(plain.caches, llc_bytes=800, llc_sizes=(100, 200, 400, 800)))
    workers = on_nodes([0, 1, 1, 3], nodes_a_socket=2)
    assert llc_bytes_of_units("socket", machine, workers) == [300, 800]
    assert llc_bytes_of_units("node", machine, workers) == [100, 200, 800]
    assert llc_bytes_of_units("machine", machine, workers) == [1100]
    assert known_program(two_trees(), machine, workers, "socket").unit_llc_bytes == 300  # the smallest


def test_labels_name_sockets_where_no_rule_puts_tasks_by_label() -> None:
    assert label_unit(strategy("randomized")) == "socket"
    assert label_unit(stealing({"from": "others"}, dispatch=[{"to": "own"}])) == "socket"
