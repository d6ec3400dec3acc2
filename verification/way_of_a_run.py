"""Count how often control passes between source files in a second run of a process:
``python verification/way_of_a_run.py``.

A change of file is a call of a function in one file of numasim from a function in another file of numasim. Frames of
libraries in between are skipped: if a function of numasim validates by pydantic, the validators count as called by this
function.

The first line has the number of changes and of files, the other lines the busiest pairs of files.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import numasim as ns

MOST = 400  # the most changes of file before the command fails
ROOT = f"{Path(ns.__file__).resolve().parent}/"
SPECIFICATION = {
    "machine": "xeon-x7560-4s",
    "workload": {"name": "fib", "n": 20},
    "strategy": "topology-aware",
    "workers": 24,
}


def changes_of_file(specification: dict[str, Any]) -> Counter[tuple[str, str]]:
    """Return how often a second run of ``specification`` calls from one file of numasim into another."""
    pairs: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        called = frame.f_code.co_filename
        if event != "call" or not called.startswith(ROOT):
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(ROOT):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != called:
            pairs[caller.f_code.co_filename.removeprefix(ROOT), called.removeprefix(ROOT)] += 1

    ns.run(specification)
    sys.setprofile(note)
    try:
        ns.run(specification)
    finally:
        sys.setprofile(None)
    return pairs


def main() -> int:
    """Print the number of changes and the busiest pairs. Return status 1 if there are more changes than `MOST`."""
    pairs = changes_of_file(SPECIFICATION)
    changes, files = pairs.total(), {file for pair in pairs for file in pair}
    print(f"{changes} changes of file (at most {MOST}) among {len(files)} files")
    for (caller, called), count in pairs.most_common(12):
        print(f"{count:6}  {caller} -> {called}")
    return 1 if changes > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
