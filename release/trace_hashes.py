"""Simulate a few runs on both engines of the installed numasim, and print the hashes of each run on a line.

    python release/trace_hashes.py

Exit status 1 if the compiled engine or the program of the task runtime is missing, or if the engines differ.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import numasim

RUNS: dict[str, dict[str, Any]] = {
    "fib": {
        "machine": "xeon-e5-2620-2s",
        "workload": {"name": "fib", "n": 14},
        "strategy": "randomized",
        "sweep": {"workers": [12]},
    },
    "sparselu": {
        "machine": "epyc-9654-2s-nps4",
        "workload": {"name": "sparselu-single", "blocks": 8},
        "strategy": "topology-aware",
        "sweep": {"workers": [24]},
    },
    "cholesky": {
        "machine": "xeon-e5-2620-2s",
        "workload": {"name": "cholesky"},
        "strategy": "steal-half",
        "sweep": {"workers": [8]},
    },
}
PROGRAM = Path(sysconfig.get_path("scripts")) / "numasim-runtime"
FIB = ("--kernel", "fib", "--set", "n=12", "--mode", "native", "--workers", "2")


def main() -> None:
    """Print a line for each run. Then run a kernel on threads; the program checks the result of the kernel."""
    for name, spec in RUNS.items():
        native, reference = hashes_of(spec, "native"), hashes_of(spec, "reference")
        if native != reference:
            sys.exit(f"trace_hashes.py: {name} has {native} on the native engine, {reference} on the reference engine")
        print(name, *native)
    subprocess.run([PROGRAM, *FIB], check=True, stdout=subprocess.DEVNULL)


def hashes_of(spec: dict[str, Any], engine: str) -> tuple[str, str]:
    """Return the hash of the actions of all workers in a run, and the hash of all events of the run."""
    counters = numasim.run(spec, engine=engine, check=True).counters
    return str(counters["trace_hash"]), str(counters["event_hash"])


if __name__ == "__main__":
    main()
