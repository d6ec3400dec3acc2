"""Functions that specifications name: a user's controller (a function that changes the strategy between iterations),
found in a module beside the file and hashed, and labels of tasks.
"""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path

import pytest

from numasim.api import sweep
from numasim.engine.simulate import simulate
from numasim.errors import InputError
from numasim.objects.strategy_object import Strategy
from numasim.plan.build_plan import build_plan
from numasim.plan.show_strategy import show
from numasim.runtime.fields_file import compile_plan, write_plan
from numasim.spec.identity import run_id
from numasim.spec.run_spec import Resolver, RunSpec, document_of, resolve
from numasim.spec.sweep_spec import load_sweep
from numasim.strategy.control.task_control import LABELLINGS

FIB = {"machine": "xeon-e5-2620-2s", "workload": {"name": "fib", "n": 5}, "workers": 2}
RIGHT = "def choose(program, state, measures):\n    return state, None\n"
RUN = """\
machine: xeon-e5-2620-2s
workload: {name: fib, n: 5}
workers: 2
strategy:
  steal: [{from: others}]
  tune: {python: "mine:choose"}
"""


def read(folder: Path, source: str = RIGHT, run: str = RUN) -> RunSpec:
    """Return the run in a file whose folder has the module ``mine`` with this source."""
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(source)
    (folder / "run.yaml").write_text(run)
    return Resolver().run(document_of(folder / "run.yaml"), ())


def test_the_module_beside_the_file_is_found_from_everywhere(tmp_path: Path) -> None:
    spec = read(tmp_path)
    tuning = build_plan(spec).tuning
    assert tuning is not None
    assert tuning.file == tmp_path / "mine.py"
    assert tuning.controller(tuning.program, 7, None) == (7, None)


def test_a_path_and_a_function_of_python_lead_to_the_same(tmp_path: Path) -> None:
    beside = read(tmp_path).strategy
    path = Strategy(steal=[{"from": "others"}], tune={"python": f"{tmp_path}/mine.py:choose"})
    assert path.contents == beside.contents_json
    assert Strategy(like=path, name="again").contents == beside.contents_json


def test_a_function_stands_for_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chooses.py").write_text(RIGHT)
    monkeypatch.syspath_prepend(tmp_path)
    choose = importlib.import_module("chooses").choose
    tuned = Strategy(steal=[{"from": "others"}], tune=choose)
    again = Strategy(steal=[{"from": "others"}], tune={"python": choose, "profile_ns": 0})
    named = Strategy(steal=[{"from": "others"}], tune={"python": "chooses:choose"})
    assert tuned == again
    assert tuned.contents == named.contents
    with pytest.raises(InputError, match="expected a function of a module of its own"):
        Strategy(steal=[{"from": "others"}], tune=lambda program, state, measures: (state, None))


def test_only_the_source_and_the_name_make_another_run(tmp_path: Path) -> None:
    here, there = read(tmp_path / "here"), read(tmp_path / "there")
    changed = read(tmp_path / "changed", RIGHT + "# changed\n")
    other = read(tmp_path / "other", RIGHT.replace("choose", "other"), RUN.replace("choose", "other"))
    assert run_id(here, 1) == run_id(there, 1)
    assert len({run_id(spec, 1) for spec in (here, changed, other)}) == 3


def test_a_controller_travels_to_another_process(tmp_path: Path) -> None:
    assert "tune" not in Strategy.shipped("randomized").contents
    spec = pickle.loads(pickle.dumps(read(tmp_path).strategy))
    assert spec.tune.source_hash == read(tmp_path).strategy.tune.source_hash  # type: ignore[union-attr]


def test_a_file_that_has_changed_since_is_refused(tmp_path: Path) -> None:
    spec = read(tmp_path, RIGHT + "# as it was\n")
    (tmp_path / "mine.py").write_text(RIGHT + "# as it is\n")
    with pytest.raises(InputError, match=r"mine\.py has changed since the strategy was read"):
        build_plan(spec)


def test_a_sweep_keeps_the_source_and_names_the_kept_file(tmp_path: Path) -> None:
    spec = read(tmp_path)
    assert spec.strategy.tune is not None
    path = f"controllers/{spec.strategy.tune.source_hash[:8]}/mine.py"
    strategy = {"steal": [{"from": "others"}], "tune": {"python": f"{tmp_path}/mine.py:choose"}}
    for described in (tmp_path / "run.yaml", {**FIB, "strategy": strategy}):
        sweep = load_sweep(described)
        assert sweep.files == {path: RIGHT.encode()}
        assert f"{path}:choose" in sweep.text


