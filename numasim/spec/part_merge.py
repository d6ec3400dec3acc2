"""How ``like`` merges two mappings of a part: the upper mapping is laid over the lower, key by key, level by level.

A part is a machine, strategy or runtime; with ``like: NAME`` its mapping (upper) changes the one of NAME (lower).
A value of the upper mapping replaces the value of the lower mapping, unless both are mappings with fields: two mappings
with fields are merged in the same way. Fields that the lower mapping leaves out count as if their defaults were
written. A word that names a kind stands for the mapping with this kind: ``placement: interleave`` is ``placement:
{policy: interleave}``. Replaced as wholes are

- lists and other words: ``steal``, ``dispatch``, ``turbo``, ``amount: half``, ``links: ring`` over a list of links;
- collections whose keys the file chooses: ``queues``.

A field of the lower mapping that means nothing beside the fields of the upper mapping is dropped; other fields stay.
Examples are ``batch`` of ``locks: {kind: cohort, batch: 8, home: owner}`` under ``locks: {kind: mutex}``, ``count`` of
an amount under ``amount: {share: 2}``, and ``routes`` if ``links`` change. Sources are merged, too; the source of a
changed value is dropped.
"""

from __future__ import annotations

from numasim.parts.base import Model
from numasim.parts.choices import models_of, spelled
from numasim.parts.yaml.nodes import Key, Node, Place, from_python

SOURCES = "sources"


def laid_over(base: Node, top: Node, model: type[Model]) -> Node:
    """Return the mapping ``top`` laid over the mapping ``base``, both of ``model``, perhaps without needed fields."""
    merged, changed = _merged(base, top.without(SOURCES), model)
    sources = _sources(base.child(SOURCES), top.child(SOURCES), changed)
    if sources is None or SOURCES not in spelled(model):
        return merged
    return merged.replaced(SOURCES, sources, top.keys.get(SOURCES, sources.place))


def field_model(model: type[Model], key: Key) -> type[Model] | None:
    """Return the model of mappings in the field ``key``; None if they can be of several models, or of none."""
    annotation = spelled(model).get(str(key))
    models = models_of(annotation) if annotation is not None else []
    return models[0] if len(models) == 1 and issubclass(models[0], Model) else None


def _merged(base: Node, top: Node, model: type[Model], above: str = "") -> tuple[Node, set[str]]:
    """Return (``top`` laid over ``base``, the dotted paths of the values of ``base`` that change or are dropped)."""
    content, changed = dict(base.mapping()), set()
    for key in _without_meaning(base, top, model):
        del content[key]
        changed.add(f"{above}{key}")
    for key, value in top.mapping().items():
        below = content.get(key) or _default(model, key, value.place)
        inner = field_model(model, key)
        pair = _as_mappings(below, value, inner) if below and inner else None
        if pair and inner:
            content[key], inside = _merged(*pair, inner, f"{above}{key}.")
            changed |= inside
        else:
            content[key] = value
            if below is None or below.plain() != value.plain():
                changed.add(f"{above}{key}")
    for field, others in model.goes_with.items():
        if field in content and top.child(field) is None and changed.intersection(f"{above}{each}" for each in others):
            del content[field]
            changed.add(f"{above}{field}")
    return Node(content, top.place, {**base.keys, **top.keys}), changed


def _without_meaning(base: Node, top: Node, model: type[Model]) -> list[Key]:
    """Return the keys of ``base`` that mean nothing for the kind of ``top``."""
    kind = model.kind_of(top.plain())
    if kind is None or kind == (model.kind_of(base.plain()) or model.default_kind()):
        return []
    return [key for key in base.mapping() if key not in top.mapping() and not model.has_meaning(str(key), kind)]


def _default(model: type[Model], key: Key, place: Place) -> Node | None:
    """Return the default of the field ``key``, if the default is a mapping."""
    field = next((field for name, field in model.model_fields.items() if (field.alias or name) == key), None)
    if field is None or not isinstance(field.default, Model):
        return None
    given = {name: getattr(field.default, name) for name in field.default.model_fields_set}
    return from_python(given, place)


def _as_mappings(base: Node, top: Node, model: type[Model]) -> tuple[Node, Node] | None:
    """Return both values as mappings of ``model``, or None unless each is a mapping or a word for a mapping."""
    if not any(isinstance(each.content, dict) for each in (base, top)):
        return None
    lower, upper = _spelled_out(base, model), _spelled_out(top, model)
    both = isinstance(lower.content, dict) and isinstance(upper.content, dict)
    return (lower, upper) if both else None


def _spelled_out(node: Node, model: type[Model]) -> Node:
    key = model.kind_key
    if key is None or not isinstance(node.content, str) or node.content not in model.kind_words:
        return node
    return Node({key: node}, node.place, {key: node.place})


def _sources(base: Node | None, top: Node | None, changed: set[str]) -> Node | None:
    """Return the sources of both mappings, without the lower mapping's sources for fields that have ``changed``."""
    if base is None or not isinstance(base.content, dict) or (top is not None and not isinstance(top.content, dict)):
        return top or base
    kept = base.without(*(str(field) for field in base.mapping() if _is_touched(str(field), changed)))
    return kept if top is None else Node({**kept.mapping(), **top.mapping()}, top.place, {**kept.keys, **top.keys})


def _is_touched(field: str, changed: set[str]) -> bool:
    return any(field == path or field.startswith(f"{path}.") or path.startswith(f"{field}.") for path in changed)
