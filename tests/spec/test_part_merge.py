"""What `like` does with nested mappings: by hand, and that no shipped file changed its meaning by it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from numasim.errors import InputError
from numasim.parts import catalog
from numasim.parts.validation import validate
from numasim.parts.yaml.document import load
from numasim.parts.yaml.nodes import Node, Place, Source, from_python
from numasim.spec.part_reader import CATALOG, PARTS, PartReader
from numasim.spec.single_part import read_machine, read_strategy

HERE = Place(Source("", Path()))
EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


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


def test_another_kind_replaces_and_the_same_kind_merges() -> None:
    cohort = {"kind": "cohort", "batch": 64, "home": "owner", "barrier": "per-domain"}
    assert expanded("strategy", like="affinity-locks")["locks"] == cohort
    assert expanded("strategy", like="affinity-locks", locks={"batch": 8})["locks"] == {**cohort, "batch": 8}
    same = expanded("strategy", like="affinity-locks", locks={"kind": "cohort", "batch": 8})
    assert same["locks"] == {**cohort, "batch": 8}
    assert expanded("strategy", like="affinity-locks", locks={"kind": "mutex"})["locks"] == {"kind": "mutex"}
    assert expanded("strategy", like="randomized", locks={"batch": 8})["locks"] == {"batch": 8}


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


def documents() -> Iterator[tuple[str, Node]]:
    """Every shipped part, and every mapping with `like` in an experiment, as (part, node)."""
    for part, kind in CATALOG.items():
        for name in catalog.names(kind):
            yield part, from_python(name, HERE)
    for file in sorted(EXPERIMENTS.rglob("*.yaml")):
        for node in mappings(load(file)):
            like = node.mapping().get("like")
            for part, kind in CATALOG.items():
                if like is not None and like.content in catalog.names(kind):
                    yield part, node


def mappings(node: Node) -> Iterator[Node]:
    """All mappings in a document."""
    inner = node.content.values() if isinstance(node.content, dict) else node.content
    for child in inner if isinstance(node.content, dict | list) else ():
        yield from mappings(child)  # type: ignore[arg-type]
    if isinstance(node.content, dict):
        yield node


def shallow(part: str, node: Node) -> dict[str, Any]:
    """The part by the rule of version 0.1: the uppermost keys replace those of the part that `like` names."""
    if isinstance(node.content, str):
        node = load(catalog.find(CATALOG[part], node.content))
    own = node.plain()
    base = shallow(part, node.mapping()["like"]) if "like" in own else {}
    return {**base, **{key: value for key, value in own.items() if key != "like"}}


def test_no_shipped_file_changed_its_meaning() -> None:
    seen = 0
    for part, node in documents():
        now = validate(PARTS[part], PartReader().expand(part, node))
        before = validate(PARTS[part], from_python(shallow(part, node), HERE))
        assert now.contents_json == before.contents_json
        seen += 1
    assert seen > 50
