"""Traces for Paje and Paraver pass a strict reader, and their states add up to the time split, to the picosecond."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from engine_setup import NS, SEED, plan_of, shipped_runtime, toy
from random_recipes import random_run
from task_graphs import WAIT, graph, items, task
from trace_readers import Trace, read_trace

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.observe.watch import STRETCHES
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES, simulate
from numasim.errors import InputError
from numasim.plan.plan import Plan
from numasim.report.trace import paje, paraver, time_order
from numasim.report.trace.watched_run import any_trace_to, form_of, notice

FORMS = ("trace.paje", "trace.paje.gz", "trace.prv")
TREE = graph(task(*[task(300 * NS, task(700 * NS), task(0), WAIT, 20 * NS) for _ in range(6)], WAIT, 50 * NS))
WORK = ("work_local_ps", "inflation_numa_ps", "inflation_contention_ps", "inflation_smt_ps", "wasted_ps")
SPLIT = {  # the columns of the result whose sum each state is
    "work": WORK,
    "overhead": ("overhead_ps",),
    "waiting for work": ("idle_steal_ps", "idle_backoff_ps"),
    "asleep": ("parked_ps",),
    "waiting at a serial phase": ("idle_barrier_ps",),
}


def traced(plan: Plan, path: Path, engine: str = "native", seed: int = SEED) -> Result:
    with any_trace_to(path, plan) as watch:
        return simulate(plan, seed, engine, watch=watch)


def split_of(found: Trace, workers: int) -> dict[str, list[int]]:
    """[states][workers] as the file tells it."""
    tracks = {name: track for track, name in found.names.items()}
    return {name: [found.time_ps[tracks[f"worker {worker}"], name] for worker in range(workers)] for name in SPLIT}


@pytest.mark.parametrize("form", ["trace.paje", "trace.prv"])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", range(12))
def test_traces_of_random_plans_are_sound_and_add_up(
    number: int, engine: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_order, "CHUNK_ROWS", 16)
    run = random_run(Random(number))
    workers = run.plan.workers.workers
    try:
        result = traced(run.plan, tmp_path / form, engine, run.seed)
    except DeadlockError:
        assert list(tmp_path.iterdir()) == []
        return
    found = read_trace(tmp_path / form)
    columns = {name: [result.per_worker[column][:workers] for column in parts] for name, parts in SPLIT.items()}
    assert split_of(found, workers) == {name: sum(each).tolist() for name, each in columns.items()}
    assert sum(map(sum, split_of(found, workers).values())) == workers * result.counters["makespan_ps"]


@pytest.mark.parametrize("form", FORMS)
def test_every_steal_is_a_link_from_victim_to_thief(form: str, tmp_path: Path) -> None:
    plan = plan_of(TREE, 4, "topology-aware", "ompi", toy(2, 2))
    result = traced(plan, tmp_path / form)
    found = read_trace(tmp_path / form)
    assert found.arrows == result.counters["steal_success"] > 0


def test_a_run_by_hand_in_paje(tmp_path: Path) -> None:
    plan = plan_of(graph(task(1500)), 2, "randomized", "bare", toy(1, 2))
    traced(plan, tmp_path / "t.paje")
    lines = (tmp_path / "t.paje").read_text().splitlines()
    assert '4 0.000000000000 w1 W n0 "worker 1"' in lines
    assert [line.split()[:5] for line in lines if line[:2] == "7 "] == [["7", "0.000000000000", "S", "w0", "work"]]
    assert [line for line in lines if line[:2] == "5 "] == [
        f"5 0.000000001500 {name}" for name in ("W w0", "W w1", "N n0", "M m")
    ]


def test_a_run_by_hand_in_paraver(tmp_path: Path) -> None:
    plan = plan_of(graph(task(1500)), 2, "randomized", "bare", toy(1, 2))
    traced(plan, tmp_path / "t.prv")
    head, *records = (tmp_path / "t.prv").read_text().splitlines()
    assert head == "#Paraver (01/01/00 at 00:00):00000000000000001500_ns:1(2):1:1(2:1)"
    assert "1:1:1:1:1:0:1500:1" in records
    assert "2:1:1:1:1:0:64000001:1:64000002:1" in records
    assert "1    work" in (tmp_path / "t.pcf").read_text().splitlines()
    assert (tmp_path / "t.row").read_text().startswith("LEVEL CPU SIZE 2\nworker 0\nworker 1\n\nLEVEL NODE SIZE 1\n")


@pytest.mark.parametrize("form", FORMS)
def test_a_producer_has_a_row_of_its_own(form: str, tmp_path: Path) -> None:
    plan = plan_of(items(300, 500 * NS), 4, "randomized", shipped_runtime("own"), toy(2, 2))
    traced(plan, tmp_path / form)
    found = read_trace(tmp_path / form)
    track = next(track for track, name in found.names.items() if name == "producer")
    assert found.time_ps[track, "gone"] > 0


def test_equal_runs_have_equal_files(tmp_path: Path) -> None:
    plan = plan_of(TREE, 4, "randomized", "bare", toy(2, 2))
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for form in FORMS:
            traced(plan, tmp_path / folder / form)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_the_name_says_the_form() -> None:
    assert [form_of(Path(name)) for name in ("a.json", "a.json.gz", "a.paje", "a.paje.gz", "a.prv")] == [
        ".json",
        ".json",
        ".paje",
        ".paje",
        ".prv",
    ]
    assert notice(Path("a.json")) is None
    assert "picoseconds" in str(notice(Path("a.prv")))


def test_a_paraver_trace_is_not_packed_and_needs_a_file(tmp_path: Path) -> None:
    plan = plan_of(TREE, 2, "randomized", "bare", toy(1, 2))
    with pytest.raises(InputError, match=r"not written packed; expected a.prv"):
        traced(plan, tmp_path / "a.prv.gz")
    assert list(tmp_path.iterdir()) == []


# ---- what readers refuse ----

PAJE_DAMAGE = {
    "time back": (r"5 (\S+) M m", "5 0.0 M m", "the time 0.0 goes back"),
    "no type": (r"6 (\S+) S w1 idle", r"6 \1 T w1 idle", "'T'"),
    "no value": (r"6 (\S+) S w1 idle", r"6 \1 S w1 sleepy", "'sleepy'"),
    "no container": (r"6 (\S+) S w1 idle", r"6 \1 S w9 idle", "'w9'"),
    "fields": (r"6 (\S+) S w1 idle", r"6 \1 S w1", "there is no event 6 with 3 fields"),
    "no end": (r"5 (\S+) M m\n", "", "the container m does not end"),
    "first state": (r"6 0.000000000000 S w1 idle\n", "", "no state at first"),
    "link": (r"9 .*\n", "", "a link has no end"),
}
PARAVER_DAMAGE = {
    "gap": (r"1:2:1:1:2:0:(\d+):0", r"1:2:1:1:2:5:\1:0", "follows one that ends at 0"),
    "thread": (r"1:2:1:1:2:0:", "1:2:1:1:7:0:", "there is no thread 1.1.7 on processor 2"),
    "state": (r"(1:2:1:1:2:0:\d+):0", r"\1:4", "4"),
    "no record": (r"1:2:1:1:2:0:\d+:0", "1:2:x", "this is no record"),
    "length": (r"1:2:1:1:2:0:(\d+):0", "1:2", "there is no record 1 of 2 numbers"),
}


def damaged(path: Path, pattern: str, by: str) -> str:
    text = path.read_text()
    changed = re.sub(pattern, by, text, count=1)
    assert changed != text
    path.write_text(changed)
    with pytest.raises((AssertionError, KeyError)) as caught:
        read_trace(path)
    return str(caught.value)


@pytest.mark.parametrize("name", PAJE_DAMAGE)
def test_damage_in_paje_is_found(name: str, tmp_path: Path) -> None:
    traced(plan_of(TREE, 2, "randomized", "bare", toy(1, 2)), tmp_path / "t.paje")
    pattern, by, sentence = PAJE_DAMAGE[name]
    assert sentence in damaged(tmp_path / "t.paje", pattern, by)


@pytest.mark.parametrize("name", PARAVER_DAMAGE)
def test_damage_in_paraver_is_found(name: str, tmp_path: Path) -> None:
    traced(plan_of(TREE, 2, "randomized", "bare", toy(1, 2)), tmp_path / "t.prv")
    pattern, by, sentence = PARAVER_DAMAGE[name]
    assert sentence in damaged(tmp_path / "t.prv", pattern, by)


def test_both_forms_have_every_state() -> None:
    assert {*paje.STATES} == {*paraver.STATES} == {*STRETCHES, time_order.GONE}
