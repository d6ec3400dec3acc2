"""Traces of all formats pass a strict reader and add up to the result; longer runs need no more memory.

A trace is a file with the stretches of each worker's time (a slice in Perfetto, a state in other formats) and with an
arrow for each steal.
"""

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
from numasim.engine.observe.watch import STRETCHES, Watch, Watched
from numasim.engine.result import Result
from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES, simulate
from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.plan.build_plan import revised
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.plan.resources import resources_of
from numasim.report.trace import ordered_traces
from numasim.report.trace.perfetto import MOST_QUEUES, TraceWriter, microseconds
from numasim.report.trace.watched_run import any_trace_to, form_of, notice
from numasim.spec.single_part import read_machine
from numasim.workload.graph import Deal

FORMS = ("trace.json", "trace.paje", "trace.prv")
PACKED = ("trace.json.gz", "trace.paje.gz")
TREE = graph(task(*[task(300 * NS, task(700 * NS), task(0), WAIT, 20 * NS) for _ in range(6)], WAIT, 50 * NS))
SPLIT = {  # name of a stretch in Perfetto and in the other formats: the columns of the result
    ("overhead", "overhead"): ("overhead_ps", "line_owner_ps", "line_thief_ps"),
    ("idle", "waiting for work"): ("idle_steal_ps", "idle_backoff_ps"),
    ("parked", "asleep"): ("parked_ps", "asleep_ps"),
    ("barrier", "waiting at a serial phase"): ("idle_barrier_ps",),
}
WORK = ("work_local_ps", "inflation_numa_ps", "inflation_contention_ps", "inflation_smt_ps", "wasted_ps")


def traced(plan: Plan, path: Path, engine: str = DEFAULT_ENGINE, seed: int = SEED) -> Result:
    with any_trace_to(path, plan) as watch:
        return simulate(plan, seed, engine, watch=watch)


def events(path: Path) -> list[dict[str, Any]]:
    """Return the events that any reader of JSON finds."""
    return json.loads(path.read_text())["traceEvents"]  # type: ignore[no-any-return]


def stealing() -> Plan:
    return plan_of(TREE, 4, "topology-aware", "ompi", toy(2, 2))


def small() -> Plan:
    return plan_of(TREE, 2, "randomized", "bare", toy(1, 2))


def split_of(found: Trace, workers: int) -> list[list[int]]:
    """Return the time of every worker by part, from the trace: work, then the parts of `SPLIT`."""
    tracks = {name: track for track, name in found.names.items()}
    parts: list[list[int]] = [[] for _ in range(1 + len(SPLIT))]
    for worker in range(workers):
        mine = {name: time for (track, name), time in found.time_ps.items() if track == tracks[f"worker {worker}"]}
        others = [sum(mine.pop(name, 0) for name in {*names}) for names in SPLIT]
        for part, time in zip(parts, (sum(mine.values()), *others), strict=True):
            part.append(time)
    return parts


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", range(16))
def test_traces_of_random_plans_are_sound_and_add_up(
    number: int, engine: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordered_traces, "GATHERED_ROWS", 16)
    run = random_run(Random(number))
    workers = run.plan.workers.workers
    try:
        result = traced(run.plan, tmp_path / form, engine, run.seed)
    except DeadlockError:
        assert list(tmp_path.iterdir()) == []
        return
    shown = split_of(read_trace(tmp_path / form), workers)
    parts = (WORK, *SPLIT.values())
    expected = [sum(result.per_worker[name][:workers] for name in names).tolist() for names in parts]
    if run.plan.costs.line == "yes" or run.plan.idle:  # an idle stretch includes waits for lines, and wakes
        shown, expected = ([each[0], np.sum(each[1:3], axis=0).tolist(), *each[3:]] for each in (shown, expected))
    if result.counters["aborts"]:  # a trace shows the work of aborted attempts, which the split counts as wasted time
        shown, expected = ([np.sum(each, axis=0).tolist()] for each in (shown, expected))
    assert shown == expected
    assert np.sum(shown) == workers * result.counters["makespan_ps"]


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


