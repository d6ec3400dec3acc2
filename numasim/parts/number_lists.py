"""Lists of numbers as the Linux kernel writes them, such as ``0-3,8``."""

from __future__ import annotations

from collections.abc import Iterable

from numasim.files.whole_numbers import whole_number

MOST_PROCESSORS = 65_536  # of one system; Linux itself is built for 8,192 at most


def number_list(text: str) -> frozenset[int]:
    """The numbers of a list as the kernel writes it: ``0-3,8``.

    ValueError for anything else, and for a number that is not below `MOST_PROCESSORS`.
    """
    bits = 0
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, dash, last = part.partition("-")
        low, high = whole_number(first), whole_number(last if dash else first)
        if not 0 <= low <= high < MOST_PROCESSORS:
            raise ValueError(f"{part} is no range of processors")
        bits |= (1 << high + 1) - (1 << low)
    return frozenset(number for number in range(bits.bit_length()) if bits >> number & 1)


def as_list(numbers: Iterable[int]) -> str:
    """Numbers as the kernel writes them."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
