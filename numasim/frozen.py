"""Frozen dataclasses that are made quickly: `dataclass` compiles six methods for each class, in half a millisecond."""

from __future__ import annotations

from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, ClassVar, NoReturn, dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Frozen:
    """The base of frozen dataclasses that share its methods; with ``eq=False`` an object is equal only to itself.

    A subclass has at least one field; `dataclasses.fields`, `replace` and `asdict` take its objects.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __match_args__: ClassVar[tuple[str, ...]]  # the names of the fields
    _defaults: ClassVar[dict[str, Any]]
    _factories: ClassVar[dict[str, Any]]
    _values: ClassVar[attrgetter[Any]]

    def __init_subclass__(cls, eq: bool = True) -> None:
        """Make the subclass a dataclass without methods of its own."""
        super().__init_subclass__()
        dataclass(init=False, repr=False, eq=False)(cls)
        made = fields(cls)
        cls._defaults = {each.name: each.default for each in made if each.default is not MISSING}
        cls._factories = {each.name: each.default_factory for each in made if each.default_factory is not MISSING}
        cls._values = attrgetter(*(each.name for each in made if each.compare))
        if not eq:
            cls.__eq__, cls.__hash__ = object.__eq__, object.__hash__  # type: ignore[method-assign]

    def __init__(self, *given: Any, **named: Any) -> None:
        names = self.__match_args__
        values = {**self._defaults, **dict(zip(names, given, strict=False)), **named}
        values |= {name: make() for name, make in self._factories.items() if name not in values}
        if values.keys() != {*names} or len(given) > len(names) or not named.keys().isdisjoint(names[: len(given)]):
            raise TypeError(f"{type(self).__qualname__} takes {', '.join(names)}")
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return self._values(self) == self._values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values(self))

    def __repr__(self) -> str:
        return (
            f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__match_args__)})"
        )
