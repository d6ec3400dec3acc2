"""Lists of numbers as the Linux kernel writes them, such as ``0-3,8``."""

from __future__ import annotations

from collections.abc import Iterable

MOST = 2**20  # more than any system has processors


def number_list(text: str) -> frozenset[int]:
    """The numbers of a list as the kernel writes it: ``0-3,8``. ValueError for anything else."""
    numbers: set[int] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, dash, last = (each.strip() for each in part.partition("-"))
        low, high = int(first), int(last if dash else first)
        if not low <= high < MOST:
            raise ValueError(f"{part} is no range of numbers below {MOST}")
        numbers.update(range(low, high + 1))
    return frozenset(numbers)


def as_list(numbers: Iterable[int]) -> str:
    """Numbers as the kernel writes them."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
