"""Background: memory controllers and links that other programs use as well (model 2.5), on every engine.

A worker that reads memory of its own node demands 6.4 GB/s: ten misses of 64 bytes at a time at 100 ns. A worker that
reads memory of the other node demands 3.2 GB/s.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_setup import NS, SEED, found, observe, plan_of, simulated, stealing, toy_with
from hypothesis import given, settings
from hypothesis import strategies as st
from random_plans import coupled_plans, seeds, with_effects
from task_graphs import Access, Run, body, graph

from numasim.engine.observe.over_time import OverTime
from numasim.engine.simulate import simulate
from numasim.errors import InputError
from numasim.parts.base import canonical_json
from numasim.parts.models.effects_model import ModelSpec
from numasim.parts.unit_factors import GIGA
from numasim.plan.build_plan import build_plan, revised
from numasim.plan.effects import Background, Effects, effects_of
from numasim.plan.plan import Plan
from numasim.plan.resources import resources_of
from numasim.spec.identity import run_id
from numasim.spec.one_run import load_run
from numasim.workload.graph import Deal, Region

HALF = 3_200_000_000  # bytes per second: half of a controller's 6.4 GB/s
GOLDEN_MODEL = (
    '{"cache":"share","clock":"turbo","contention":"fluid","local_share":"0","mlp":"1","overlap":"1",'
    '"queueing":"none","smt":"compute","task_noise":"0","worker_spread":"0"}'
)


def reading(worker: int, background: Background, link: float = 100) -> Plan:
    """Return a plan in which ``worker`` reads 100 lines of node 0, where worker 0 is; worker 1 is on node 1.

    Controllers have 6.4 GB/s, the link between the nodes has ``link`` GB/s.
    """
    links = [{"between": (0, 1), "bandwidth_gbs": link}]
    machine = toy_with({"sockets": 2, "cores": 1}, nodes={"imc_bandwidth_gbs": 6.4}, links=links)
    bodies = [body(*([Run(0, (Access(0, 0, 6400),))] if w == worker else [])) for w in range(2)]
    work = graph(*bodies, deal=Deal.CYCLIC, regions=(Region("data", 1 << 20, True),))
    strategy = stealing(placement={"policy": "bind", "node": 0})
    effects = Effects(contention="fluid", background=background)
    return plan_of(work, worker + 1, strategy, machine=machine, effects=effects)


def test_the_smallest_rest_is_enough_to_end() -> None:
    """One worker reads alone. Other programs leave this worker one byte per second of the controller's bandwidth."""
    share = (1 << 48) // (2 * HALF)
    result = simulated(reading(0, Background(nodes=((0, 2 * HALF - 1),))))
    assert result.counters["makespan_ps"] == -(-(1000 * NS << 48) // share)


def test_busy_shares_are_those_of_the_program() -> None:
    """Counters are shares of the whole bandwidth; tables over time show shares of what the background leaves."""
    plan = reading(0, Background(nodes=((0, HALF),)))
    far = reading(1, Background(links=(((0, 1), HALF // 2),)), link=3.2)
    assert (simulated(plan).counters["imc_busy_max"], simulated(far).counters["link_busy_max"]) == (0.5, 0.5)
    tables = OverTime(plan)
    tables.close(int(simulate(plan, SEED, watch=tables).counters["makespan_ps"]))
    frame = tables.resource_load_frame()
    rows = frame[frame["name"] == "controller 0"]
    assert set(rows["capacity"]) == {HALF}
    assert rows["share"].max() == 1


loads = st.sampled_from([0, 1, GIGA // 7, GIGA, 2 * GIGA])
plans = st.sampled_from(["fluid", "snapshot"]).flatmap(lambda contention: coupled_plans(contention=contention))


@settings(max_examples=60)
@given(plan=plans, node_load=loads, link_load=loads, data=st.data())
def test_a_loaded_machine_is_one_of_so_much_less_bandwidth(
    plan: Plan, node_load: int, link_load: int, data: st.DataObject
) -> None:
    """All hashes are equal; only the ratios of bytes to the bandwidth of the whole machine differ."""
    machine, seed = plan.machine, data.draw(seeds)
    node = data.draw(st.integers(0, machine.nodes - 1))
    ends = [*zip(machine.links.source.tolist(), machine.links.target.tolist(), strict=True)]
    link = data.draw(st.integers(0, len(ends) - 1)) if ends else 0
    background = Background(((node, node_load),), ((ends[link], link_load),) if ends else ())
    controllers, rates = machine.imc_bytes_per_s.copy(), machine.links.bytes_per_s.copy()
    controllers[node] -= node_load
    rates[link : link + 1] -= link_load
    smaller = replace(machine, imc_bytes_per_s=controllers, links=replace(machine.links, bytes_per_s=rates))
    plans = (with_effects(plan, background=background), revised(plan, machine=smaller))
    loaded, small = (observe(each, seed) for each in plans)
    ratios = {"imc_busy_max": None, "link_busy_max": None}
    left, right = found(loaded.result), found(small.result)
    left["counters"] |= ratios
    right["counters"] |= ratios
    assert left == right
    assert loaded["event_hash"] == small["event_hash"]


# ---- specifications ------------------------------------------------------------------------------------------------

SPEC = """\
machine: xeon-e5-2620-2s
workload: {name: random-fork-join, tasks: 60, low_ns: 100, high_ns: 1000, task_bytes: 65536}
strategy: topology-aware
workers: 12
"""
LOADED = """\
model:
  background:
    nodes: {0: 8, 1: 2.5}
    links: [{from: 0, to: 1, gbs: 3}]
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that writes ``run.yaml``, the text of a run and more text, into the working directory."""
    monkeypatch.chdir(tmp_path)

    def write(extra: str = "") -> Path:
        Path("run.yaml").write_text(SPEC + extra)
        return Path("run.yaml")

    return write


def test_a_specification_says_gigabytes_per_second(spec: Any) -> None:
    effects = effects_of(load_run(spec(LOADED)).model)
    assert effects.background == Background(((0, 8 * GIGA), (1, 5 * GIGA // 2)), (((0, 1), 3 * GIGA),))
    resources = resources_of(build_plan(load_run(spec(LOADED))))
    assert {resource.name: resource.capacity for resource in resources.listed} == {
        "controller 0": 22 * GIGA,
        "controller 1": 55 * GIGA // 2,
        "link 0 to 1": 19 * GIGA,
        "link 1 to 0": 22 * GIGA,
    }


def test_nobody_beside_the_program_is_the_same_run_as_before(spec: Any) -> None:
    plain = load_run(spec())
    assert canonical_json(plain.model.model_dump(exclude={"skip"})) == GOLDEN_MODEL
    for text in ("{}", "{nodes: {0: 0}}", "{nodes: {}, links: [{from: 0, to: 1, gbs: 0}]}"):
        idle = load_run(spec(f"model: {{background: {text}}}\n"))
        assert run_id(idle, 1) == run_id(plain, 1)
        assert effects_of(idle.model) == effects_of(ModelSpec())
        assert len({simulated(build_plan(each)).counters["event_hash"] for each in (idle, plain)}) == 1


def test_the_identity_is_that_of_the_loads_however_they_are_written(spec: Any) -> None:
    def identity(background: str) -> str:
        return run_id(load_run(spec(f"model: {{background: {background}}}\n")), 1)

    first, second = "{from: 0, to: 1, gbs: 3}", "{from: 1, to: 0, gbs: 4}"
    alike = f"{{links: [{second}, {first}], nodes: {{'1': 2.50, '0': 8.0}}}}"
    same = {identity(text) for text in (f"{{nodes: {{0: 8, 1: 2.5}}, links: [{first}, {second}]}}", alike)}
    others = {identity(text) for text in ("{}", "{nodes: {0: 8}}", "{nodes: {1: 8}}", f"{{links: [{first}]}}")}
    assert (len(same), len(others), len(same | others)) == (1, 4, 5)


BAD_LOADS = {  # text of the load: the message after file name and line
    "{contention: none, background: {nodes: {0: 8}}}": "39: model.background: others can take nothing away where "
    "contention is none: set contention to fluid or snapshot, or leave background out",
    "{background: {nodes: {2: 8}}}": "30: model.background.nodes[2]: there is no node 2 on machine 'xeon-e5-2620-2s'; "
    "expected 0 to 1",
    "{background: {nodes: {0: 30}}}": "30: model.background.nodes[0]: 30 GB/s leave nothing of the controller of node "
    "0 to the program; expected less than 30 GB/s",
    "{background: {links: [{from: 0, to: 1, gbs: 22.5}]}}": "47: model.background.links[0].gbs: 22.5 GB/s leave "
    "nothing of the link from node 0 to node 1 to the program; expected less than 22 GB/s",
    "{background: {links: [{from: 0, to: 2, gbs: 1}]}}": "30: model.background.links[0]: there is no link from node 0 "
    "to node 2 on machine 'xeon-e5-2620-2s'; expected a link from node 0 to node 1",
    "{background: {links: [{from: 5, to: 1, gbs: 1}]}}": "30: model.background.links[0]: there is no link from node 5 "
    "to node 1 on machine 'xeon-e5-2620-2s'; expected nodes 0 to 1",
    "{background: {links: [{from: 0, to: 1, gbs: 1}, {from: 0, to: 1, gbs: 2}]}}": "56: model.background.links[1]: the "
    "link from node 0 to node 1 is given twice: add the loads up",
}


@pytest.mark.parametrize("model", BAD_LOADS)
def test_bad_loads(spec: Any, model: str) -> None:
    with pytest.raises(InputError) as error:
        load_run(spec(f"model: {model}\n"))
    assert str(error.value) == f"run.yaml:5:{BAD_LOADS[model]}"


def test_a_machine_of_one_node_has_no_link_to_load(spec: Any) -> None:
    one = {"machine.sockets": 1, "machine.latency_ns": [[77.3]], "machine.links": [], "workers": 1}
    with pytest.raises(InputError, match="expected no links, since the machine has one node"):
        load_run(spec("model: {background: {links: [{from: 0, to: 1, gbs: 1}]}}\n"), changes=one)
