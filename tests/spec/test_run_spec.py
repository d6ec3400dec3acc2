"""The specification of a run is made from a YAML document, changes of it (`--set`), and the shipped machine, strategy
and runtime that it names.
"""

import os
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from numasim.errors import InputError, nearest_name
from numasim.parts import catalog
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.yaml.document import parse
from numasim.parts.yaml.nodes import Source
from numasim.spec.identity import run_id
from numasim.spec.one_run import load_run
from numasim.spec.overrides import from_mapping, from_text, put_all
from numasim.spec.run_spec import ModelSpec, Resolver, RunSpec, document_of, of_scheduler, resolve

Write = Callable[..., Path]


def refusal(path: Path, *sets: str) -> str:
    with pytest.raises(InputError) as caught:
        load_run(path, sets)
    return str(caught.value)


def test_defaults(run_file: Write) -> None:
    spec = load_run(run_file())
    assert (spec.workers, spec.seed, spec.repeat, spec.model) == (24, 0, 1, ModelSpec())
    assert (spec.machine.name, spec.strategy.name, spec.workload.model_dump()["name"]) == ("toy", "mine", "strassen")


@pytest.mark.parametrize(
    ("workload", "runtime"),
    [
        ("{name: strassen, n: 256}", "ompi"),
        ("sparselu-for", "ompi"),
        ("uts", "ompi"),
        ("{name: fib, n: 6}", "bare"),
        ("{name: independent, tasks: 5, low_ns: 1, high_ns: 2}", "bare"),
    ],
)
def test_default_runtime_follows_the_workload(run_file: Write, workload: str, runtime: str) -> None:
    spec = load_run(run_file(), [f"workload={workload}"])
    assert spec.runtime == load_run(run_file(), [f"workload={workload}", f"runtime={runtime}"]).runtime
    assert spec.runtime.name == runtime


def test_a_runtime_alone_takes_the_strategy_of_its_name(run_file: Write) -> None:
    given = {"machine": "xeon-e5-2620-2s", "workload": {"name": "fib", "n": 1}, "workers": 1}
    both = resolve({**given, "runtime": "rayon", "strategy": "rayon"})
    alone = resolve({**given, "runtime": "rayon"})
    assert (alone.strategy, alone.runtime) == (both.strategy, both.runtime)
    assert load_run(run_file(), of_scheduler("tokio")).strategy == resolve({**given, "runtime": "tokio"}).strategy
    with pytest.raises(InputError, match="strategy: this field is missing"):
        resolve({**given, "runtime": "ompi"})
    with pytest.raises(InputError, match=r"there is no runtime 'raion'.*did you mean 'rayon'"):
        resolve({**given, "runtime": "raion"})


def test_what_a_file_leaves_out_is_no_content(run_file: Write) -> None:
    plain = load_run(run_file(), of_scheduler("rayon"))
    silent = load_run(run_file(), [*of_scheduler("rayon"), "runtime.leaves_out=[]", "strategy.leaves_out=[]"])
    assert plain.strategy != silent.strategy
    assert run_id(plain, 1) == run_id(silent, 1)


def test_default_runtime_with_one_key_changed(run_file: Write) -> None:
    plain, changed = load_run(run_file()).runtime, load_run(run_file(), ["runtime.costs.push_ns=1.5"]).runtime
    assert changed.costs.push_ns == Decimal("1.5")
    assert changed.costs == plain.costs.model_copy(update={"push_ns": Decimal("1.5")})
    assert changed.model_copy(update={"costs": plain.costs}) == plain


def test_a_shipped_file_is_read_again_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_PACKAGE", tmp_path / "numasim")
    shutil.copytree(Path(__file__).parents[2] / "configs", tmp_path / "configs")
    shipped = tmp_path / "configs" / "runtimes" / "own.yaml"
    given = {"machine": "xeon-e5-2620-2s", "workload": {"name": "fib", "n": 1}, "strategy": "ring", "workers": 1}
    first = resolve({**given, "runtime": "own"}).runtime
    shipped.write_text(shipped.read_text().replace("poll_ns: 0 ", "poll_ns: 12345 "))
    os.utime(shipped, ns=(0, 1))  # an old time of change, since file systems' clocks are coarse
    assert first.poll_ns != resolve({**given, "runtime": "own"}).runtime.poll_ns == 12345


def test_a_shipped_name_with_keys_is_that_strategy_with_keys_replaced(run_file: Write) -> None:
    shipped = load_run(run_file(), ["strategy=topology-aware"]).strategy
    for text in ("{name: topology-aware, refill: min}", "{like: topology-aware, refill: min}"):
        assert load_run(run_file(), [f"strategy={text}"]).strategy == shipped.model_copy(update={"refill": "min"})
    assert load_run(run_file(), ["strategy=topology-aware", "strategy.refill=min"]).strategy.refill == "min"
    assert load_run(run_file(), ["strategy.refill=min", "strategy=topology-aware"]).strategy.refill == "min"