CANNOT_BE = "strategy.tune.python: the controller's module cannot be executed:"
WRONG = {
    "no function": ("def chose(a, b, c): pass", "6:10: strategy.tune.python: mine.py has no function 'choose'"),
    "too few arguments": ("def choose(program): pass", "6:10: strategy.tune.python: choose in mine.py takes (program)"),
    "too many arguments": ("def choose(a, b, c, d): pass", "6:10: strategy.tune.python: choose in mine.py takes (a, "),
    "no Python": ("def choose(:", f"mine.py:1: {CANNOT_BE} Syntax"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_module_that_cannot_be_used_is_one_sentence(case: str, tmp_path: Path) -> None:
    source, said = WRONG[case]
    with pytest.raises(InputError) as caught:
        read(tmp_path, source)
    assert said in str(caught.value)
    assert "expected" in str(caught.value)


FAILS = {
    "no function at all": ("choose = 1", "mine.py: strategy.tune.python: choose in mine.py is no function"),
    "an error in the module": (f"{RIGHT}import nothing_of_the_kind", f"mine.py:3: {CANNOT_BE} ModuleNotFound"),
    "an end": (f"raise SystemExit(3)\n{RIGHT}", f"mine.py:1: {CANNOT_BE} SystemExit: 3"),
}


@pytest.mark.parametrize("case", FAILS)
def test_a_module_that_fails_ends_the_run_as_it_begins(case: str, tmp_path: Path) -> None:
    source, said = FAILS[case]
    spec = read(tmp_path, source)
    with pytest.raises(InputError) as caught:
        simulate(build_plan(spec), 1)
    assert said in str(caught.value)
    with pytest.raises(InputError) as caught:
        sweep(tmp_path / "run.yaml", tmp_path / "results", jobs=1)
    assert said in str(caught.value)
    assert not (tmp_path / "results").exists()


EFFECT = "from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\n"


@pytest.mark.parametrize("module", ["mine", "pack.mine"])
def test_reading_and_describing_execute_nothing(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The module and its package write a file when they are executed."""
    (tmp_path / "pack").mkdir()
    folder = tmp_path / "pack" if "." in module else tmp_path
    (tmp_path / "pack" / "__init__.py").write_text(EFFECT)
    imported = (
        f"# {tmp_path}: another source, another controller\nfrom numasim.strategy.control.controller import Controls\n"
    )
    (folder / "mine.py").write_text(EFFECT + imported + RIGHT.replace("None", "Controls()"))
    monkeypatch.syspath_prepend(tmp_path)
    run, file = tmp_path / "run.yaml", tmp_path / "strategy.yaml"
    run.write_text(RUN.replace("mine:", f"{module}:"))
    file.write_text(f"steal: [{{from: others}}]\ntune: {{python: '{module}:choose'}}\n")
    ran = [folder / "mine.ran", tmp_path / "pack" / "__init__.ran"]

    tuned = Strategy.read(file)
    assert "mine" in tuned.explain() + show(str(file), "xeon-e5-2620-2s", 4, 0, "bare")
    assert Strategy(like=tuned, name="again").yaml()
    write_plan(compile_plan(str(file), "xeon-e5-2620-2s", 4, "bare"), 0, tmp_path / "plan")
    assert load_sweep(run).cells
    plan = build_plan(Resolver().run(document_of(run), ()))
    assert not any(each.exists() for each in ran)
    assert not capsys.readouterr().err

    simulate(plan, 1)
    assert ran[0].exists()
    assert f"executing {folder}/mine.py, the controller choose" in capsys.readouterr().err


NAMES = {
    "nowhere:choose": "there is no module 'nowhere'; expected a file nowhere.py beside this one",
    "nowhere.py:choose": "there is no file 'nowhere.py'; expected the path of a .py file",
    "mine": "a function is given as module:function",
    "mine:": "a function is given as module:function",
    "mine:a b": "a function is given as module:function",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_leads_nowhere_is_one_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, run=RUN.replace("mine:choose", name))
    assert NAMES[name] in str(caught.value)
    assert "strategy.tune.python" in str(caught.value)


LABELLED = """\
name: mine
queues: {deque: {per: worker}, pool: {per: socket}}
steal: [{from: others, self: yes, queue: [deque, pool]}]
labels: LABELS
dispatch: [{to: label, queue: pool}, {to: own, queue: deque}]
"""


def test_labels_are_those_of_a_function_that_is_registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, run = tmp_path / "mine.yaml", tmp_path / "run.yaml"
    file.write_text(LABELLED.replace("LABELS", "of-mine"))
    run.write_text(RUN[: RUN.index("strategy")] + "strategy: ./mine.yaml\n")
    told = "4:1: strategy.labels: there is no function of labels 'of-mine'; expected slices, random, interleave, "
    with pytest.raises(InputError) as caught:
        Strategy.read(file)
    assert str(caught.value).startswith(f"{file}:{told}")
    with pytest.raises(InputError, match=r"mine\.yaml:4:1: strategy\.labels: there is no function of labels 'of-mine'"):
        Resolver().run(document_of(run), ())
    monkeypatch.setitem(LABELLINGS, "of-mine", LABELLINGS["slices"])
    assert "of-mine" in Strategy.read(file).contents
    file.write_text(LABELLED.replace("LABELS", "of_mine"))
    with pytest.raises(InputError, match="did you mean 'of-mine'"):
        Resolver().run(document_of(run), ())


@pytest.mark.parametrize(
    ("tune", "said"),
    [
        ({}, "exactly one of what and python is needed here"),
        ({"what": "fastest"}, "of goes with what: fastest"),
        ({"what": "fastest", "of": [[]], "profiled": [3, 1]}, "profiled runs from 3 to 1, which is never"),
        ({"what": "packer"}, "got 'packer'"),
        ({"what": "fastest", "of": [[], ["far"]]}, "tune.of names the switch 'far', but no level or rule"),
        ({"what": "fastest", "of": [[]], "placements": {"far": "hash-home"}}, "hash-home gives no page a single home"),
        ({"what": "fastest", "of": [[]], "placements": {"far": {"policy": "bind", "node": 9}}}, "there is no node 9"),
    ],
)
def test_fields_that_contradict_each_other(tune: dict[str, object], said: str) -> None:
    strategy = {"steal": [{"from": "others"}], "tune": tune}
    with pytest.raises(InputError) as caught:
        resolve({**FIB, "strategy": strategy})
    assert said in str(caught.value)
