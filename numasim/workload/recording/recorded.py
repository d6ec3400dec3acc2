"""The system on which a program was recorded, and how many sizes of accesses are guesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from numasim.frozen import Frozen

MOST_LISTED = 8


class Recorded(Frozen):
    """The system on which a program was recorded; 0 and "" stand for unknown values.

    ``core_steps_per_s`` is the rate of a core: steps per second of a fixed loop. Of ``sizes`` memory accesses,
    ``guessed_sizes`` have a guessed number of bytes: up to the next address that a dependence names, or a grid's tile.
    """

    processor: str = ""
    clock_hz: int = 0
    core_steps_per_s: int = 0
    sizes: int = 0
    guessed_sizes: int = 0

    def document(self) -> dict[str, Any]:
        """Return the known values by field, for the file of a task graph."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name))}

    @property
    def place(self) -> str:
        """The cores of the system in words: ``Intel Xeon, 250.0 million steps per second``."""
        rate = f"{self.core_steps_per_s / 10**6:.1f} million steps per second" if self.core_steps_per_s else ""
        return ", ".join(part for part in (self.processor, rate) if part) or "cores that its file does not name"

    def factor(self, core_steps_per_s: int) -> float | None:
        """Return the factor by which compute times grow on cores of ``core_steps_per_s``; None if a rate is unknown."""
        known = self.core_steps_per_s and core_steps_per_s
        return self.core_steps_per_s / core_steps_per_s if known else None

    def remarks(self, program: str) -> Iterator[str]:
        """Yield sentences that a report of a run of ``program`` shows about the recording."""
        yield f"{program} was recorded on {self.place}"
        yield from self.guesses(program)

    def guesses(self, program: str) -> Iterator[str]:
        """Yield a sentence about guessed sizes, if there are guessed sizes."""
        if self.guessed_sizes:
            partly = "" if self.guessed_sizes == self.sizes else "partly "
            yield (
                f"bytes of {program} are {partly}guesses: {self.guessed_sizes:,} of {self.sizes:,} sizes of accesses "
                "follow from the addresses of dependences"
            )


def scaled_on(program: str, factors: Mapping[str, float | None]) -> Iterator[str]:
    """Yield sentences on how the compute times of ``program`` are scaled, given `Recorded.factor` by machine."""
    known = [f"{factor:.4g} on {name}" for name, factor in factors.items() if factor is not None]
    unknown = [name for name, factor in factors.items() if factor is None]
    if known:
        yield f"compute times of {program} are multiplied by {listed(known)}: by the rates of cores (core_steps_per_s)"
    if unknown:
        yield (
            f"compute times of {program} are not scaled on {listed(unknown)}: cores are taken to be as fast as "
            "those of the recording, since a rate of a core (core_steps_per_s) is not known"
        )


def listed(parts: Sequence[str]) -> str:
    """Return ``parts`` as the text ``a``, ``a and b`` or ``a, b and c``; of more than 9 parts, the first 8."""
    shown = [*parts[:MOST_LISTED], f"{len(parts) - MOST_LISTED:,} more"] if len(parts) > MOST_LISTED + 1 else parts
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)
