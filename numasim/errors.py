"""The errors that numasim raises: one sentence each, which names the place, the value and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager


class NumasimError(Exception):
    """Base of every error that numasim raises on purpose."""


class CheckError(NumasimError):
    """A result breaks an invariant of the model: a defect of numasim, never of the input."""


class Interrupted(NumasimError):  # noqa: N818  # nothing went wrong
    """The user ended a command: the text says what is kept."""

    def __init__(self, interrupt: KeyboardInterrupt) -> None:
        """Say what is kept in the words of the innermost `when_interrupted` that ``interrupt`` went through."""
        notes: list[str] = getattr(interrupt, "__notes__", [])
        super().__init__(f"interrupted: {notes[0] if notes else 'the same command begins anew'}")


@contextmanager
def when_interrupted(kept: Callable[[], str]) -> Iterator[None]:
    """Let an interrupt carry the sentence of ``kept``: what is kept, and how to go on."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(kept())
        raise


class InputError(NumasimError):
    """Bad input: the text says where, which field, what was given and what would be right.

    ``path`` locates the field inside the document (keys and indices); ``place`` is ``file:line:column`` once known.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: tuple[str | int, ...] = (),
        place: str | None = None,
        expected: str | None = None,
        value: object = None,
        known: Iterable[str] = (),
    ) -> None:
        """Keep the parts; ``known`` are the valid names, from which the nearest to ``value`` is proposed."""
        self.problem = problem
        self.path = path
        self.place = place
        self.expected = expected
        self.nearest = nearest_name(value, known)
        super().__init__(problem)

    def __str__(self) -> str:
        """``place: field: problem; expected ...; did you mean 'x'?``."""
        head = ": ".join(part for part in (self.place, dotted(self.path)) if part)
        tail = [self.problem]
        if self.expected:
            tail.append(f"expected {self.expected}")
        if self.nearest:
            tail.append(f"did you mean {self.nearest!r}?")
        return (head + ": " if head else "") + "; ".join(tail)


def dotted(path: tuple[str | int, ...]) -> str:
    """A field path as text: ``('links', 0, 'from')`` is ``links[0].from``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def nearest_name(value: object, known: Iterable[str]) -> str | None:
    """The valid name most similar to ``value``, or None when none is close."""
    if not isinstance(value, str):
        return None
    found = difflib.get_close_matches(value, [str(name) for name in known], n=1, cutoff=0.5)
    return found[0] if found else None
