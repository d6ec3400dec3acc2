"""A base of frozen dataclasses that saves time at import: `dataclass` takes half a millisecond to compile a class's
methods; here all classes share the methods of the base.
"""

from __future__ import annotations

from collections.abc import Callable
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
    _defaults: ClassVar[dict[str, Callable[[], Any]]]
    _values: ClassVar[attrgetter[Any]]

    def __init_subclass__(cls, eq: bool = True) -> None:
        """Make the subclass a dataclass without methods of its own."""
        super().__init_subclass__()
        dataclass(init=False, repr=False, eq=False)(cls)
        made = fields(cls)
        cls._defaults = {each.name: _default(each) for each in made if each.default is not each.default_factory}
        cls._values = attrgetter(*(each.name for each in made if each.compare))
        if not eq:
            cls.__eq__, cls.__hash__ = object.__eq__, object.__hash__  # type: ignore[method-assign]

    def __init__(self, *given: Any, **named: Any) -> None:
        values, names = self.__dict__, self.__match_args__
        values.update(zip(names, given, strict=False), **named)
        if named or len(given) != len(names):
            once = len(values) == len(given) + len(named)
            left = [name for name in names if name not in values]
            values.update((name, self._defaults[name]()) for name in left if name in self._defaults)
            if not once or values.keys() != {*names}:
                raise TypeError(f"{type(self).__qualname__} takes {', '.join(names)}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return self._values(self) == self._values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values(self))

    def __repr__(self) -> str:
        values = (f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__qualname__}({', '.join(values)})"


def _default(of: Field[Any]) -> Callable[[], Any]:
    return of.default_factory if of.default is MISSING else lambda: of.default  # type: ignore[return-value]
