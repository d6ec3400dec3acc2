"""Check the printed counts of published values by role against the CSV files that `numasim reproduce` wrote.

    python verification/counts_by_role.py results/skelaff [results/home ...]

A cell counts if it has a published value, and, unless its role is input, a simulated value. Prints the counts of each
report, and ends with status 1 if the page or the Markdown report prints other counts.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from pathlib import Path

PRINTED = {
    "input": r"input: ([\d,]+) published values?",
    "fitted": r"fitted: [\d,]+ parameters?, to ([\d,]+) published values?",
    "predicted": r"predicted: ([\d,]+) published values?",
}


def counted(folder: Path) -> Counter[str]:
    """Return the number of published values of each role in ``folder/tables/*.csv``."""
    found: Counter[str] = Counter()
    for path in (folder / "tables").glob("*.csv"):
        with path.open(newline="") as lines:
            rows = csv.DictReader(lines)
            known = (row for row in rows if row["published"] and (row["simulated"] or row["role"] == "input"))
            found.update(row["role"] for row in known)
    return found


def printed(path: Path) -> dict[str, int | None]:
    """Return the counts by role that a report prints; None for a count that the report does not print."""
    places = {role: re.search(pattern, path.read_text()) for role, pattern in PRINTED.items()}
    return {role: int(place[1].replace(",", "")) if place else None for role, place in places.items()}


def main(folders: list[str]) -> int:
    """Return 0 if every report prints the counts of its CSV files, otherwise 1."""
    wrong = 0
    for folder in map(Path, folders):
        found = counted(folder)
        counts = {role: found[role] for role in PRINTED}
        print(f"{folder.name}: {', '.join(f'{role} {count}' for role, count in counts.items())}")
        for path in (folder / "index.html", folder / "report.md"):
            if (said := printed(path)) != counts:
                wrong = 1
                print(f"  {path.name} prints {said}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
