"""Ranges of unlike items in JSON: digests, descriptions, and refusals with places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from numasim.errors import InputError
from numasim.workload.describe import describe
from numasim.workload.graph import Workload
from numasim.workload.json_form.graph_io import read

BYTES: dict[str, Any] = {"items": [1, 2, 3]}


def document(**range_keys: Any) -> dict[str, Any]:
    entry = {"count": 3, "compute_ps": {"items": [5, 6, 7]}, **range_keys}
    return {"ranges": [{key: value for key, value in entry.items() if value is not None}], "phases": [{"range": 0}]}


def on_nodes(**keys: Any) -> dict[str, Any]:
    return document(node_accesses=[{"nodes": [0, 1], "bytes": BYTES, **keys}])


def read_back(tmp_path: Path, given: dict[str, Any]) -> Workload:
    path = tmp_path / "ragged.json"
    path.write_text(json.dumps(given))
    return read(path)


def test_digests_and_descriptions_tell_ragged_items_apart(tmp_path: Path) -> None:
    table = {"weight": [1, 3], "low": [0, 100], "high": [9, 100]}
    work = read_back(tmp_path, document(fresh=table, freed=BYTES))
    shared = [on_nodes(shares=[1, share], bytes=table) for share in (2, 3)]
    others = [document(freed=table, fresh=BYTES), document(), *shared]
    assert len({work.digest(), *(read_back(tmp_path, other).digest() for other in others)}) == 5
    assert (work.ranges[0].low_ps, work.ranges[0].high_ps, work.ranges[0].draws) == (5, 7, True)
    text = describe(work)
    assert "    touched first  0 to 100 bytes an item, 76 on average\n" in text
    assert "    given back     1 to 3 bytes an item, 2 on average, 6 in all\n" in text


MISTAKES: dict[str, dict[str, Any]] = {
    r"ranges\[0\].compute_ps.items: there are 2 numbers; expected 3, one for each item": document(
        compute_ps={"items": [1, 2]}
    ),
    r"ranges\[0\].compute_ps.items\[1\]: .*greater than or equal to 0": document(compute_ps={"items": [1, -2, 3]}),
    r"ranges\[0\].compute_ps.items\[1\]: input should be a valid integer, not 2.5": document(
        compute_ps={"items": [1, 2.5, 3]}
    ),
    r"ranges\[0\].compute_ps.weight: both numbers and a table": document(
        compute_ps={"items": [1, 2, 3], "weight": [1]}
    ),
    r"ranges\[0\].compute_ps.items: no numbers are given; expected 3 numbers, or a table": document(compute_ps={}),
    r"ranges\[0\].compute_ps.low: there are 0 numbers; expected 1, one for each weight": document(
        compute_ps={"weight": [1], "high": [1]}
    ),
    r"ranges\[0\].compute_ps.weight: the weights add up to .*; expected at most 4,611": document(
        compute_ps={"weight": [2**61, 2**61, 1], "low": [1, 1, 1], "high": [1, 1, 1]}
    ),
    r"ranges\[0\].compute_ps.high\[0\]: the part ends at 1; expected 2 or more": document(
        compute_ps={"weight": [1], "low": [2], "high": [1]}
    ),
    r"ranges\[0\].compute_ps.wieght.*did you mean 'weight'": document(compute_ps={"wieght": [1]}),
    r"ranges\[0\].low_ps: the time is given twice": document(low_ps=1, high_ps=2),
    r"ranges\[0\].low_ps: the time is missing; expected low_ps and high_ps, or compute_ps": document(compute_ps=None),
    r"node_accesses\[0\].shares: there are 1 shares; expected 2": on_nodes(shares=[1]),
    r"node_accesses\[0\].shares: the shares add up to 16,777,217": on_nodes(shares=[1, 2**24]),
    r"node_accesses\[0\].nodes: .*at least 1": on_nodes(nodes=[]),
    r"node_accesses\[0\].mode: .*'read', 'write' or 'read-write', not 'raed'": on_nodes(mode="raed"),
    r"node_accesses\[0\].bytes.items: there are 4 numbers": on_nodes(bytes={"items": [1, 2, 3, 4]}),
    r"node_accesses\[0\].bytes.items\[2\]: the amount is 274877906945; expected 0 to 274877906944": on_nodes(
        bytes={"items": [1, 2, 2**38 + 1]}
    ),
    r"ranges\[0\].fresh.items: there are 2 numbers; expected 3, one for each item": document(fresh={"items": [1, 2]}),
    r"ranges\[0\].freed.items\[1\]: the amount is 274877906945; expected 0 to 274877906944": document(
        freed={"items": [1, 2**38 + 1, 2]}
    ),
    r"ranges\[0\].freed: input should be .*, not 7": document(freed=7),
    r"node_accesses\[0\].returned_ppm: .*less than or equal to 1000000": on_nodes(returned_ppm=1_000_001),
    r"node_accesses\[0\].returned_ppm: a whole number is needed here": on_nodes(returned_ppm=0.5),
    r"ranges\[0\].fred: .*did you mean 'freed'": document(fred=BYTES),
    r"node_accesses\[0\].bytes: 67108864 items of the highest amount add up to .*; expected at most": document(
        count=2**26,
        compute_ps=None,
        low_ps=0,
        high_ps=0,
        node_accesses=[{"nodes": [0], "bytes": {"weight": [1], "low": [0], "high": [2**37]}}],
    ),
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_a_mistake_is_one_sentence_with_its_place(tmp_path: Path, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_back(tmp_path, MISTAKES[sentence])
