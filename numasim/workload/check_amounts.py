"""The rules of amounts of range items (model 3.5)."""

from __future__ import annotations

import numpy as np

from numasim.errors import InputError
from numasim.workload.amounts import Amounts

Path = tuple[str | int, ...]
MOST_TOGETHER = 2**62


def check_amounts(amounts: Amounts, count: int, most: int, path: Path) -> None:
    """An `InputError` for amounts that are not those of ``count`` items, too large, or too many together."""
    if len(amounts.items) not in (0, count) or not (len(amounts.items) or len(amounts.weight)):
        raise InputError(f"there are {len(amounts.items)} numbers", path=path, expected=f"{count}, one for each item")
    if amounts.least < 0 or amounts.most > most:
        wrong = amounts.least if amounts.least < 0 else amounts.most
        key, numbers = ("items", amounts.items) if len(amounts.items) else ("high", amounts.high)
        place = np.flatnonzero(numbers == wrong)[:1].tolist()
        raise InputError(f"the amount is {wrong}", path=(*path, key, *place), expected=f"0 to {most}")
    if amounts.most_of(count) > MOST_TOGETHER:
        what = "the amounts add up to" if len(amounts.items) else f"{count} items of the highest amount add up to"
        raise InputError(f"{what} {amounts.most_of(count):,}", path=path, expected=f"at most {MOST_TOGETHER:,}")
