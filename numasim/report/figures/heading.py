"""What all panels of a figure have in common, in its heading: machine, program, strategy, and what its bands are."""

from __future__ import annotations

import pandas as pd

from numasim.report.answers.statistics import interval_name
from numasim.report.chosen_axes import ChosenAxes, varying_columns
from numasim.report.comparison_cells import cell_columns, groups, label

MOST_NAMED = 3  # machines; more of them are counted


def common_heading(runs: pd.DataFrame) -> str:
    """Name the machine, and whatever else is equal in all ``runs``: ``xeon-e5-2620-2s, strassen n=1024, 24 workers``.

    Machines that differ are all named where they are few, else counted.
    """
    varying = varying_columns(runs)
    texts = [_machines(runs)]
    for name in cell_columns(runs):
        if name not in varying and name != "machine":
            texts.append(label([name], [runs[name].iloc[0]]))
    return ", ".join(filter(None, texts))


def intervals_heading(runs: pd.DataFrame, chosen: ChosenAxes) -> str:
    """Return `common_heading` and, behind it, of how many repeats the intervals are."""
    columns = list(dict.fromkeys((chosen.x, *chosen.colour, *chosen.facet)))
    counts = sorted({len(rows) for _, rows in groups(runs, columns)})
    if counts[-1] == 1:
        return f"{common_heading(runs)}; one run of each, no intervals"
    repeats = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    fewest = min(count for count in counts if count > 1)
    return f"{common_heading(runs)}; medians of {repeats} repeats with {interval_name(fewest)}"


def _machines(runs: pd.DataFrame) -> str:
    names = [str(name) for name in runs["machine"].drop_duplicates()]
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} machines"