@pytest.mark.parametrize("form", [*FORMS, *PACKED])
def test_every_steal_is_an_arrow(form: str, tmp_path: Path) -> None:
    result = traced(stealing(), tmp_path / form)
    assert read_trace(tmp_path / form).arrows == result.counters["steal_success"] > 0


@pytest.mark.parametrize("engine", ENGINES)
def test_arrows_of_perfetto_lead_from_victim_to_thief(engine: str, tmp_path: Path) -> None:
    traced(stealing(), tmp_path / "trace.json", engine)
    steals: list[Any] = []
    simulate(stealing(), SEED, engine, watch=lambda rows: steals.extend(rows[rows[:, 0] == Watched.STEAL].tolist()))
    ends = {(event["ph"], event["id"]): event for event in events(tmp_path / "trace.json") if event["ph"] in "sf"}
    for number, (_, thief, time, _, _, victim, _) in enumerate(steals, start=1):
        assert ends["s", number]["tid"] == victim + 1
        assert ends["f", number]["tid"] == thief + 1
        assert ends["s", number]["ts"] * 1_000_000 == pytest.approx(time, abs=0.5)


@pytest.mark.parametrize("form", FORMS)
def test_a_producer_has_a_track_of_its_own(form: str, tmp_path: Path) -> None:
    plan = plan_of(items(300, 500 * NS), 4, "randomized", shipped_runtime("own"), toy(2, 2))
    traced(plan, tmp_path / form)
    found = read_trace(tmp_path / form)
    track = next(track for track, name in found.names.items() if name == "producer")
    assert form == "trace.json" or found.time_ps[track, "gone"] > 0


def test_a_run_by_hand_in_paje(tmp_path: Path) -> None:
    traced(plan_of(graph(task(1500)), 2, "randomized", "bare", toy(1, 2)), tmp_path / "t.paje")
    lines = (tmp_path / "t.paje").read_text().splitlines()
    assert '4 0.000000000000 w1 W n0 "worker 1"' in lines
    assert [line.split()[:5] for line in lines if line[:2] == "7 "] == [["7", "0.000000000000", "S", "w0", "work"]]
    assert [line for line in lines if line[:2] == "5 "] == [
        f"5 0.000000001500 {name}" for name in ("W w0", "W w1", "N n0", "M m")
    ]


def test_a_run_by_hand_in_paraver(tmp_path: Path) -> None:
    traced(plan_of(graph(task(1500)), 2, "randomized", "bare", toy(1, 2)), tmp_path / "t.prv")
    head, *records = (tmp_path / "t.prv").read_text().splitlines()
    assert head == "#Paraver (01/01/00 at 00:00):00000000000000001500_ns:1(2):1:1(2:1)"
    assert "1:1:1:1:1:0:1500:1" in records
    assert "2:1:1:1:1:0:64000001:1:64000002:1" in records
    assert "1    work" in (tmp_path / "t.pcf").read_text().splitlines()
    assert (tmp_path / "t.row").read_text().startswith("LEVEL CPU SIZE 2\nworker 0\nworker 1\n\nLEVEL NODE SIZE 1\n")


def test_tracks_of_perfetto_have_names_and_kernels_name_slices(tmp_path: Path) -> None:
    plan = plan_of(items(300, 500 * NS), 4, "randomized", shipped_runtime("own"), toy(2, 2))
    traced(plan, tmp_path / "trace.json")
    found = events(tmp_path / "trace.json")
    processes = {e["pid"]: e["args"]["name"] for e in found if e.get("name") == "process_name"}
    assert processes == {1: "toy", 2: "node 0 (socket 0)", 3: "node 1 (socket 1)"}
    threads = {(e["pid"], e["args"]["name"]) for e in found if e.get("name") == "thread_name"}
    workers = {(2 + worker % 2, f"worker {worker}") for worker in range(4)}
    assert threads == {(1, "phases"), (2, "producer"), *workers}
    names = Counter(e["name"] for e in found if e["ph"] == "B")
    assert (names[plan.workload.kernels[0]], names["phase 0"]) == (300, 1)


