"""The key `like` takes over a shipped part and changes some fields: merged mappings by hand, and equal results if
default values are written out.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from numasim.errors import InputError
from numasim.parts import catalog
from numasim.parts.models.machine_model import LEVELS
from numasim.parts.models.runtime_model import BackoffSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.validation import validate
from numasim.parts.yaml.nodes import Node, Place, Source, from_python
from numasim.spec.part_merge import laid_over
from numasim.spec.part_reader import PARTS, PartReader
from numasim.spec.single_part import read_machine, read_strategy

HERE = Place(Source("", Path()))


def read(strategy: Any) -> StrategySpec:
    return validate(StrategySpec, PartReader().expand("strategy", from_python(strategy, HERE)))


def expanded(part: str, **fields: Any) -> dict[str, Any]:
    plain: dict[str, Any] = PartReader().expand(part, from_python(fields, HERE)).plain()
    return plain


def test_fields_of_a_nested_mapping_that_are_not_given_stay() -> None:
    machine = expanded("machine", like="xeon-e5-2620-2s", nodes={"cores": 8}, caches={"l2": "1MiB"})
    assert machine["nodes"] == {"cores": 8, "threads_per_core": 2, "memory": "16GiB", "imc_bandwidth_gbs": 30}
    assert machine["caches"]["llc"] == "15MiB"
    assert machine["caches"]["l2"] == "1MiB"


def test_lists_and_names_are_replaced() -> None:
    machine = expanded("machine", like="opteron-8380-4s", clock={"turbo": []}, links="ring")
    assert machine["links"] == "ring"
    assert machine["clock"]["turbo"] == []
    assert expanded("machine", like="opteron-8380-4s", nodes=[{"socket": 0}])["nodes"] == [{"socket": 0}]
    strategy = expanded("strategy", like="topology-aware", steal=[{"from": "others"}])
    assert strategy["steal"] == [{"from": "others"}]


def test_a_matrix_of_lines_and_levels_replace_each_other() -> None:
    machine = expanded("machine", like="xeon-e5-2620-2s", coherence={"cores_ns": [[1]]})
    assert machine["coherence"] == {"cores_ns": [[1]]}
    assert not any(field.startswith("coherence") for field in machine["sources"])
    kept = expanded("machine", like="epyc-9654-2s", coherence={"same_node_ns": 60})["coherence"]
    assert sorted(kept) == sorted(LEVELS)
    assert kept["same_node_ns"] == 60


def test_routes_go_with_the_links_on_which_they_lie() -> None:
    kept = expanded("machine", like="opteron-8380-4s", link_bandwidth_gbs=3)
    assert [0, 2, 3] in kept["routes"]
    without = expanded("machine", like="opteron-8380-4s", links="ring")
    assert not {"routes"} & {*without, *without["sources"]}
    own = expanded("machine", like="opteron-8380-4s", links="ring", routes=[[0, 3, 2]])
    assert own["routes"] == [[0, 3, 2]]


def test_collections_with_chosen_names_are_replaced() -> None:
    assert expanded("strategy", like="chunk", queues={"mine": {"per": "worker"}})["queues"] == {
        "mine": {"per": "worker"}
    }


def test_another_kind_drops_what_means_nothing_to_it_and_keeps_the_rest() -> None:
    cohort = {"kind": "cohort", "batch": 64, "home": "owner", "barrier": "per-domain"}
    assert expanded("strategy", like="affinity-locks")["locks"] == cohort
    assert expanded("strategy", like="affinity-locks", locks={"batch": 8})["locks"] == {**cohort, "batch": 8}
    same = expanded("strategy", like="affinity-locks", locks={"kind": "cohort", "batch": 8})
    assert same["locks"] == {**cohort, "batch": 8}
    mutex = {"kind": "mutex", "home": "owner", "barrier": "per-domain"}  # only the kind cohort has a batch
    assert expanded("strategy", like="affinity-locks", locks={"kind": "mutex"})["locks"] == mutex
    assert expanded("strategy", like="randomized", locks={"batch": 8})["locks"] == {"batch": 8}


def test_a_default_that_is_written_out_changes_nothing(tmp_path: Path) -> None:
    """Locks are of kind mutex by default; with the default written out, the locks keep ``probe: lock-first``."""
    base = tmp_path / "base.yaml"
    base.write_text("like: worklist\nlocks: {kind: mutex}\n")
    assert expanded("strategy", like=str(base), locks={"kind": "mutex"})["locks"] == {
        "probe": "lock-first",
        "kind": "mutex",
    }
    assert read("worklist").contents_json == read({"like": "worklist", "locks": {"kind": "mcs"}}).contents_json
    pages = {"policy": "first-touch", "granule": "4KiB"}
    assert expanded("strategy", like="randomized", placement={"granule": "4KiB"})["placement"] == pages


def test_a_word_that_names_a_kind_is_the_mapping_with_that_kind(tmp_path: Path) -> None:
    """By hand: interleave has a grain and bind has none; every policy has a granule."""
    base = tmp_path / "base.yaml"
    base.write_text("like: randomized\nplacement: {policy: interleave, grain: 8KiB, granule: 4KiB}\n")
    kept = expanded("strategy", like=str(base), placement={"policy": "bind", "node": 1})["placement"]
    assert kept == {"policy": "bind", "node": 1, "granule": "4KiB"}
    for next_touch in ("next-touch", {"policy": "next-touch"}):
        found = expanded("strategy", like=str(base), placement=next_touch)["placement"]
        assert found == {"policy": "next-touch", "granule": "4KiB"}
    base.write_text("like: randomized\nplacement: interleave\n")
    found = expanded("strategy", like=str(base), placement={"grain": "8KiB"})["placement"]
    assert found == {"policy": "interleave", "grain": "8KiB"}


def test_another_topology_keeps_what_every_link_has() -> None:
    mesh = {"topology": "mesh", "rows": 2, "columns": 4, "bandwidth_gbs": 9}
    grid = {**expanded("machine", like="opteron-8380-4s"), "links": mesh, "routes": [[0, 1]]}
    base = from_python(grid, HERE)
    for ring in ("ring", {"topology": "ring"}):
        found = laid_over(base, from_python({"links": ring}, HERE), PARTS["machine"]).plain()
        assert found["links"] == {"topology": "ring", "bandwidth_gbs": 9}
        assert "routes" not in found
    faster = laid_over(base, from_python({"links": {"topology": "mesh", "bandwidth_gbs": 12}}, HERE), PARTS["machine"])
    assert faster.plain()["links"] == {**mesh, "bandwidth_gbs": 12}
    assert faster.plain()["routes"] == [[0, 1]]


@pytest.mark.parametrize(
    ("key", "below", "above", "found"),
    [
        ("tune", {"what": "packing", "start": "sosc", "profile_ns": 5}, {"python": "a:b"}, ["python", "profile_ns"]),
        ("tune", {"python": "a:b", "profile_ns": 5}, {"what": "packing"}, ["what", "profile_ns"]),
        (
            "tune",
            {"what": "packing", "keep": "faster"},
            {"what": "packing", "start": "sosc"},
            ["what", "start", "keep"],
        ),
        ("spawn", {"root": "work-first"}, {"adaptive": {}}, ["adaptive"]),
        ("spawn", {"adaptive": {}}, {"local": "work-first"}, ["local"]),
        ("spawn", {"free": "work-first"}, {"local": "work-first"}, ["free", "local"]),
        ("labels", "balanced", {"overload": 0.5}, ["deal", "overload"]),
        ("labels", {"deal": "balanced", "overload": 0.5}, {"deal": "mixed-locality-balanced"}, ["deal", "overload"]),
    ],
)
def test_one_rule_for_every_kind_of_thing(key: str, below: Any, above: Any, found: list[str]) -> None:
    base, top = (from_python({key: value}, HERE) for value in (below, above))
    assert set(laid_over(base, top, PARTS["strategy"]).plain()[key]) == set(found)


@pytest.mark.parametrize("seed", range(40))
def test_a_strategy_with_its_defaults_written_out_is_changed_alike(seed: int) -> None:
    """Random changes of locks, waits and pages are equal over each shipped strategy with and without its defaults."""
    chance = Random(seed)
    name = chance.choice(catalog.names("strategies"))
    change = {
        "locks": chance.choice(
            ({"kind": "cohort"}, {"kind": "mutex"}, {"home": "owner"}, {"kind": "tas", "words": "memory"})
        ),
        "backoff": chance.choice(({"factor": 3}, {"first_ns": 100}, {"empty": "count"})),
        "placement": chance.choice(("interleave", "first-touch", {"granule": "4KiB"}, {"policy": "next-touch"})),
    }
    spec = read(name)
    said: dict[str, Any] = {"backoff": BackoffSpec().model_dump()} if spec.backoff is None else {}
    for key, part in (("locks", spec.locks), ("backoff", spec.backoff), ("placement", spec.placement)):
        for field, value in (part.model_dump() if part is not None else {}).items():
            if value is not None and part.has_meaning(field, part.kind_of(part.model_dump())):
                said.setdefault(key, {})[field] = value
    whole = Node(
        {**PartReader().expand("strategy", from_python(name, HERE)).mapping(), **from_python(said, HERE).mapping()},
        HERE,
    )
    top = from_python(change, HERE)
    spelled = validate(PARTS["strategy"], laid_over(whole, top, PARTS["strategy"]))
    assert spelled.contents_json == read({"like": name, **change}).contents_json


def test_of_alternatives_the_given_one_replaces_the_other(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("like: steal-half\namount: {count: 4}\nthresholds: {max: 9, min: 2}\n")
    found = expanded("strategy", like=str(tmp_path / "base.yaml"), amount={"share": 3}, thresholds={"min": 1})
    assert found["amount"] == {"share": 3}
    assert found["thresholds"] == {"max": 9, "min": 1}


def test_sources_stay_for_what_stays() -> None:
    machine = expanded("machine", like="opteron-8380-4s", nodes={"cores": 8}, links="ring", sources={"links": "mine"})
    assert machine["sources"]["nodes.memory"].startswith("LAWS Table II")
    assert machine["sources"]["links"] == "mine"
    assert not {"nodes.cores", "links.between", "links.bandwidth_gbs"} & set(machine["sources"])
    whole = expanded("machine", like="synthetic-16x64", nodes={"cores": 8})
    assert "nodes" not in whole["sources"]
    assert "caches" in whole["sources"]


def test_an_error_in_a_merged_mapping_is_where_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("like: xeon-e5-2620-2s\nnodes:\n  cores: none\n")
    with pytest.raises(
        InputError, match=rf"{file}:3:10: machine.nodes.cores: a whole number is needed here, got 'none'"
    ):
        read_machine(str(file))
    file.write_text("like: xeon-e5-2620-2s\nnodes:\n  corse: 3\n")
    with pytest.raises(InputError, match=rf"{file}:3:3: machine.nodes: there is no field 'corse'.*mean 'cores'"):
        read_machine(str(file))
    file.write_text("like: affinity-locks\nlocks: {batch: 0}\n")
    with pytest.raises(InputError, match=rf"{file}:2:16: strategy.locks.batch: got 0; expected at least 1"):
        read_strategy(str(file))
