"""Traces pass a strict reader, add up to the result, and take no more memory when a run is longer."""

from __future__ import annotations

import gc
import gzip
import json
import re
import tracemalloc
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from engine_setup import NS, SEED, plan_of, shipped_runtime, toy
from equality import Rows
from hypothesis import given, settings
from random_plans import coupled_plans, seeds
from random_recipes import random_run
from task_graphs import WAIT, graph, items, task
from trace_readers import Trace, read_trace

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.observe.watch import Watch, Watched
from numasim.engine.result import Result
from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES, simulate
from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.plan.build_plan import revised
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.plan.resources import resources_of
from numasim.report.trace.perfetto import MOST_QUEUES, TraceWriter, microseconds, trace_to
from numasim.spec.single_part import read_machine
from numasim.workload.graph import Deal

TREE = graph(task(*[task(300 * NS, task(700 * NS), task(0), WAIT, 20 * NS) for _ in range(6)], WAIT, 50 * NS))
SPLIT = {
    "work": ("work_local_ps", "inflation_numa_ps", "inflation_contention_ps", "inflation_smt_ps"),
    "overhead": ("overhead_ps",),
    "idle": ("idle_steal_ps", "idle_backoff_ps"),
    "parked": ("parked_ps",),
    "barrier": ("idle_barrier_ps",),
}


def traced(plan: Plan, path: Path, engine: str = DEFAULT_ENGINE, seed: int = SEED) -> Result:
    with trace_to(path, plan) as watch:
        return simulate(plan, seed, engine, watch=watch)


def events(path: Path) -> list[dict[str, Any]]:
    """What any reader of JSON finds, as Perfetto and Chrome are."""
    return json.loads(path.read_text())["traceEvents"]  # type: ignore[no-any-return]