def test_chains_of_like_merge_key_by_key(folder: Path, run_file: Write) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "first.yaml").write_text("steal: [{from: others}]\namount: half\nrefill: 3\n")
    (folder / "sub" / "second.yaml").write_text("like: ./first.yaml\nrefill: 2\n")
    spec = load_run(run_file(), ["strategy=./sub/second.yaml"])
    expected = StrategySpec.model_validate(
        {"name": "second", "steal": [{"from": "others"}], "amount": "half", "refill": 2}
    )
    assert spec.strategy == expected
    own = load_run(run_file(), ["strategy={like: ./sub/second.yaml, name: third, amount: one}"]).strategy
    assert (own.name, own.amount, own.refill) == ("third", "one", 2)


def test_errors_of_a_chain_are_placed_where_the_key_stands(folder: Path, run_file: Write) -> None:
    (folder / "first.yaml").write_text("steal: [{from: others}]\namount: hlaf\n")
    (folder / "second.yaml").write_text("like: ./first.yaml\n")
    assert refusal(run_file(), "strategy=./second.yaml").startswith("first.yaml:2:9: strategy.amount: got 'hlaf'")


def test_circles_of_like(folder: Path, run_file: Write) -> None:
    (folder / "a.yaml").write_text("refill: 1\nlike: ./b.yaml\n")
    (folder / "b.yaml").write_text("like: ./a.yaml\n")
    said = "strategy.like: the strategy refers to itself in a cycle: a -> b -> a; expected a chain of like that ends"
    assert refusal(run_file(), "strategy=./a.yaml") == f"b.yaml:1:7: {said}"


def test_paths_are_relative_to_the_document_that_names_them(folder: Path, run_file: Write) -> None:
    (folder / "deep").mkdir()
    text = run_file().read_text().replace("./machine.yaml", "../machine.yaml")
    (folder / "deep" / "run.yaml").write_text(text)
    assert load_run("deep/run.yaml").machine == load_run("run.yaml").machine


def test_python_mappings(folder: Path) -> None:
    spec = resolve(
        {
            "machine": "machine.yaml",
            "workload": {"name": "independent", "tasks": 10, "low_ns": 77.3, "high_ns": 80},
            "strategy": "randomized",
            "workers": 2,
        },
        relative_to=folder,
    )
    assert spec.workload.model_dump()["low_ns"] == Decimal("77.3")
    with pytest.raises(
        InputError, match=r"^workers: got 25 workers, but 'toy' has 24 hardware threads; expected 1 to 24$"
    ):
        resolve({"machine": "machine.yaml", "workload": "sparselu-for", "strategy": "ring", "workers": 25}, folder)


def test_keyword_changes_over_which_set_wins(run_file: Write) -> None:
    spec = load_run(run_file(), changes={"workers": 3, "workload.n": 512, "strategy": "randomized"})
    assert (spec.workers, spec.workload.model_dump()["n"], spec.strategy.name) == (3, 512, "randomized")
    assert load_run(run_file(), ["workers=5"], {"workers": 3}).workers == 5


def test_a_graph_file_is_known_by_what_is_in_it(folder: Path, run_file: Write) -> None:
    (folder / "g.json").write_text("{}")
    first = load_run(run_file(), ["workload={file: g.json}"])
    (folder / "h.json").write_text("{}")
    assert run_id(load_run(run_file(), ["workload={file: h.json}"]), 1) == run_id(first, 1)
    (folder / "h.json").write_text('{"name": "another"}')
    assert run_id(load_run(run_file(), ["workload={file: h.json}"]), 1) != run_id(first, 1)
    (folder / "h.json").write_text('{ "tasks": [] }')  # the same graph in another layout
    assert run_id(load_run(run_file(), ["workload={file: h.json}"]), 1) == run_id(first, 1)
    assert "there is no file 'i.json'" in refusal(run_file(), "workload={file: i.json}")


def test_parts_that_are_said_in_the_same_words_are_made_once(run_file: Write) -> None:
    document, resolver = document_of(run_file()), Resolver()

    def run(**changes: object) -> RunSpec:
        return resolver.run(document, from_mapping({"machine": "xeon-e5-2620-2s", "workload.n": 512, **changes}))

    one, same, other = run(), run(), run(**{"workload.n": 256})
    assert (one.machine, one.workload) == (same.machine, same.workload)
    assert one.machine is same.machine is other.machine
    assert one.workload is same.workload is not other.workload
    assert (one.workload.n, other.workload.n) == (512, 256)
    assert run(workers=2).workers == 2
    assert run(machine="xeon-x7560-4s").machine is not one.machine