def test_phases_follow_one_another_on_their_track(tmp_path: Path) -> None:
    traced(plan_of(items(20, 500 * NS, repeat=3), 2), tmp_path / "trace.json")
    found = events(tmp_path / "trace.json")
    track = next(e["tid"] for e in found if e.get("args") == {"name": "phases"})
    times = [(e["ph"], e["ts"]) for e in found if e.get("tid") == track and e["ph"] in "BE"]
    assert [kind for kind, _ in times] == ["B", "E"] * 3
    assert times[0][1] == 0
    assert all(times[i][1] == times[i + 1][1] for i in (1, 3))


# ---- counters of Perfetto --------------------------------------------------------------------------------------------


def last_values(path: Path) -> dict[tuple[int, str], dict[str, float]]:
    return {(e["pid"], e["name"]): e["args"] for e in events(path) if e["ph"] == "C"}


def test_few_queues_have_a_counter_each_and_are_empty_in_the_end(tmp_path: Path) -> None:
    traced(plan_of(TREE, 4, "randomized", "ompi", toy(2, 2)), tmp_path / "trace.json")
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
    """Return the trace events of the rows ``told``, given by hand, of a run of ``plan``."""
    text: list[str] = []
    writer = TraceWriter(plan, text.append)
    watch = Watch(writer)
    for row in told:
        watch.report(*row)
    watch.flush()
    writer.close()
    return [event for event in json.loads("".join(text))["traceEvents"] if event["ph"] != "M"]


def test_the_last_of_several_values_at_one_time_is_shown() -> None:
    lengths = [(Watched.LENGTH, 0, time, time, tasks) for time, tasks in ((0, 1), (0, 2), (5, 7), (5, 1), (5, 0))]
    found = written(plan_of(TREE), *lengths)
    assert [(e["ts"], e["args"]["tasks"]) for e in found] == [(0, 2), (5e-6, 0)]


def limited(machine: Machine) -> Plan:
    """Return a coupled plan in which page faults wait for each other."""
    plan = plan_of(TREE, machine=machine, effects=Effects(worker_spread_ppm=1))
    return revised(plan, costs=replace(plan.costs, faults_per_s=10**6))


def test_loads_are_in_gigabytes_or_faults_per_second_of_a_named_resource() -> None:
    plan = limited(toy(2, 2))
    rows = [(Watched.LOAD, each, 4_000_000, 4_000_000, 12_345_678_901) for each in (1, 2, resources_of(plan).faults)]
    assert [(e["name"], e["pid"], e["ts"], e["args"]) for e in written(plan, *rows)] == [
        ("controller 1", 1, 4, {"GB/s": 12.345678901}),
        ("link 0 to 1", 1, 4, {"GB/s": 12.345678901}),
        ("address space", 1, 4, {"faults/s": 12_345_678_901}),
    ]


def test_names_are_in_alphabetical_order() -> None:
    plan = limited(build(read_machine("tilepro64")))
    resources = resources_of(plan)
    shown = [e["name"] for e in written(plan, *[(Watched.LOAD, each, 0, 0, 1) for each in range(resources.faults)])]
    assert shown[:2] == ["controller 00", "controller 01"]
    assert shown[:64] == sorted(shown[:64])
    assert len(set(shown)) == len(resources.listed) - 1


def test_an_arrow_leads_to_the_next_slice_that_lasts() -> None:
    """The first task of a thief takes no time: the arrow of the steal leads to the thief's next task, or, if there is
    none, to a slice that is added at the end.
    """
    steal = (Watched.STEAL, 1, 100, 100, 0, 0, 1)
    work = Watched.WORK
    found = written(plan_of(TREE), steal, (work, 1, 100, 100), (work, 1, 100, 9000), (work, 0, 0, 9000))
    kinds = [(e["ph"], e["tid"], round(e["ts"] * 1_000_000)) for e in found]
    assert kinds[2:5] == [("B", 2, 100), ("f", 2, 1100), ("E", 2, 9000)]
    assert ("s", 1, 100) in kinds
    cut_short = written(plan_of(TREE), steal, (work, 1, 100, 100), (work, 0, 0, 100))
    assert [(e["ph"], e.get("name")) for e in cut_short].count(("B", "end")) == 2
    assert {e["ph"] for e in cut_short} == {"B", "E", "s", "f"}


