"""The base class of machines and strategies as objects of Python, made of fields, files or other objects."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, cast

from numasim.files.writer import write_text
from numasim.html import Html, panel
from numasim.parts import catalog
from numasim.parts.base import Model, canonical_json
from numasim.parts.validation import validate
from numasim.parts.yaml.document import yaml_text
from numasim.parts.yaml.nodes import NO_PLACE, Held, Node, from_python
from numasim.spec.overrides import from_mapping, put_all
from numasim.spec.part_reader import CATALOG, PARTS, PartReader, with_named_functions

M = TypeVar("M", bound=Model)
LONGEST_NAME = 60  # name of an object with changed fields
GIVEN = "given in Python"  # the source of a value
_WORD = re.compile(r"[A-Za-z0-9._+-]{1,20}")


class PartObject(Held, Generic[M]):
    """A machine or strategy that does not change; objects of equal fields are equal."""

    _document: Node
    _spec: M

    def __init__(self, like: Any = None, *, name: str | None = None, **fields: Any) -> None:
        """Make an object of the ``fields`` of a YAML file, as plain data; raise InputError for wrong fields.

        Other fields are as in ``like``, which is an object, a shipped name or a path. Nested mappings are merged with
        the mappings of ``like``; a dotted field such as ``**{"nodes.cores": 8}`` changes one value. The default of
        ``name`` is the name of ``like`` with the changed fields.
        """
        fields = self._in_their_places(fields)
        dotted = {key: value for key, value in fields.items() if not key.isidentifier()}
        whole = {key: value for key, value in fields.items() if key.isidentifier()}
        if like is not None:
            whole = {"like": like, **whole, **self._sources(fields)}
        node = PartReader().expand(self.part, from_python(whole, NO_PLACE))
        changed = put_all(node, from_mapping(dotted))
        if name is None and like is not None and fields:
            base = changed.child("name")
            changes = {key: value for key, value in fields.items() if key != "sources"}
            name = changed_name(str(base.plain()) if base else "custom", changes)
        self._take(changed if name is None else changed.replaced("name", Node(name, NO_PLACE), NO_PLACE))

    @classmethod
    def _in_their_places(cls, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the ``fields`` at their places in the YAML file."""
        return fields

    @classmethod
    def _sources(cls, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the field ``sources`` of an object with ``changes``; an empty result for kinds without this field."""
        if "sources" not in PARTS[cls.part].model_fields:
            return {}
        paths = [path for path, value in _leaves(changes) if not path.startswith("sources") and "[" not in path]
        return {"sources": {**dict.fromkeys(paths, GIVEN), **changes.get("sources", {})}}

    def _take(self, document: Node) -> None:
        """Check the whole mapping ``document``, and keep the document and the checked fields."""
        document = with_named_functions(self.part, document)
        spec = cast(M, validate(PARTS[self.part], document, (self.part,)))
        object.__setattr__(self, "_document", document)
        object.__setattr__(self, "_spec", spec)

    @classmethod
    def _of(cls, document: Node) -> Self:
        made = cls.__new__(cls)
        made._take(document)
        return made

    @classmethod
    def shipped(cls, name: str) -> Self:
        """Return the shipped object called ``name``; raise InputError with the nearest name if there is none."""
        return cls.read(catalog.find(CATALOG[cls.part], name))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return the object in a YAML file; raise InputError with file, line and field for mistakes."""
        text = str(Path(path).absolute())
        return cls._of(PartReader().expand(cls.part, from_python(text, NO_PLACE)))

    def with_(self, *, name: str | None = None, **changes: Any) -> Self:
        """Return a copy with other values of some fields, which are given as to the constructor."""
        return type(self)(like=self, name=name, **changes)

    @property
    def spec(self) -> M:
        """The checked fields."""
        return self._spec

    @property
    def name(self) -> str:
        """Name of the object in tables and figures."""
        return str(getattr(self._spec, "name"))  # noqa: B009  # every part has one, which models in general do not

    @property
    def contents(self) -> str:
        """All fields except name and sources as canonical JSON, for the identity of runs."""
        return self._spec.contents_json

    def specified(self) -> dict[str, Any]:
        """Return the fields as plain data, as in the YAML file; ``like`` is resolved."""
        plain: dict[str, Any] = self._document.plain()
        return {"name": self.name, **{key: value for key, value in plain.items() if key != "name"}}

    def yaml(self) -> str:
        """Return the text of the YAML file."""
        plain = self.specified()
        blocks = [key for key, value in plain.items() if isinstance(value, list) or key in ("sources", "queues")]
        return yaml_text(plain, blocks=[key for key in blocks if plain[key]])

    def save(self, path: str | Path) -> Path:
        """Write the YAML file and return the path; raise InputError if writing fails."""
        return write_text(Path(path), self.yaml())

    def __setattr__(self, field: str, value: Any) -> None:
        """Refuse to change anything."""
        raise AttributeError(f"a {self.part} does not change; with_({field}=...) makes another one")

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same fields, names and sources included."""
        return type(other) is type(self) and self._spec.whole_json == cast(Self, other)._spec.whole_json

    def __hash__(self) -> int:
        """Return the hash of the identity: equal objects have equal hashes."""
        return hash(self._spec.whole_json)

    def __repr__(self) -> str:
        """Return the name and a summary."""
        return f"{type(self).__name__}({self.name!r}: {self._summary()})"

    def _repr_html_(self) -> str:
        return panel(f"{self.name}: {self._summary()}", *self._views())

    @abstractmethod
    def _summary(self) -> str:
        """Return a description of less than a line."""

    @abstractmethod
    def _views(self) -> list[Html]:
        """Return the lines that a notebook shows below the name."""


def changed_name(base: str, changes: Mapping[str, Any]) -> str:
    """Return the name of a part called ``base`` with ``changes`` of fields; different changes give different names."""
    if "name" in changes:
        return str(changes["name"])
    name = "+".join([base, *(_change(key, value) for key, value in _leaves(changes))])
    return name if len(name) <= LONGEST_NAME else f"{base[:LONGEST_NAME]}+{_short_hash(dict(changes))}"


def _leaves(fields: Mapping[Any, Any], above: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in fields.items():
        inner = isinstance(value, Mapping) and value
        found += _leaves(value, f"{above}{key}.") if inner else [(f"{above}{key}", value)]
    return found


def _change(key: str, value: Any) -> str:
    text = str(value)
    said = text if isinstance(value, str | int | float) and _WORD.fullmatch(text) else _short_hash(value)
    return f"{re.sub(r'[^A-Za-z0-9._+-]+', '-', key).strip('-')}-{said}"


def _short_hash(value: Any) -> str:
    text = canonical_json(from_python(value, NO_PLACE).plain())
    return blake2b(text.encode(), digest_size=3).hexdigest()
