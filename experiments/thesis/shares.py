"""Shares that follow from published counts: one column over the sum of several columns, published and simulated.

The table of shares is drawn and printed like any other table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from numasim.reproduce.table_cells import Cell, Table

RATIO = "1"


@dataclass(frozen=True)
class Share:
    """The column ``part`` of ``table`` over the sum of the columns ``wholes``."""

    table: str
    part: str
    wholes: tuple[str, ...]


def share_table(tables: Sequence[Table], shares: Mapping[str, Share], title: str) -> Table:
    """Return a table with a column for each of ``shares``; 0 over 0 has no cell.

    Raise KeyError for a table or a column that ``tables`` do not have.
    """
    known = {table.id: table for table in tables}
    columns = [_column(known[share.table], name, share) for name, share in shares.items()]
    sources = [known[name] for name in dict.fromkeys(share.table for share in shares.values())]
    first = sources[0]
    return Table(
        id=", ".join(source.id for source in sources),
        title=title,
        source="; ".join(source.source for source in sources),
        key_columns=first.key_columns,
        cells=tuple(cell for column in columns for cell in column),
    )


def _column(table: Table, name: str, share: Share) -> list[Cell]:
    at = {(cell.row, cell.column): cell for cell in table.cells}
    parts = [cell for cell in table.cells if cell.column == share.part]
    if not parts:
        raise KeyError(share.part)
    cells = [_divided(part, [at[part.row, whole] for whole in share.wholes], name) for part in parts]
    return [cell for cell in cells if not math.isnan(cell.published)]


def _divided(part: Cell, wholes: Sequence[Cell], name: str) -> Cell:
    samples = zip(part.simulated, *(whole.simulated for whole in wholes), strict=True)
    values = (_ratio(own, math.fsum(others)) for own, *others in samples)
    return replace(
        part,
        column=name,
        quantity="share",
        unit=RATIO,
        score="",
        published=_ratio(part.published, math.fsum(whole.published for whole in wholes)),
        simulated=tuple(value for value in values if not math.isnan(value)),
        baseline="",
        null=None,
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
