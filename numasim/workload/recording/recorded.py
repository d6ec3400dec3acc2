"""What a recorded program says of its recording: on which cores, and which of its sizes are guesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

MOST_LISTED = 8


@dataclass(frozen=True)
class Recorded:
    """Where a program was recorded; 0 and "" where that is not known.

    ``core_steps_per_s`` is the rate of a core as in machine files. Of ``sizes`` of accesses ``guessed_sizes`` are not
    what the program says: they reach to the next address that a dependence names, or are those of a grid of tiles.
    """

    processor: str = ""
    clock_hz: int = 0
    core_steps_per_s: int = 0
    sizes: int = 0
    guessed_sizes: int = 0

    def document(self) -> dict[str, Any]:
        """What a graph's file says of it: the fields that are known."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name))}

    @property
    def place(self) -> str:
        """The cores, in words: ``Intel Xeon, 250.0 million steps per second``."""
        rate = f"{self.core_steps_per_s / 10**6:.1f} million steps per second" if self.core_steps_per_s else ""
        return ", ".join(part for part in (self.processor, rate) if part) or "cores that its file does not name"

    def factor(self, core_steps_per_s: int) -> float | None:
        """What compute times are multiplied by on cores of that rate; None where a rate is not known."""
        known = self.core_steps_per_s and core_steps_per_s
        return self.core_steps_per_s / core_steps_per_s if known else None

    def remarks(self, program: str) -> Iterator[str]:
        """What a reader of a run of ``program`` should know of the recording."""
        yield f"{program} was recorded on {self.place}"
        yield from self.guesses(program)

    def guesses(self, program: str) -> Iterator[str]:
        """A sentence about the sizes that are guessed, if there are any."""
        if self.guessed_sizes:
            partly = "" if self.guessed_sizes == self.sizes else "partly "
            yield (
                f"bytes of {program} are {partly}guesses: {self.guessed_sizes:,} of {self.sizes:,} sizes of accesses "
                "follow from the addresses of dependences"
            )


def scaled_on(program: str, factors: Mapping[str, float | None]) -> Iterator[str]:
    """By what the compute times of a recorded program are multiplied on each of some machines, and where they are not.

    ``factors`` has `Recorded.factor` by the name of the machine.
    """
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
    """``a``, ``a and b``, ``a, b and c``; of many the first ones."""
    shown = [*parts[:MOST_LISTED], f"{len(parts) - MOST_LISTED:,} more"] if len(parts) > MOST_LISTED + 1 else parts
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)
