"""Reading JSON value by value gives the same values, and the same errors, as reading the whole text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim.errors import InputError
from numasim.files import bounded_json, walked_json
from numasim.files.bounded_json import depths, json_errors, parse_json
from numasim.files.walked_json import Batch, JsonWalk, LongValueError
from numasim.workload.json_form import graph_io
from numasim.workload.json_form.graph_io import read

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=6) | st.sampled_from([0.5, -1e30]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
SPACES = st.sampled_from([None, 1])
LONGEST = 4000  # characters of a value in these tests


def passed(text: str, whole: Callable[[JsonWalk], Any]) -> Any:
    """Return the result of ``whole`` for a walk through ``text``; the walk then has to be at the end of ``text``."""
    with json_errors(text, "here", "JSON"):
        walk = JsonWalk(text)
        found = whole(walk)
        walk.end()
    return found


def walked(text: str) -> Any:
    """Return the value of a text, composed from its members and elements."""

    def whole(walk: JsonWalk) -> Any:
        if walk.begins("{"):
            return {key: whole(walk) for key in walk.members()}
        if walk.begins("["):
            return [whole(walk) for _ in walk.elements()]
        return walk.value()

    return passed(text, whole)


def walked_in_batches(text: str) -> Any:
    """Return the value of a text, composed from batches of elements of its outermost list."""

    def whole(walk: JsonWalk) -> Any:
        if not walk.begins("["):
            return walk.value()
        found: list[Any] = []

        def take(batch: Batch) -> bool:
            right = batch.has_distinct_keys(keys_in(batch.values))
            found.extend(batch.values if right else ())
            return right

        for number in walk.elements(take):
            assert number == len(found)
            found.append(whole(walk))
        return found

    return passed(text, whole)


def keys_in(value: Any) -> int:
    """Return the number of keys of all objects together."""
    if isinstance(value, dict):
        return len(value) + keys_in(list(value.values()))
    return sum(map(keys_in, value)) if isinstance(value, list) else 0


def taken(text: str) -> Any:
    """Return the value of a text, read as a whole."""
    return passed(text, JsonWalk.value)


def assert_read_alike(read_by: Callable[[str], Any], text: str) -> None:
    """Assert that ``read_by`` returns the value of `parse_json`, or refuses the same text."""
    try:
        right = parse_json(text, "here", "JSON")
    except InputError:
        with pytest.raises(InputError, match=r"^here"):
            read_by(text)
    else:
        assert read_by(text) == right


@pytest.fixture(scope="module", autouse=True)
def small_windows() -> Any:
    """Make windows so small that few values fit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walked_json, "WINDOW", 24)
        patch.setattr(walked_json, "LONGEST", LONGEST)
        patch.setattr(bounded_json, "MIB", 7)
        patch.setattr(graph_io, "WINDOW", 24)
        yield


INSERTED = ["", ",", "]", "}", '"', "1", ":", "[", "\\", "NaN", '{"a":1,"a":1},', '{"a:":1},']


@pytest.mark.parametrize("read_by", [walked, walked_in_batches, taken])
@given(value=VALUES | st.lists(VALUES, max_size=12), indent=SPACES, plain=st.booleans(), data=st.data())
def test_a_walk_finds_what_is_there_or_what_is_wrong(
    read_by: Callable[[str], Any], value: Any, indent: int | None, plain: bool, data: st.DataObject
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=plain)
    if read_by is taken and len(text) > LONGEST // 2:
        return
    assert read_by(text) == value
    at = data.draw(st.integers(0, len(text)))
    damaged = text[:at] + data.draw(st.sampled_from(INSERTED)) + text[at + data.draw(st.integers(0, 1)) :]
    assert_read_alike(read_by, damaged)


@pytest.mark.parametrize("read_by", [walked, walked_in_batches, taken])
def test_a_key_with_half_a_surrogate_pair_is_refused(read_by: Callable[[str], Any]) -> None:
    with pytest.raises(InputError, match=r"^here"):
        read_by('[{"\\ud800": 1}]')


def test_a_key_that_stands_twice_is_found_beside_colons_in_texts() -> None:
    once = [{"a": "x:y", "b : c": {"d": ":"}}] * 3
    assert walked_in_batches(json.dumps(once)) == once
    twice = json.dumps(once)[:-1] + ', {"a":1, "a":2}]'
    with pytest.raises(InputError, match="the key 'a' is given twice in one object"):
        walked_in_batches(twice)


def plain_depths(text: str) -> tuple[int, int]:
    """Return the deepest nesting and the number of open brackets at the end, counted bracket by bracket."""
    outside = re.sub(r'"(?:[^"\\]|\\.)*"?', "", text, flags=re.DOTALL)
    found = list(accumulate(((each in "[{") - (each in "]}") for each in outside), initial=0))
    return max(found), found[-1]


@given(VALUES, st.integers(0, 60), st.booleans())
def test_the_nesting_is_that_of_the_brackets_outside_of_texts(value: Any, end: int, plain: bool) -> None:
    text = json.dumps(["a\\b", '"[', "\\", value, ']\\"'], ensure_ascii=plain)
    assert depths(text) == plain_depths(text)
    assert depths(text[:-end]) == plain_depths(text[:-end])


def test_a_value_that_is_too_long_is_walked_through_by_its_parts() -> None:
    text = json.dumps({"a": list(range(1000)), "b": 2})
    walk = JsonWalk(text)
    with pytest.raises(LongValueError, match="a value is longer"):
        walk.value()
    with pytest.raises(LongValueError):
        [walk.value() for _ in walk.members()]
    assert walked(text) == json.loads(text)


def test_a_graph_is_read_no_further_than_its_first_wrong_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [{"ops": [["run", 0]]}] * 5 + [{"ops": [["jump", 0]]}] + [{}] * 1000
    (tmp_path / "graph.json").write_text(json.dumps({"tasks": tasks}))
    values = []
    value = JsonWalk.value
    monkeypatch.setattr(JsonWalk, "value", lambda *walk: values.append(value(*walk)) or values[-1])
    with pytest.raises(InputError, match=r"tasks\[5\]\.ops\[0\]: an op is"):
        read(tmp_path / "graph.json")
    assert len(values) == 6


def test_a_task_of_many_ops_is_read_op_by_op(tmp_path: Path) -> None:
    """The task is longer than the longest value that the reader may hold in this test, but its ops are read singly."""
    tasks = [{"ops": [["spawn", task] for task in range(1, 101)] + [["wait"]]}, *[{"ops": [["run", 0]]}] * 100]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({"tasks": tasks, "segments": [{"compute_ps": 1}]}))
    work = read(path)
    assert work.parent.tolist() == [-1, *[0] * 100]
    tasks[0]["ops"][70] = ["jump", 1]
    path.write_text(json.dumps({"tasks": tasks, "segments": [{"compute_ps": 1}]}))
    with pytest.raises(InputError, match=r"tasks\[0\]\.ops\[70\]: an op is"):
        read(path)
    path.write_text(json.dumps({"parameters": {"a": [0] * 2000}, "tasks": []}))
    with pytest.raises(InputError, match=r"graph.json: parameters: a value is longer than"):
        read(path)