# ---- the file --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_equal_runs_have_equal_files_on_all_engines_packed_or_not(engine: str, tmp_path: Path) -> None:
    for folder, chosen in (("a", engine), ("b", "reference")):
        (tmp_path / folder).mkdir()
        for form in (*FORMS, *PACKED):
            traced(stealing(), tmp_path / folder / form, chosen)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    for form in PACKED:
        plain = (tmp_path / "a" / form).with_suffix("").read_bytes()
        assert gzip.decompress((tmp_path / "a" / form).read_bytes()) == plain


def test_a_run_that_fails_leaves_no_file_and_an_older_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text("older")

    def failing() -> None:
        with any_trace_to(path, plan_of(TREE)):
            raise LookupError("half way")

    with pytest.raises(LookupError):
        failing()
    assert [each.name for each in tmp_path.iterdir()] == ["trace.json"]
    assert path.read_text() == "older"


def test_a_packed_paraver_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not written packed; expected a\.prv"):
        traced(small(), tmp_path / "a.prv.gz")
    assert list(tmp_path.iterdir()) == []


def test_the_name_says_the_form() -> None:
    names = {"a.json": ".json", "a.json.gz": ".json", "a.paje": ".paje", "a.paje.gz": ".paje", "a.prv": ".prv"}
    assert {name: form_of(Path(name)) for name in names} == names
    assert notice(Path("a.json")) is None
    assert "picoseconds" in str(notice(Path("a.prv")))
    assert {*ordered_traces.STATES} == {*STRETCHES, ordered_traces.GONE}


def peak_bytes(rows: Rows, plan: Plan) -> int:
    """Return the most memory, in bytes, for writing the rows of a run in equal batches, without garbage collection."""
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


# ---- the readers -----------------------------------------------------------------------------------------------------

DAMAGE = (
    ("json", r'(?s)(.*"f".*?"ts":)[0-9.]+', r"\g<1>0", "time goes back"),
    ("json", r'.*"E".*\n', "", "a slice begins in a slice"),
    ("json", r'.*"B".*\n', "", "outside all slices"),
    ("json", r'.*"f".*\n', "", "an arrow has one end"),
    ("json", r'"tasks":\d+', '"tasks":-1', "a counter is negative"),
    ("json", r'.*"thread_name".*\n', "", "a track has no name"),
    ("json", r'.*"process_name".*\n', "", "no name|without a name"),
    ("json", r"\n\]\}\n", "\n", "the list of events does not end"),
    ("paje", r"5 (\S+) M m", "5 0.0 M m", "the time 0.0 goes back"),
    ("paje", r"6 (\S+) S w1 idle", r"6 \1 T w1 idle", "'T'"),
    ("paje", r"6 (\S+) S w1 idle", r"6 \1 S w1 sleepy", "'sleepy'"),
    ("paje", r"6 (\S+) S w1 idle", r"6 \1 S w9 idle", "'w9'"),
    ("paje", r"6 (\S+) S w1 idle", r"6 \1 S w1", "there is no event 6 with 3 fields"),
    ("paje", r"5 (\S+) M m\n", "", "the container m does not end"),
    ("paje", r"6 0.000000000000 S w1 idle\n", "", "no state at first"),
    ("paje", r"9 .*\n", "", "a link has no end"),
    ("prv", r"1:2:1:1:2:0:(\d+):0", r"1:2:1:1:2:5:\1:0", "follows one that ends at 0"),
    ("prv", r"1:2:1:1:2:0:", "1:2:1:1:7:0:", "there is no thread 1.1.7 on processor 2"),
    ("prv", r"(1:2:1:1:2:0:\d+):0", r"\1:4", "4"),
    ("prv", r"1:2:1:1:2:0:\d+:0", "1:2:x", "this is no record"),
    ("prv", r"1:2:1:1:2:0:(\d+):0", "1:2", "there is no record 1 of 2 numbers"),
)


@pytest.mark.parametrize(("form", "pattern", "by", "problem"), DAMAGE)
def test_damage_is_found(form: str, pattern: str, by: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / f"trace.{form}"
    traced(stealing() if form == "json" else small(), path)
    changed = re.sub(pattern, by, path.read_text(), count=1)
    assert changed != path.read_text()
    path.write_text(changed)
    with pytest.raises((AssertionError, KeyError)) as caught:
        read_trace(path)
    assert re.search(problem, str(caught.value))