# ---- changes of a document ----

BASE = "a: 1\nb: {c: 2, d: [x, {e: 3}]}\n"


def after(*sets: str) -> Any:
    return put_all(parse(BASE, Source("base.yaml", Path())), [from_text(text) for text in sets]).plain()


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        (["a=5"], {"a": 5, "b": {"c": 2, "d": ["x", {"e": 3}]}}),
        (["b.c=2.50"], {"a": 1, "b": {"c": Decimal("2.50"), "d": ["x", {"e": 3}]}}),
        (["b.d[1].e=no"], {"a": 1, "b": {"c": 2, "d": ["x", {"e": "no"}]}}),
        (["b.d.0={f: [1, 2]}"], {"a": 1, "b": {"c": 2, "d": [{"f": [1, 2]}, {"e": 3}]}}),
        (["b=q", "a='1'"], {"a": "1", "b": "q"}),
        (["n.m.o=1", "n.m.p=2"], {"a": 1, "b": {"c": 2, "d": ["x", {"e": 3}]}, "n": {"m": {"o": 1, "p": 2}}}),
        (["a=x=y"], {"a": "x=y", "b": {"c": 2, "d": ["x", {"e": 3}]}}),
    ],
)
def test_fields_that_are_set(sets: list[str], expected: dict[str, Any]) -> None:
    assert after(*sets) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a..b=1", "--set a..b=1: 'a..b' is no field"),
        ("a={b: ", "--set a={b: : "),
        ("a.b=1", "--set a.b=1: a: the value is 1, which has no field 'b'; expected a mapping"),
        ("b.d.2=1", "--set b.d.2=1: b.d: there is no entry 2 in a list of 2; expected a number from 0 to 1"),
        ("b.d.e=1", "--set b.d.e=1: b.d: there is no entry 'e' in a list of 2"),
    ],
)
def test_what_cannot_be_set(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        after(text)
    assert str(caught.value).startswith(message)


def test_changes_leave_the_document_itself_alone() -> None:
    base = parse(BASE, Source("base.yaml", Path()))
    changed = put_all(base, from_mapping({"b.c": 7.5, "a": {"x": (1, 2)}}))
    assert changed.plain() == {"a": {"x": [1, 2]}, "b": {"c": Decimal("7.5"), "d": ["x", {"e": 3}]}}
    put_all(base, [from_text("b.d[1].e=9"), from_text("z=1")])
    assert base.plain() == parse(BASE, Source("base.yaml", Path())).plain()


# ---- shipped names and paths ----


def test_every_shipped_name_is_found_and_the_papers_are_there() -> None:
    assert all(catalog.find(kind, name).is_file() for kind in catalog.KINDS for name in catalog.names(kind))
    assert "xeon-e5-2620-2s" in catalog.names("machines")
    assert {"randomized", "threshold", "topology-aware"} <= set(catalog.names("strategies"))
    assert {"bare", "ompi", "own", "phoenix"} <= set(catalog.names("runtimes"))
    assert {"rayon", "tokio", "go", "onetbb", "libomp", "opencilk"} <= set(catalog.schedulers())


def test_paths_are_seen_from_the_document() -> None:
    assert catalog.find("strategies", "./mine.yaml", Path("there")) == Path("there/mine.yaml")
    assert catalog.find("machines", "mine.yml", Path("there")) == Path("there/mine.yml")
    assert catalog.find("machines", "/abs/mine", Path("there")) == Path("/abs/mine")


def test_installed_configs_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "numasim" / "configs" / "machines"
    inside.mkdir(parents=True)
    (inside / "only.yaml").touch()
    monkeypatch.setattr(catalog, "_PACKAGE", tmp_path / "numasim")
    assert catalog.names("machines") == ("only",)
    beside = tmp_path / "configs" / "machines"
    beside.mkdir(parents=True)
    (beside / "other.yaml").touch()
    assert catalog.names("machines") == ("only",)
    inside.parent.rename(tmp_path / "gone")
    assert catalog.names("machines") == ("other",)


def test_a_file_comes_before_a_shipped_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(catalog, "names", lambda kind: ("quick",) if kind == "sweeps" else ())
    assert catalog.find_spec("quick") == catalog.folder("sweeps") / "quick.yaml"
    Path("quick").touch()
    assert catalog.find_spec("quick") == Path("quick")


@pytest.mark.parametrize(("typed", "meant"), [("lawz", "laws"), ("heath", "heat"), ("fibb", "fib"), ("qqqq", None)])
def test_of_names_as_similar_that_with_the_same_beginning_is_meant(typed: str, meant: str | None) -> None:
    assert nearest_name(typed, ["slaw", "laws", "heat", "fib"]) == meant
