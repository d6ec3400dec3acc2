"""One run in a notebook: its numbers in units, its time as a bar, its traffic, and nothing that is not escaped."""

import re
from fractions import Fraction

import numpy as np
import pytest

import numasim as ns
from numasim.engine.columns import DESCRIBED
from numasim.engine.result import LOCKS, MEMORY, OUTCOME, STEALS, TIME, TRANSACTIONS, Result
from numasim.report.components import COMPONENTS
from numasim.report.notebooks.result_html import result_html

SMALL = {"machine": "xeon-e5-2620-2s", "runtime": "own", "strategy": "randomized", "workers": 4}


@pytest.fixture(scope="module")
def result():
    return ns.run({**SMALL, "workload": {"name": "strassen", "n": 256}})


def made_up(split, moved):
    """A run with these components [components, workers] and these bytes between nodes."""
    workers = len(split[0])
    columns = {c.column: np.array(row) for c, row in zip(COMPONENTS, split, strict=True)}
    columns |= {"role": np.array(["worker"] * (workers - 1) + ["producer"]), "node": np.arange(workers) % 2}
    counters = dict.fromkeys(OUTCOME + STEALS + MEMORY + LOCKS + TRANSACTIONS, 0)
    counters |= {"makespan_ps": 1_500_000, "serial_ps": 4_500_000}
    none = np.zeros((2, 2), np.int64)
    no_objects = np.zeros(0, np.int64)
    return Result(counters, columns, np.array(moved), none, none, np.zeros(2, np.int64), none, no_objects)


def test_the_split_leaves_producers_out_and_is_as_wide_as_its_shares():
    """60 + 20 of work and 20 of barrier for each of the two workers; 999 belong to the producer."""
    nothing = [0, 0, 0]
    split = [[60, 20, 999], *[nothing] * 6, [0, 20, 999], nothing, nothing]
    page = result_html(made_up(split, [[3 * 2**20, 0], [2**20, 0]]))
    assert "2 workers" in page
    first = page.split("node 0, 1 worker")[0]
    assert re.findall(r"width: ([\d.]+)%; height: 20px; background-color: (#\w+)", first) == [
        ("80.000", "#009E73"),
        ("20.000", "#8C8C8C"),
    ]
    assert "work 80.0%" in first
    assert "barrier 20.0%" in first
    assert re.findall(r"width: ([\d.]+)%; height: 8px", page) == ["100.000", "50.000", "50.000"]


def test_traffic_is_told_by_node():
    page = result_html(made_up([[1, 1, 0]] * len(TIME), [[3 * 2**20, 0], [2**20, 0]]))
    assert "3 MiB on the own node, 1 MiB (25.0%) from other nodes" in page
    assert page.count("1 MiB</td>") == 1  # the square of nodes 1 and 0; the made-up counters are zero


def test_it_has_every_counter_with_its_meaning(result):
    page = result._repr_html_()
    for name in (*OUTCOME, *STEALS, *MEMORY, *LOCKS, *TRANSACTIONS):
        assert f">{DESCRIBED[name].label}</td>" in page
    speedup = Fraction(result.counters["serial_ps"], result.counters["makespan_ps"])
    assert f"<b>{float(speedup):.3f}</b>" in page
    assert "strassen, xeon-e5-2620-2s, randomized, 4 workers" in page


def test_the_same_run_gives_the_same_bytes(result):
    again = ns.run({**SMALL, "workload": {"name": "strassen", "n": 256}})
    assert again._repr_html_() == result._repr_html_()


def test_names_are_escaped(result):
    hostile = Result(**{**vars(result), "identity": {**result.identity, "machine": "<img src=x>"}})
    page = hostile._repr_html_()
    assert "<img" not in page
    assert "&lt;img src=x&gt;" in page


def test_remarks_are_shown(result, monkeypatch):
    monkeypatch.setattr(Result, "remarks", ["nobody < stole"])
    assert "nobody &lt; stole" in result._repr_html_()


def test_text_names_the_run_in_one_line(result):
    makespan_ms = result.counters["makespan_ps"] / 1e9
    assert repr(result) == f"<Result: strassen, xeon-e5-2620-2s, randomized, 4 workers; makespan {makespan_ms:.3f} ms>"
