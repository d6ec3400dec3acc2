"""The errors that numasim raises. The text of each is one sentence that names the place, the value and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")
MOST_TOLD = 20  # most mistakes in one message
MOST_ALIKE = 5  # names; of so many most similar ones, the one with the longest common beginning is proposed
_PLACE = re.compile(r"(.*):(\d+):(\d+)", re.DOTALL)


class NumasimError(Exception):
    """Base of every error that numasim raises on purpose."""


class CheckError(NumasimError):
    """A result breaks an invariant of the model: a defect of numasim, never of the input."""


class Interrupted(NumasimError):  # noqa: N818  # nothing went wrong
    """The user interrupted a command; the text of the error says which results are kept."""

    def __init__(self, interrupt: KeyboardInterrupt) -> None:
        """Take the sentence that the innermost block of `when_interrupted` has added to ``interrupt``, if any."""
        notes: list[str] = getattr(interrupt, "__notes__", [])
        super().__init__(f"interrupted: {notes[0] if notes else 'the same command begins anew'}")


@contextmanager
def when_interrupted(kept: Callable[[], str]) -> Iterator[None]:
    """If an interrupt leaves the block, add the sentence that ``kept`` returns; it says which results are kept."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(kept())
        raise


class InputError(NumasimError):
    """Bad input: the text has the place, the field, the given value and the valid values.

    ``path`` locates the field inside the document (keys and indices). The text of ``place`` is ``file:line:column``,
    or empty if the input has no file.
    """

    cut = False  # whether the document has more mistakes that no error reports

    def __init__(
        self,
        problem: str,
        *,
        path: tuple[str | int, ...] = (),
        place: object = None,
        expected: str | None = None,
        value: object = None,
        known: Collection[str] = (),
    ) -> None:
        """Keep the parts of the message; of the valid names ``known`` it proposes the nearest to ``value``.

        Without ``expected``, the message lists ``known`` as the valid values.
        """
        if expected is None and known:
            expected = f"one of {', '.join(known)}"
        self.problem = problem
        self.path = path
        self.place = (str(place) or None) if place is not None else None
        self.expected = expected
        self.nearest = nearest_name(value, known)
        super().__init__(problem)

    @property
    def each(self) -> tuple[InputError, ...]:
        """Return the mistakes that the error reports: for an error about one mistake, the error itself."""
        return (self,)

    def with_(self, **parts: Any) -> InputError:
        """Return a copy of this error with other ``parts`` of the message, such as ``problem`` or ``place``."""
        changed = copy(self)
        vars(changed).update(parts)
        return changed

    def __repr__(self) -> str:
        """Return the known parts of the error: problem, field, place, valid values."""
        parts = {"path": dotted(self.path), "place": self.place, "expected": self.expected, "nearest": self.nearest}
        known = [f"{name}={part!r}" for name, part in parts.items() if part]
        return f"{type(self).__name__}({', '.join([repr(self.problem), *known])})"

    def __str__(self) -> str:
        """Return ``place: field: problem; expected ...; did you mean 'x'?``."""
        head = ": ".join(dict.fromkeys(part for part in (self.place, dotted(self.path)) if part))  # equal parts once
        tail = [self.problem]
        if self.expected:
            tail.append(f"expected {self.expected}")
        if self.nearest:
            tail.append(f"did you mean {self.nearest!r}?")
        return (head + ": " if head else "") + "; ".join(tail)


class JointInputError(InputError):
    """Several mistakes that do not depend on each other: a line for each, the mistakes of a file in the file's order.

    The parts, such as ``problem``, are those of the first mistake.
    """

    def __init__(self, errors: Sequence[InputError], cut: bool = False) -> None:
        """Keep ``errors``, at least one, in this order; ``cut``: there are more mistakes, which are not counted."""
        first = errors[0]
        super().__init__(first.problem, path=first.path, place=first.place, expected=first.expected)
        self.nearest = first.nearest
        self.cut = cut
        self._each = tuple(errors)

    @property
    def each(self) -> tuple[InputError, ...]:
        """Return all mistakes, including the mistakes that the text leaves out."""
        return self._each

    def __str__(self) -> str:
        """Return one line for each of the first twenty mistakes, and the number of further mistakes."""
        lines = [str(each) for each in self._each[:MOST_TOLD]]
        more = len(self._each) - MOST_TOLD
        if more > 0 or self.cut:
            lines.append("and many more" if self.cut else f"and {more} more")
        return "\n".join(lines)


def together(errors: Iterable[InputError], cut: bool = False) -> InputError:
    """Return one error for all of ``errors``, at least one: equal errors once, errors of a file in the file's order."""
    errors = list(errors)
    cut = cut or any(error.cut for error in errors)
    each = list({str(single): single for error in errors for single in error.each}.values())
    files = list(dict.fromkeys(_position(single)[0] for single in each))
    each.sort(key=lambda single: (files.index(_position(single)[0]), *_position(single)[1:]))
    return JointInputError(each, cut) if len(each) > 1 else each[0]


def _position(error: InputError) -> tuple[str, int, int]:
    found = _PLACE.fullmatch(error.place or "")
    return (found[1], int(found[2]), int(found[3])) if found else (error.place or "", 0, 0)


def for_each(items: Iterable[Item], make: Callable[[Item], Made]) -> list[Made]:
    """Return the result of ``make`` for each of ``items``; InputError with the mistakes of all items together."""
    made, mistakes = [], []
    for item in items:
        try:
            made.append(make(item))
        except InputError as error:
            mistakes.append(error)
    if mistakes:
        raise together(mistakes) from None
    return made


def dotted(path: tuple[str | int, ...]) -> str:
    """Return a field path as text: ``links[0].from`` for ``('links', 0, 'from')``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def nearest_name(value: object, known: Iterable[str]) -> str | None:
    """Return the valid name that is most similar to ``value``, or None if no name is similar.

    Of several similar names, the name that shares the longest beginning with ``value`` is returned.
    """
    if not isinstance(value, str):
        return None
    import difflib

    def likeness(name: str) -> tuple[float, int]:
        alike = [one == other for one, other in zip(name, value, strict=False)]
        return difflib.SequenceMatcher(None, name, value).ratio(), [*alike, False].index(False)

    found = difflib.get_close_matches(value, [str(name) for name in known], n=MOST_ALIKE, cutoff=0.5)
    return max(found, key=likeness, default=None)
