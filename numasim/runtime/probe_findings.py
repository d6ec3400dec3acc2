"""The measurements of ``numasim-runtime probe`` on this machine, as records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from numasim.errors import CheckError
from numasim.runtime.runtime_program import answer, find_program

FORMAT = "numasim probe 1"


@dataclass(frozen=True)
class Finding:
    """A median of samples and the interval that covers the true median with 95 %; ``unit`` is ns or GB/s.

    ``source`` and ``target`` are the system's numbers of nodes for memory, of hardware threads otherwise.
    """

    name: str
    unit: str
    median: Decimal
    low: Decimal
    high: Decimal
    samples: int
    discarded: int
    kind: str | None = None
    source: int | None = None
    target: int | None = None

    def interval(self) -> str:
        """Describe the samples and the interval."""
        lost = f", {self.discarded} more disturbed and discarded" if self.discarded else ""
        return f"median of {self.samples} samples{lost}, 95 % interval {short(self.low)} to {short(self.high)}"


@dataclass(frozen=True)
class Gap:
    """What was not measured, and why."""

    name: str
    why: str
    kind: str | None = None

    def __str__(self) -> str:
        """Describe the gap."""
        return f"{self.name}{f' of {self.kind}' if self.kind else ''}: {self.why}"


@dataclass(frozen=True)
class Probe:
    """Everything from one probe."""

    findings: tuple[Finding, ...]
    gaps: tuple[Gap, ...]
    quick: bool

    def all(self, name: str, kind: str | None = None) -> Iterator[Finding]:
        """Yield what was found under that name."""
        return (each for each in self.findings if each.name == name and each.kind == kind)

    def one(self, name: str, kind: str | None = None) -> Finding | None:
        """The first finding of that name, if there is one."""
        return next(self.all(name, kind), None)

    def why_missing(self, name: str) -> str:
        """Why there is no finding of that name."""
        return next((gap.why for gap in self.gaps if gap.name == name), "this version of the program does not know it")


def short(value: Decimal) -> str:
    """A number with three significant digits, or all digits before the point."""
    digits = max(0, 2 - value.adjusted()) if value else 0
    return f"{round(value, digits):f}"


def run_probe(*, quick: bool, cores_alone: bool = False, program: Path | None = None) -> Probe:
    """Measure this machine: seconds, or a minute on many cores; ``cores_alone`` how fast they compute and no more.

    InputError where the runtime is not built.
    """
    options = ["--quick"] * quick + ["--cores"] * cores_alone
    return parse_probe(answer([program or find_program(), "probe", *options]))


def parse_probe(found: Any) -> Probe:
    """The records in the program's answer. CheckError where it has the format of another version."""
    try:
        if found["format"] != FORMAT:
            raise CheckError(f"numasim-runtime answers in the format {found['format']!r}, not {FORMAT!r}")
        findings = tuple(_finding(each) for each in found["findings"])
        gaps = tuple(Gap(each["name"], each["why"], each.get("kind")) for each in found["missing"])
        return Probe(findings, gaps, bool(found["quick"]))
    except (KeyError, TypeError, ArithmeticError) as error:
        raise CheckError(f"numasim-runtime's probe cannot be understood: {type(error).__name__} {error}") from None


def _finding(found: dict[str, Any]) -> Finding:
    median, low, high = (round(Decimal(str(found[key])), 3) for key in ("median", "low", "high"))
    return Finding(
        name=found["name"],
        unit=found["unit"],
        median=median,
        low=low,
        high=high,
        samples=found["samples"],
        discarded=found["discarded"],
        kind=found.get("kind"),
        source=found.get("from"),
        target=found.get("to"),
    )
