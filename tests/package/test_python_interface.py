"""The documented Python interface, in fresh interpreters, after any other use of the package."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import numasim as ns
from numasim.engine.simulate import ENGINES, NOT_BUILT, simulate_spec
from numasim.errors import InputError
from numasim.plan.build_plan import build_plan
from numasim.spec.run_spec import resolve

ROOT = Path(__file__).resolve().parents[2]
SWEEP = """\
machine: xeon-e5-2620-2s
workload: {name: fib, n: 5}
strategy: randomized
workers: 2
sweep:
  workers: [2, 4]
"""
PREAMBLES = {
    "nothing": "",
    "a run": "ns.run('sweep.yaml')",
    "a sweep": "ns.sweep('sweep.yaml', 'before', jobs=1)",
    "the sub-package": "import numasim.sweep.store.results_tables",
    "the figures": "ns.plot.PLOTS",
}


def interpret(program: str, folder: Path) -> str:
    """Return the standard output of a program in a new interpreter."""
    warnings = ["-W", "error", "-W", f"ignore:{NOT_BUILT.split(';')[0]}:RuntimeWarning"]
    command = [sys.executable, *warnings, "-c", program]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("preamble", PREAMBLES.values(), ids=PREAMBLES)
def test_every_name_works_whatever_came_before(preamble: str, tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    program = f"""
import numasim as ns
if __name__ == '__main__':
    {preamble or "pass"}
    print(ns.run('sweep.yaml', workers=4).row()['tasks'])
    frame = ns.sweep('sweep.yaml', 'results', jobs=1).to_frame()
    again = ns.sweep('sweep.yaml', 'results', jobs=1).to_frame()
    print(len(frame), type(ns.plot.miss_ratio(frame)).__name__, len(again))
"""
    assert interpret(program, tmp_path).split() == ["15", "2", "Figure", "2"]


SPEC = {"machine": "xeon-e5-2620-2s", "workload": {"name": "fib", "n": 5}, "strategy": "randomized", "workers": 4}


def test_a_plan_is_run_with_a_seed() -> None:
    plan = build_plan(resolve(SPEC))
    for engine in ENGINES:
        hashes = {seed: ns.simulate(plan, seed, engine, check=True).counters["trace_hash"] for seed in (0, 1)}
        assert hashes == {seed: simulate_spec(resolve(SPEC), seed, engine).counters["trace_hash"] for seed in (0, 1)}
        assert hashes[0] != hashes[1]


@pytest.mark.parametrize("old", [(), ("reference",)])
def test_a_call_as_in_version_0_1_runs_with_the_seed_0_and_one_line_of_advice(old: tuple[str, ...]) -> None:
    plan = build_plan(resolve(SPEC))
    with pytest.warns(
        FutureWarning, match=r"no seed any more; this run has 0: write simulate\(plan, SEED, engine="
    ) as told:
        found = ns.simulate(plan, *old, check=True)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert found.counters["trace_hash"] == ns.simulate(plan, 0).counters["trace_hash"]


def test_synchronisation_objects_have_their_old_name_for_a_version() -> None:
    spec = {**SPEC, "workload": {"name": "syncbench", "construct": "lock"}}
    result = ns.simulate(build_plan(resolve(spec)), 0)
    with pytest.warns(FutureWarning, match=r"Result\.words is called Result\.sync_objects now") as told:
        found = result.words
    assert [warning.filename for warning in told] == [__file__]
    assert list(found) == ["word", *list(result.sync_objects)[1:]]
    assert found["word"].tolist() == result.sync_objects["object"].tolist() != []


def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    """The example has a smaller program here, so that the test takes seconds."""
    (example,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    small = example.replace('"workload.blocks": 32', '"workload.blocks": 6')
    assert small != example
    printed = interpret(small, tmp_path)
    assert "steal-half is " in printed
    assert (tmp_path / "miss_ratio.png").exists()


def test_the_slower_engine_is_not_taken_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numasim.api.DEFAULT_ENGINE", "reference")
    spec = {"machine": "xeon-e5-2620-2s", "workload": "fib", "strategy": "randomized", "workers": 2, "workload.n": 3}
    with pytest.warns(RuntimeWarning, match="the native engine is not built here; using the reference engine"):
        ns.run(**spec)
    ns.run(**spec, engine="reference")


def test_a_wrong_keyword_is_named_once() -> None:
    with pytest.raises(InputError) as refused:
        ns.run("quickstart", strategy="randomised")
    assert str(refused.value).startswith("strategy: there is no strategy 'randomised'; expected a name that ")
    assert str(refused.value).endswith("did you mean 'randomized'?")


@pytest.fixture(scope="module")
def small() -> ns.Result:
    """Four tasks of 1.5 ms on one worker take 6 ms under a runtime in which only probes cost time."""
    graph = ns.Graph("four")
    for _ in range(4):
        graph.task(cost_ns=1_500_000)
    return ns.run(machine="xeon-e5-2620-2s", workload=graph, strategy="randomized", runtime="bare", workers=1, seed=3)


def test_a_result_answers_to_its_columns(small: ns.Result) -> None:
    assert small.makespan_ps == small["makespan_ps"] == small.row()["makespan_ps"] == 6 * 10**9
    assert (small.machine, small["workers"], small["efficiency"]) == ("xeon-e5-2620-2s", 1, 1.0)
    assert {"makespan_ps", "speedup", "counters", "row"} <= set(dir(small))
    assert small._ipython_key_completions_() == list(small.row())
    assert repr(small) == "<Result: four, xeon-e5-2620-2s, randomized, 1 worker; makespan 6 ms>"
    assert pickle.loads(pickle.dumps(small)).makespan_ps == copy.deepcopy(small).makespan_ps == small.makespan_ps
    with pytest.raises(InputError, match=r"a result has no column 'makespan'.*did you mean 'makespan_ps'"):
        small["makespan"]
    with pytest.raises(AttributeError, match="no attribute or column 'makespan'"):
        small.makespan  # noqa: B018


def test_tables_of_a_run_have_the_form_of_those_of_a_sweep_which_plots_take(small: ns.Result, tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    swept = ns.sweep(tmp_path / "sweep.yaml", tmp_path / "results", jobs=1, progress=False)
    run = ns.run(tmp_path / "sweep.yaml", workers=2)
    for of_run, of_sweep in ((run.workers, swept.workers()), (run.node_pairs, swept.node_pairs())):
        same = of_sweep[of_sweep["run_id"] == run.run_id].reset_index(drop=True)
        assert list(of_run) == list(of_sweep)
        assert of_run.astype(str).equals(same.astype(str))
    for figure in (
        ns.plot.time_split(run),
        ns.plot.worker_time_split(run, run.workers),
        ns.plot.worker_time_split(swept, swept.workers()),
        ns.plot.remote_steal_ratio(run, run.workers),
        ns.plot.node_steals(run, run.node_pairs),
        ns.plot.column(small, "makespan_ps"),
    ):
        assert figure.axes[0].has_data()
