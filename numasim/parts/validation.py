"""Validates documents (trees of nodes: values with their places in a text) by pydantic models: an error of pydantic
becomes one InputError at the place of the value.

Errors of several fields are reported together, in the order of the document. Of a union, a type with several branches,
only the branch whose keys and kind fit the value best reports its errors. A missing field is not reported if an unknown
field may be its misspelling.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from numasim.errors import InputError, nearest_name, together
from numasim.frozen import Frozen
from numasim.parts.choices import known_keys, needed_shapes
from numasim.parts.yaml.nodes import FieldPath, Node, Place, path_parts, shown

M = TypeVar("M", bound=BaseModel)
MOST_OF_A_FIELD, MOST_COMPLAINTS = 100, 1000  # the most errors that are examined: of one field, and of all fields
MOST_REPORTED = 60
_KINDS = {  # {pydantic's kind of error: what is expected}, for values of another kind than the field has
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
    "string_type": "a text",
    "string_unicode": "a text in UTF-8",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "string_pattern_mismatch": "letters, digits and . _ + - that start with a letter or digit",
}
_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
_LENGTHS = {"too_short": ("at least", "min_length"), "too_long": ("at most", "max_length")}
_DECIMAL = re.compile(r"Decimal\('(.*)'\)")  # the form in which pydantic writes a bound that is a decimal
_FIELD_FIRST = re.compile(r"([A-Za-z_][\w-]*(?:\[\d+\]|\.[\w-]+)*): (.+)", re.DOTALL)


class _Complaint(Frozen):
    """One error of pydantic; ``path`` leads to its node, ``labels`` has (path of a union, branch) on the way."""

    kind: str
    text: str
    value: Any
    context: dict[str, Any]
    path: FieldPath
    labels: tuple[tuple[FieldPath, str], ...]
    place: Place

    @property
    def wrong_kind(self) -> bool:
        """Return whether the value is a text, list, mapping or word where another kind of value is expected."""
        return self.kind in _KINDS or self.kind == "literal_error"


def validate(model: type[M], node: Node, path: FieldPath = ()) -> M:
    """Return the model that ``node`` describes; ``path`` is the node's path in the whole specification.

    Raises InputError with the place of the wrong value, the field, the valid values and the nearest valid name.
    """
    try:
        return model.model_validate(node.plain())
    except ValidationError as error:
        complaints = [_complaint(node, each) for each in _some(error)]
        found = _independent(complaints, model)
        cut = len(complaints) < error.error_count() or len(found) >= MOST_REPORTED
        raise together([_as_input_error(model, each, path) for each in found], cut) from None
    except InputError as error:
        raise placed(error, node, path) from None


def _some(error: ValidationError) -> list[Any]:
    """Return the first errors of each field, in their order, and at most `MOST_COMPLAINTS` of all fields."""
    seen: Counter[str | int] = Counter()
    found = []
    for each in error.errors(include_url=False):
        field = each["loc"][0] if each["loc"] else ""
        seen[field] += 1
        if seen[field] <= MOST_OF_A_FIELD:
            found.append(each)
    return found[:MOST_COMPLAINTS]


def placed(error: InputError, node: Node, path: FieldPath = ()) -> InputError:
    """Return ``error``, whose path leads on from ``node``, with the place of its field, and with ``path`` before it."""
    if len(error.each) > 1:
        return together([placed(each, node, path) for each in error.each], error.cut)
    found, used, _ = _descend(node, error.path)
    place = error.place or str(_key_place(node, used) or found.place) or None
    return error.with_(path=path + error.path, place=place)


def _descend(node: Node, loc: Iterable[str | int]) -> tuple[Node, FieldPath, tuple[tuple[FieldPath, str], ...]]:
    """Return the deepest node on ``loc``, pydantic's path to an error, the path to this node in the document, and the
    branches of unions on the way, each with the path of the union.
    """
    path: FieldPath = ()
    labels: list[tuple[FieldPath, str]] = []
    for part in loc:
        inner = node.child(part)
        if inner is None:
            labels.append((path, str(part)))
        else:
            node, path = inner, (*path, part)
    return node, path, tuple(labels)


def _key_place(root: Node, path: FieldPath) -> Place | None:
    parent = root.follow(path[:-1])
    return parent.keys.get(path[-1]) if path and parent else None


def _complaint(root: Node, error: Any) -> _Complaint:
    loc = list(error["loc"])
    missing = loc.pop() if error["type"] == "missing" else None
    node, path, labels = _descend(root, loc)
    place = (_key_place(root, path) if error["type"] == "extra_forbidden" else None) or node.place
    text = error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    path = path if missing is None else (*path, missing)
    complaint = _Complaint(error["type"], text, error["input"], error.get("ctx", {}), path, labels, place)
    return _refined(complaint, root) if complaint.kind == "value_error" else complaint


def _refined(complaint: _Complaint, root: Node) -> _Complaint:
    """Return ``complaint`` at the place of the field that its text begins with, as in ``steal[0]: ...``, if any."""
    found = _FIELD_FIRST.fullmatch(complaint.text)
    if not found:
        return complaint
    for above in (complaint.path, complaint.path[:-1]):
        path = above + path_parts(found[1])
        if target := root.follow(path):
            return replace(complaint, text=found[2], value=None, path=path, place=target.place)
    return complaint


def _independent(complaints: list[_Complaint], model: type[BaseModel]) -> list[_Complaint]:
    """Return one complaint for each field, without missing fields whose misspelling may be there."""
    by_field: dict[FieldPath, _Complaint] = {}
    for each in _meant(complaints, model):
        by_field.setdefault(each.path, each)
    found = sorted(by_field.values(), key=lambda each: (each.place.line, each.place.column))[:MOST_REPORTED]
    unknown = [(each.path[:-1], _nearest_key(each, model)) for each in found if each.kind == "extra_forbidden"]
    return [
        each
        for each in found
        if each.kind != "missing" or not {(each.path[:-1], None), (each.path[:-1], each.path[-1])} & {*unknown}
    ]


def _meant(complaints: list[_Complaint], model: type[BaseModel]) -> list[_Complaint]:
    """Return, for each union, only the complaints of the branch that fits best, outermost unions first."""
    unions = sorted({path for each in complaints for path, _ in each.labels}, key=len)
    for union in unions:
        branches: dict[str, list[_Complaint]] = {}
        for each in complaints:
            if label := dict(each.labels).get(union):
                branches.setdefault(label, []).append(each)
        if len(branches) > 1:
            best = min(branches, key=lambda label: _misfit(branches[label], union, model))
            complaints = [each for each in complaints if dict(each.labels).get(union) in (None, best)]
    return complaints


def _misfit(branch: list[_Complaint], union: FieldPath, model: type[BaseModel]) -> tuple[bool, bool, int]:
    wrong_kind = any(each.wrong_kind and each.path == union and each.kind != "literal_error" for each in branch)
    wrong_word = any(each.kind == "literal_error" and not isinstance(each.value, str) for each in branch)
    strange = [each for each in branch if each.kind == "extra_forbidden" and not _nearest_key(each, model)]
    return wrong_kind or wrong_word, bool(strange), len(branch)


def _nearest_key(complaint: _Complaint, model: type[BaseModel]) -> str | None:
    return nearest_name(str(complaint.path[-1]), known_keys(model, complaint.path[:-1]))


def _as_input_error(model: type[BaseModel], complaint: _Complaint, path: FieldPath) -> InputError:
    problem, expected, value, known = _sentence(model, complaint)
    where = path + (complaint.path[:-1] if complaint.kind == "extra_forbidden" else complaint.path)
    return InputError(problem, path=where, place=complaint.place, expected=expected, value=value, known=known)


def _sentence(model: type[BaseModel], complaint: _Complaint) -> tuple[str, str | None, Any, list[str]]:
    """Return (the problem, the expected values or None for one of the known names, the value, the known names)."""
    last = str(complaint.path[-1]) if complaint.path else ""
    if complaint.kind == "extra_forbidden":
        known = known_keys(model, complaint.path[:-1])
        return f"there is no field {last!r} here", None, last, known
    if complaint.kind == "missing":
        return "this field is missing", "a value for it", None, []
    if complaint.kind in _LENGTHS:
        words, key = _LENGTHS[complaint.kind]
        return f"got {len(complaint.value)} entries", f"{words} {complaint.context[key]}", None, []
    if complaint.kind == "value_error" or ("Input should" not in complaint.text and complaint.kind not in _KINDS):
        return _own_sentence(complaint), None, None, []
    needed = needed_shapes(model, complaint.path) if complaint.kind == "literal_error" and complaint.path else None
    expected = needed or _KINDS.get(complaint.kind) or _expected(complaint)
    known = re.findall(r"'([^']*)'", str(complaint.context.get("expected", "")))
    return f"got {shown(complaint.value)}", expected, complaint.value, known


def _expected(complaint: _Complaint) -> str:
    for bound, words in _BOUNDS.items():
        if bound in complaint.context:
            value = _DECIMAL.fullmatch(str(complaint.context[bound]))
            return f"{words} {value[1] if value else complaint.context[bound]}"
    return complaint.text.removeprefix("Input should be ")


def _own_sentence(complaint: _Complaint) -> str:
    """Return the validator's own message, followed by the value unless the message quotes the value."""
    value = complaint.value
    quote = shown(value)
    simple = value is not None and not isinstance(value, dict | list | tuple | BaseModel)
    return f"{complaint.text}, got {quote}" if simple and quote not in complaint.text else complaint.text
