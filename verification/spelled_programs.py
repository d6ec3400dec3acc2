"""Write random programs in all equivalent ways, and check that all ways give the same result.

    python verification/spelled_programs.py [--programs 2000] [--first 0] [--strategies 4] [--every-strategy]

Each program is run as a loop, by `repeat`, as phases written out (with separate or shared tasks), as ranges and as
tasks (`tests/engine/spellings.py` says what is compared). Each program runs on every engine under --strategies shipped
strategies that are drawn for the program, and under the first of these strategies also in the task runtime's virtual
time. Program number k is always the same. Exit status 1 if one way takes another time, moves other bytes, or has other
faults or steals.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "engine"))

from spellings import STRATEGIES, random_case  # type: ignore[import-not-found]  # isort: skip

from numasim.runtime.runtime_program import find_program

REPORT_EVERY_S = 10


def main() -> int:
    """Run the programs that the command line asks for. Return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=2000, help="how many programs (default: 2000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--strategies", type=int, default=4, help="strategies of each program (default: 4)")
    parser.add_argument("--every-strategy", action="store_true", help="all shipped strategies for each program")
    told = parser.parse_args()
    program, shown = find_program(), time.monotonic()
    runs, wrong = Counter[str](), Counter[str]()
    for number in range(told.first, told.first + told.programs):
        chance = Random(number)
        case = random_case(chance)
        names = STRATEGIES if told.every_strategy else chance.sample(STRATEGIES, told.strategies)
        for at, name in enumerate(names):
            runs[name] += 1
            for sentence in case.differences(name, None if at else program):
                wrong[name] += 1
                print(f"program {number}: {sentence}", flush=True)
        if time.monotonic() > shown + REPORT_EVERY_S:
            shown = time.monotonic()
            print(f"{number + 1 - told.first} programs, {wrong.total()} differences", file=sys.stderr, flush=True)
    print(f"{told.programs} programs, {len(runs)} of {len(STRATEGIES)} strategies, {runs.total()} pairs of these:")
    print(f"{wrong.total()} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