def split_of(found: Trace, plan: Plan) -> dict[str, list[int]]:
    """The time of every worker by part, as the slices tell it."""
    workers = {name: track for track, name in found.names.items()}
    others = set(SPLIT) - {"work"}
    table = {part: [0] * plan.workers.workers for part in SPLIT}
    for worker in range(plan.workers.workers):
        mine = {name: time for (track, name), time in found.time_ps.items() if track == workers[f"worker {worker}"]}
        for name, time in mine.items():
            table[name if name in others else "work"][worker] += time
    return table


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", range(25))
def test_traces_of_random_plans_are_sound_and_add_up(number: int, engine: str, tmp_path: Path) -> None:
    run = random_run(Random(number))
    plan = run.plan
    path = tmp_path / "trace.json"
    try:
        result = traced(plan, path, engine, run.seed)
    except DeadlockError:
        assert list(tmp_path.iterdir()) == []
        return
    found = read_trace(path)
    expected = {
        part: sum(result.per_worker[name][: plan.workers.workers] for name in names).tolist()
        for part, names in SPLIT.items()
    }
    shown = split_of(found, plan)
    if result.counters["aborts"]:  # a trace has aborted attempts as what they did, the time split as wasted
        expected["wasted"] = result.per_worker["wasted_ps"][: plan.workers.workers].tolist()
        shown, expected = ({"all": np.sum([*parts.values()], axis=0).tolist()} for parts in (shown, expected))
    assert shown == expected


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=15)
@given(plan=coupled_plans(contention="fluid"), seed=seeds)
def test_traces_of_coupled_plans_are_sound(
    engine: str, plan: Plan, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("traces") / "trace.json"
    traced(plan, path, engine, seed)
    read_trace(path)
    shown = {event["name"] for event in events(path) if event["ph"] == "C" and event["name"].startswith("controller")}
    assert shown <= {resource.name for resource in resources_of(plan).listed}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_steal_is_an_arrow_from_victim_to_thief(engine: str, tmp_path: Path) -> None:
    plan = plan_of(TREE, 4, "topology-aware", "ompi", toy(2, 2))
    result = traced(plan, tmp_path / "trace.json", engine)
    steals: list[Any] = []
    simulate(plan, SEED, engine, watch=lambda rows: steals.extend(rows[rows[:, 0] == Watched.STEAL].tolist()))
    ends = {(event["ph"], event["id"]): event for event in events(tmp_path / "trace.json") if event["ph"] in "sf"}
    assert len(ends) == 2 * len(steals) == 2 * result.counters["steal_success"] > 0
    assert read_trace(tmp_path / "trace.json").arrows == len(steals)
    for number, (_, thief, time, _, _, victim, _) in enumerate(steals, start=1):
        assert ends["s", number]["tid"] == victim + 1
        assert ends["f", number]["tid"] == thief + 1
        assert ends["s", number]["ts"] * 1_000_000 == pytest.approx(time, abs=0.5)


def test_tracks_have_names_and_kernels_name_slices(tmp_path: Path) -> None:
    plan = plan_of(items(300, 500 * NS), 4, "randomized", shipped_runtime("own"), toy(2, 2))
    traced(plan, tmp_path / "trace.json")
    found = events(tmp_path / "trace.json")
    processes = {e["pid"]: e["args"]["name"] for e in found if e.get("name") == "process_name"}
    assert processes == {1: "toy", 2: "node 0 (socket 0)", 3: "node 1 (socket 1)"}
    threads = {(e["pid"], e["args"]["name"]) for e in found if e.get("name") == "thread_name"}
    assert threads == {
        (1, "phases"),
        (2, "producer"),
        *((2 + worker % 2, f"worker {worker}") for worker in range(4)),
    }
    names = Counter(e["name"] for e in found if e["ph"] == "B")
    assert names[plan.workload.kernels[0]] == 300
    assert names["phase 0"] == 1


def test_phases_follow_one_another_on_their_track(tmp_path: Path) -> None:
    plan = plan_of(items(20, 500 * NS, repeat=3), 2)
    traced(plan, tmp_path / "trace.json")
    found = events(tmp_path / "trace.json")
    track = next(e["tid"] for e in found if e.get("args") == {"name": "phases"})
    times = [(e["ph"], e["ts"]) for e in found if e.get("tid") == track and e["ph"] in "BE"]
    assert [kind for kind, _ in times] == ["B", "E"] * 3
    assert times[0][1] == 0
    assert all(times[i][1] == times[i + 1][1] for i in (1, 3))


# ---- counters ------------------------------------------------------------------------------------------------------


def last_values(path: Path) -> dict[tuple[int, str], dict[str, float]]:
    return {(e["pid"], e["name"]): e["args"] for e in events(path) if e["ph"] == "C"}


def test_few_queues_have_a_counter_each_and_are_empty_in_the_end(tmp_path: Path) -> None:
    plan = plan_of(TREE, 4, "randomized", "ompi", toy(2, 2))
    traced(plan, tmp_path / "trace.json")
    found = last_values(tmp_path / "trace.json")
    assert {name for _, name in found} <= {f"queue of worker {worker}" for worker in range(4)}
    assert all(values == {"tasks": 0} for values in found.values())


def test_many_queues_have_a_counter_for_each_node(tmp_path: Path) -> None:
    large = build(read_machine("xeon-6130-4s"))
    plan = plan_of(items(500, 500 * NS, deal=Deal.CYCLIC), 128, "randomized", "bare", large)
    assert len(plan.steal.queues) > MOST_QUEUES
    traced(plan, tmp_path / "trace.json")
    samples = [e for e in events(tmp_path / "trace.json") if e["ph"] == "C"]
    assert {(e["pid"], e["name"]) for e in samples} == {(2 + node, "queues") for node in range(large.nodes)}
    first = {e["pid"]: e["args"]["tasks"] for e in reversed(samples)}
    assert sum(first.values()) == 500 - 128  # every worker takes its first task at once
    assert set(last_values(tmp_path / "trace.json")[2, "queues"].values()) == {0}


def written(plan: Plan, *told: tuple[Any, ...]) -> list[dict[str, Any]]:
    """The events of rows that are told by hand."""
    text: list[str] = []
    writer = TraceWriter(plan, text.append)
    watch = Watch(writer)
    for row in told:
        watch.report(*row)
    watch.flush()
    writer.close()
    found = json.loads("".join(text))["traceEvents"]
    return [event for event in found if event["ph"] != "M"]


def test_the_last_of_several_values_at_one_time_is_shown() -> None:
    lengths = [(Watched.LENGTH, 0, time, time, tasks) for time, tasks in ((0, 1), (0, 2), (5, 7), (5, 1), (5, 0))]
    found = written(plan_of(TREE), *lengths)
    assert [(e["ts"], e["args"]["tasks"]) for e in found] == [(0, 2), (5e-6, 0)]


def limited(machine: Machine) -> Plan:
    """A coupled plan in which page faults wait for each other."""
    plan = plan_of(TREE, machine=machine, effects=Effects(worker_spread_ppm=1))
    return revised(plan, costs=replace(plan.costs, faults_per_s=10**6))


def test_loads_are_in_gigabytes_or_faults_per_second_of_what_has_a_name() -> None:
    plan = limited(toy(2, 2))
    faults = resources_of(plan).faults
    rows = [(Watched.LOAD, resource, 4_000_000, 4_000_000, 12_345_678_901) for resource in (1, 2, faults)]
    assert [(e["name"], e["pid"], e["ts"], e["args"]) for e in written(plan, *rows)] == [
        ("controller 1", 1, 4, {"GB/s": 12.345678901}),
        ("link 0 to 1", 1, 4, {"GB/s": 12.345678901}),
        ("address space", 1, 4, {"faults/s": 12_345_678_901}),
    ]


def test_names_are_in_the_order_of_the_alphabet() -> None:
    plan = limited(build(read_machine("tilepro64")))
    resources = resources_of(plan)
    links = range(64, resources.faults)
    shown = [e["name"] for e in written(plan, *[(Watched.LOAD, link, 0, 0, 1) for link in (*range(64), *links)])]
    assert shown[:2] == ["controller 00", "controller 01"]
    assert shown[:64] == sorted(shown[:64])
    assert len(set(shown)) == len(resources.listed) - 1


def test_an_arrow_leads_to_the_next_slice_that_lasts() -> None:
    """A thief whose first task takes no time gets the arrow at the next one; at the end of the run, at a slice more."""
    steal = (Watched.STEAL, 1, 100, 100, 0, 0, 1)
    work = Watched.WORK
    rows = [steal, (work, 1, 100, 100), (work, 1, 100, 9000), (work, 0, 0, 9000)]
    found = written(plan_of(TREE), *rows)
    kinds = [(e["ph"], e["tid"], round(e["ts"] * 1_000_000)) for e in found]
    assert kinds[2:5] == [("B", 2, 100), ("f", 2, 1100), ("E", 2, 9000)]
    assert ("s", 1, 100) in kinds
    cut_short = [
        (e["ph"], e.get("name")) for e in written(plan_of(TREE), steal, (work, 1, 100, 100), (work, 0, 0, 100))
    ]
    assert cut_short.count(("B", "end")) == 2
    assert {kind for kind, _ in cut_short} == {"B", "E", "s", "f"}


# ---- the file ------------------------------------------------------------------------------------------------------


def test_a_packed_trace_says_the_same_and_is_the_same_every_time(tmp_path: Path) -> None:
    plan = plan_of(TREE, 3)
    for name in ("plain.json", "one.json.gz", "two.json.gz"):
        traced(plan, tmp_path / name)
    packed = (tmp_path / "one.json.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "plain.json").read_bytes()
    assert packed == (tmp_path / "two.json.gz").read_bytes()
    assert read_trace(tmp_path / "one.json.gz") == read_trace(tmp_path / "plain.json")


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_write_the_same_bytes(engine: str, tmp_path: Path) -> None:
    plan = plan_of(TREE, 4, "topology-aware", "ompi", toy(2, 2))
    traced(plan, tmp_path / "one.json", engine)
    traced(plan, tmp_path / "reference.json", "reference")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "reference.json").read_bytes()


def test_a_run_that_fails_leaves_no_file_and_an_older_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text("older")

    def failing() -> None:
        with trace_to(path, plan_of(TREE)):
            raise LookupError("half way")

    with pytest.raises(LookupError):
        failing()
    assert [each.name for each in tmp_path.iterdir()] == ["trace.json"]
    assert path.read_text() == "older"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent.trace\.json: cannot be written"):
        traced(plan_of(TREE), tmp_path / "absent" / "trace.json")


def peak_bytes(rows: Rows, plan: Plan) -> int:
    """What writing the rows of a run allocates at most; they come in batches of one size.

    No garbage is collected meanwhile, neither that of other tests.
    """
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        writer = TraceWriter(plan, lambda _: None)
        for at in range(0, len(rows), 256):
            writer(rows[at : at + 256])
        writer.close()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.enable()


def test_a_run_ten_times_as_long_takes_no_more_memory() -> None:
    peaks = []
    for count in (1_000, 10_000):
        plan = plan_of(items(count, 500 * NS, deal=Deal.CYCLIC), 4, "randomized", "ompi", toy(2, 2))
        batches: list[Rows] = []
        simulate(plan, SEED, watch=batches.append)
        peaks.append(peak_bytes(np.concatenate(batches), plan))
    assert peaks[1] < 1.05 * peaks[0]
    assert peaks[1] < 500_000


@pytest.mark.parametrize(("time_ps", "text"), [(0, "0.000000"), (1, "0.000001"), (12_345_678, "12.345678")])
def test_times_are_exact(time_ps: int, text: str) -> None:
    assert microseconds(time_ps) == text
    assert microseconds(2**62).replace(".", "") == str(2**62)


# ---- the reader ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "by", "problem"),
    [
        (r'(?s)(.*"f".*?"ts":)[0-9.]+', r"\g<1>0", "time goes back"),
        (r'.*"E".*\n', "", "a slice begins in a slice"),
        (r'.*"B".*\n', "", "outside all slices"),
        (r'.*"f".*\n', "", "an arrow has one end"),
        (r'"tasks":\d+', '"tasks":-1', "a counter is negative"),
        (r'.*"thread_name".*\n', "", "a track has no name"),
        (r'.*"process_name".*\n', "", "no name|without a name"),
        (r"\n\]\}\n", "\n", "the list of events does not end"),
    ],
)
def test_damage_is_found(pattern: str, by: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    traced(plan_of(TREE, 4, "topology-aware", "ompi", toy(2, 2)), path)
    path.write_text(re.sub(pattern, by, path.read_text(), count=1))
    with pytest.raises(AssertionError, match=problem):
        read_trace(path)
