"""What ``like`` does: the mapping of a part with that of another laid over it, key by key and level by level.

A value of the upper mapping replaces that of the lower, except where both are mappings with fields of their own: these
are merged likewise. Replaced as wholes are therefore

- lists and names: ``steal``, ``dispatch``, ``turbo``, ``links: ring`` over a list of links;
- collections whose keys the file chooses: ``queues``;
- mappings that say what kind of thing they are, where they say another kind: ``locks: {kind: mutex}`` over locks of
  ``kind: cohort``, whose other keys would mean nothing to a mutex;
- mappings of alternatives, of which only one may be given: ``amount: {share: 2}`` over ``{count: 16}``.

A field that means nothing without another goes when that is replaced: ``routes`` where ``links`` are others. Sources
are merged, too; that of a field which is replaced goes with what it was the source of.
"""

from __future__ import annotations

from collections.abc import Iterator

from numasim.parts.base import Model
from numasim.parts.keys import models_of, spelled
from numasim.parts.yaml.nodes import Key, Node

SOURCES = "sources"


def laid_over(base: Node, top: Node, model: type[Model]) -> Node:
    """Return the mapping ``top`` laid over ``base``, which both describe a ``model`` in part."""
    replaced = set(_replaced(base, top.without(SOURCES), model))
    lost = {field for field, of in model.goes_with.items() if of in replaced and top.child(field) is None}
    content = {key: value for key, value in base.mapping().items() if key not in lost}
    for key, value in top.mapping().items():
        content[key] = _value(content.get(key), value, field_model(model, key))
    if SOURCES in base.mapping() and SOURCES in spelled(model):
        content[SOURCES] = _sources(base, top, replaced | lost)
    return Node(content, top.place, {**base.keys, **top.keys})


def field_model(model: type[Model], key: Key) -> type[Model] | None:
    """The model of a field's value in the form of a mapping, if it has exactly one."""
    annotation = spelled(model).get(str(key))
    models = models_of(annotation) if annotation is not None else []
    return models[0] if len(models) == 1 and issubclass(models[0], Model) else None


def _value(base: Node | None, top: Node, model: type[Model] | None) -> Node:
    if base is None or model is None or not _are_merged(base, top, model):
        return top
    return laid_over(base, top, model)


def _are_merged(base: Node, top: Node, model: type[Model]) -> bool:
    return _is_mapping(base) and _is_mapping(top) and not _stands_alone(base, top, model)


def _replaced(base: Node, top: Node, model: type[Model], above: str = "") -> Iterator[str]:
    """The dotted paths of the values of ``top`` that are not merged with one of ``base``."""
    for key, value in top.mapping().items():
        below, inner = base.child(key), field_model(model, key)
        if below is not None and inner is not None and _are_merged(below, value, inner):
            yield from _replaced(below, value, inner, f"{above}{key}.")
        else:
            yield f"{above}{key}"


def _is_mapping(node: Node) -> bool:
    return isinstance(node.content, dict)


def _stands_alone(base: Node, top: Node, model: type[Model]) -> bool:
    """Whether the value of the upper mapping replaces that of the lower: it is of another kind, or an alternative."""
    if model.kind_key is None:
        return model.has_alternatives
    kinds = [node.child(model.kind_key) for node in (base, top)]
    return kinds[1] is not None and (kinds[0] is None or kinds[0].plain() != kinds[1].plain())


def _sources(base: Node, top: Node, replaced: set[str]) -> Node:
    """The sources of both; without those of the lower mapping for fields of which anything is ``replaced``."""
    own = top.child(SOURCES)
    below = base.mapping()[SOURCES]
    if not _is_mapping(below) or (own is not None and not _is_mapping(own)):
        return own or below
    kept = below.without(*(str(field) for field in below.mapping() if _is_touched(str(field), replaced)))
    return Node(
        {**kept.mapping(), **(own.mapping() if own else {})}, (own or below).place, {**kept.keys, **(own or kept).keys}
    )


def _is_touched(field: str, replaced: set[str]) -> bool:
    return any(field == path or field.startswith(f"{path}.") or path.startswith(f"{field}.") for path in replaced)
