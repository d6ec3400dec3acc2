"""Each command that takes the name of a strategy, machine or runtime works with every shipped one, or refuses it.

A refusal has an error message that is true. The programs have only a few tasks: the tests look for failures before a
simulation or at its first events.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "record"))

from event_writer import EventWriter

from numasim.cli import OK, main
from numasim.engine.simulate import simulate
from numasim.errors import InputError
from numasim.parts import catalog
from numasim.reproduce.reproduce import require_runs
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import read_study, study_names
from numasim.runtime.record.event_files import parse_events
from numasim.runtime.record.event_times import PieceCosts, tick_ps, timed
from numasim.runtime.record.event_walk import walk
from numasim.runtime.record.recorded_data import RecordedData
from numasim.runtime.record.recorded_rows import rows_of
from numasim.runtime.record.recorded_workload import recorded_workload
from numasim.spec.single_part import read_machine
from numasim.validate.benchmark.simulation_rates import plan_of
from numasim.validate.part_files import part_names, part_of
from numasim.workload.json_form.graph_io import write

MACHINES, RUNTIMES, STRATEGIES = (catalog.names(kind) for kind in ("machines", "runtimes", "strategies"))
FEWEST_WORKERS_OF_HOME = 50  # for SparseLU (section 5.1 of the paper); home-test has 64

Capture = pytest.CaptureFixture[str]

PART = """\
title: All that ships
mode: virtual
costs: model
kernels: [{kernel: fib, set: {n: 3}}, {kernel: fft, set: {n: 4}}]
strategies: all
workers: [2]
"""


def test_every_strategy_counts_the_same_in_the_runtime(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """`numasim validate` finds equal counts for programs of one and of two iterations; controllers are called before
    the second iteration.
    """
    monkeypatch.chdir(tmp_path)
    Path("part.yaml").write_text(PART)
    options = ["--machine", "opteron-8380-4s", "--runtime", "ompi", "--json"]
    assert main(["validate", "./part.yaml", *options, "-o", "out"]) == OK
    (part,) = json.loads(capsys.readouterr().out)["parts"]
    assert sorted({each["strategy"] for each in part["equalities"]}) == sorted(STRATEGIES)
    assert {tuple(each["differing"]) for each in part["equalities"]} == {()}


@pytest.mark.parametrize("quick", [False, True])
def test_every_machine_and_runtime_has_cells_of_every_part_of_the_validation(quick: bool) -> None:
    for part in part_names():
        for machine in MACHINES:
            cells = part_of(part, machine=machine, runtime="bare", quick=quick).cells
            assert cells
            assert max(cell.workers for cell in cells) <= read_machine(machine).threads
        for runtime in RUNTIMES:
            assert part_of(part, machine="xeon-6130-4s", runtime=runtime, quick=quick).runtime == runtime


@pytest.mark.parametrize("study", study_names())
def test_every_study_has_runs_on_every_machine(study: str) -> None:
    """Only home scheduling has, in all its runs, more workers than some machines for `--machine` have threads."""
    loaded, refused = read_study(study), {}
    for machine in MACHINES:
        try:
            require_runs(Setting(loaded, quick=True, machine=machine))
        except InputError as error:
            refused[machine] = str(error)
    threads = {machine: read_machine(machine).threads for machine in MACHINES}
    small = [machine for machine in MACHINES if threads[machine] < FEWEST_WORKERS_OF_HOME]
    assert list(refused) == (small if study == "home" else [])
    for machine, sentence in refused.items():
        assert f"the machine {machine!r} has {threads[machine]} hardware threads, and every run" in sentence


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a graph as `numasim record` writes graphs: two tasks and a wait, in a parallel region."""
    writer = EventWriter().program().region(2, after=100)
    writer.leaf(50, after=10).leaf(60, after=20).wait(30, 9).end_region(40)
    thread, costs = parse_events(writer.data(), "hand"), PieceCosts()
    rows = rows_of(walk([timed(thread, tick_ps([thread]), costs.allocate_ps)]), costs)
    graph = tmp_path_factory.mktemp("recorded") / "graph.json"
    write(recorded_workload(rows, RecordedData(), ["" for _ in rows.task], "hand"), graph)
    return graph


@pytest.mark.parametrize("machine", MACHINES)
def test_a_recorded_graph_runs_on_every_machine_and_under_every_strategy(machine: str, recorded: Path) -> None:
    """`numasim ask` simulates a graph of `numasim record`: two tasks, a serial part and the body of the region.

    Each machine gets a quarter of the strategies, so that each strategy meets three or four of the machines.
    """
    for strategy in STRATEGIES[MACHINES.index(machine) % 4 :: 4]:
        plan = plan_of({"file": str(recorded)}, 2, "bare", "off", machine=machine, strategy=strategy, model={})
        assert simulate(plan, 1).counters["tasks"] == 2, strategy


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_ask_takes_every_runtime(runtime: str, recorded: Path, tmp_path: Path) -> None:
    words = ["-m", "tilepro64", "-s", "laws", "-s", "cab", "-w", "2", "--repeat", "1", "--runtime", runtime, "-j", "1"]
    assert main(["ask", str(recorded), *words, "-o", str(tmp_path / "out")]) == OK


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_bench_can_time_every_strategy_under_every_runtime(runtime: str) -> None:
    """Make the plans that `numasim bench` times, on the machines of `numasim bench` for two and for 32 workers.

    Each runtime gets a quarter of the strategies, so that each strategy meets four or five of the runtimes.
    """
    for number, strategy in enumerate(STRATEGIES[RUNTIMES.index(runtime) % 4 :: 4]):
        workers = (2, 32)[number % 2]
        plan = plan_of({"name": "fib", "n": 2}, workers, runtime, "off", strategy=strategy)
        assert len(plan.workers.node) == workers
