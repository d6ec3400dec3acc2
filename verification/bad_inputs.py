"""Run every bad input of the tests in a process of its own, and measure the process.

    python verification/bad_inputs.py [WORDS] [--jobs 2]    # all bad inputs, or those with WORDS in their names

Each process must end with status 2 and one line on standard error (about twenty lines for very many mistakes), without
a traceback, within 2 s of processor time and 500 MB of memory, and must leave its folder unchanged. The last line of
the output has the number of bad inputs, and the largest time and memory of a process.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "bad_inputs"))

from test_bad_inputs import EVERY, is_one_message  # isort: skip

MOST_SECONDS, MOST_MB = 2.0, 500.0
LIMIT_SECONDS, LIMIT_BYTES = 60, 8 * 2**30  # limits at which a process is stopped, so that one defect does not stop all


@dataclass(frozen=True)
class Measured:
    """The faults of one bad input, and the time and memory that its command took."""

    name: str
    faults: tuple[str, ...]
    seconds: float
    peak_mb: float


def measured(name: str, command: Sequence[str], make: Any, says: Sequence[str]) -> Measured:
    """Run one bad input, and return its faults, time and memory."""
    with TemporaryDirectory(prefix="numasim-bad-") as scratch:
        folder = Path(scratch) / "here"
        folder.mkdir()
        make(folder)
        before = sorted(folder.rglob("*"))
        status, out, err, usage = ended([sys.executable, "-m", "numasim", *command], folder, Path(scratch))
        seconds, peak_mb = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        claims = {
            f"status {status}": status == 2,
            f"standard output: {out[:200]}": not out,
            f"not one message: {err[-300:]}": is_one_message(err),
            f"lacks {[text for text in says if text not in err]}: {err[:300]}": all(text in err for text in says),
            "files were made": sorted(folder.rglob("*")) == before,
            f"{seconds:.1f} s": seconds <= MOST_SECONDS,
            f"{peak_mb:.0f} MB": peak_mb <= MOST_MB,
        }
    return Measured(name, tuple(claim for claim, holds in claims.items() if not holds), seconds, peak_mb)


def ended(command: list[str], folder: Path, scratch: Path) -> tuple[int, str, str, resource.struct_rusage]:
    """Run a command to its end. Return its status, standard output, standard error and resource usage."""
    out, err = scratch / "out", scratch / "err"
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    with out.open("wb") as output, err.open("wb") as errors:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors
        )
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (LIMIT_SECONDS, LIMIT_SECONDS))
        resource.prlimit(process.pid, resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, out.read_text(errors="replace"), err.read_text(errors="replace"), usage


def main() -> int:
    """Run the bad inputs, name those with faults, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="?", default="")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    each = [(bad.name, bad.command, bad.make, bad.says) for bad in EVERY]
    chosen = [one for one in each if given.words in one[0]]
    with ThreadPoolExecutor(given.jobs) as pool:
        found = list(pool.map(lambda one: measured(*one), chosen))
    for bad in found:
        for fault in bad.faults:
            print(f"{bad.name}: {fault}")
    slowest, largest = max(found, key=lambda bad: bad.seconds), max(found, key=lambda bad: bad.peak_mb)
    faulty = sum(bool(bad.faults) for bad in found)
    print(
        f"{len(found)} bad inputs, {faulty} with faults; at most {slowest.seconds:.2f} s of processor time "
        f"({slowest.name}) and {largest.peak_mb:.0f} MB ({largest.name})"
    )
    return int(any(bad.faults for bad in found))


if __name__ == "__main__":
    sys.exit(main())
