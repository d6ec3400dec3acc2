"""What the user says about a file that the file does not say itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Self

from numasim.errors import InputError
from numasim.workload.imports.time_units import time_ps


@dataclass(frozen=True)
class Choices:
    """The unit of the file's times, the time of tasks without one, which attributes say costs and bytes, whether the
    memory of files is part of the graph, and the times of tasks by their name, label or kernel in ps.
    """

    unit_ps: Decimal | None = None
    usual_ps: Decimal | None = None
    cost: str | None = None
    bytes: str | None = None
    memory: bool = True
    times: Mapping[str, Decimal] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        unit: str | None = None,
        usual: str | None = None,
        cost: str | None = None,
        bytes: str | None = None,
        memory: bool = True,
        times: Iterable[str] = (),
    ) -> Self:
        """The choices of options; times are texts such as ``1us``, ``times`` such as ``potrf=1us``."""
        unit_ps = None if unit is None else time_ps(unit, "--unit")
        usual_ps = None if usual is None else time_ps(usual, "--usual", least=0)
        return cls(unit_ps, usual_ps, cost, bytes, memory, dict(map(_named_time, times)))

    def refuse_all(self, path: str, reason: str) -> None:
        """InputError where anything was chosen about a file that leaves nothing open."""
        options = {"--unit": self.unit_ps, "--usual": self.usual_ps, "--cost": self.cost, "--bytes": self.bytes}
        for option, given in options.items():
            if given is not None:
                raise InputError(f"{option} is given, and {reason}", place=path, expected=f"no {option}")
        if self.times:
            raise InputError(f"--time is given, and {reason}", place=path, expected="no --time")
        if not self.memory:
            raise InputError(f"--no-memory is given, and {reason}", place=path, expected="no --no-memory")


def _named_time(text: str) -> tuple[str, Decimal]:
    """The name and the time of an option such as ``potrf=1us``."""
    name, sign, time = text.rpartition("=")
    if not (name and sign):
        raise InputError(f"--time is {text!r}", expected="the name, label or kernel of tasks and a time: potrf=1us")
    return name, time_ps(time, f"--time {name}", least=0)
