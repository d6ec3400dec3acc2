"""Measure the processor time and the memory of loading task graphs, and check their digests.

    python verification/graph_forms.py [--tasks 1000000]

A graph of --tasks tasks with two dependences each is written as npz, and a graph of a tenth of these tasks as JSON and
as npz. A new process reads each file, imports included. The command needs Linux. Exit status 1 if a digest differs, if
the large graph takes more than 3 s of processor time or 0.5 GB, or if the JSON file takes more than 2 s.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import numasim as ns

READ = """\
import json, resource, sys, time
import numasim as ns
graph = ns.Graph.read(sys.argv[1])
tasks, digest = graph.tasks, graph.workload.digest()
used = resource.getrusage(resource.RUSAGE_SELF)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([tasks, digest, used.ru_utime + used.ru_stime, int(peak.split()[1]) / 2**10]))
"""
MOST_NPZ_S, MOST_NPZ_MIB, MOST_JSON_S = 3.0, 477.0, 2.0  # 477 MiB are 0.5 GB


def graph_of(tasks: int) -> ns.Graph:
    """Return a graph in which each task waits for two of the previous thousand tasks."""
    chance = np.random.default_rng(1)
    after = np.arange(1, tasks)
    before = [np.maximum(after - chance.integers(1, 1000, tasks - 1), 0) for _ in range(2)]
    edges = np.unique(np.stack([np.concatenate(before), np.concatenate([after, after])], axis=1), axis=0)
    return ns.Graph.from_edges(edges, chance.integers(100, 10_000, tasks))


def read(path: Path, digest: str) -> tuple[float, float]:
    """Read ``path`` in a new process, and compare its digest. Return the seconds of processor time and the MiB of
    memory that reading takes.
    """
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    tasks, found, seconds, mib = json.loads(done.stdout)
    agrees = "the same digest" if found == digest else f"ANOTHER DIGEST: {found}"
    size = path.stat().st_size / 1e6
    print(f"{path.name:<12} {tasks:>9,} tasks  {size:7.1f} MB  {seconds:5.2f} s  {mib:6.0f} MiB  {agrees}")
    if found != digest:
        raise SystemExit(1)
    return float(seconds), float(mib)


def main() -> int:
    """Write the graphs, read the files, and print a line for each file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=1_000_000, help="tasks of the large graph")
    tasks = parser.parse_args().tasks
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large, small = graph_of(tasks), graph_of(tasks // 10)
        npz_s, npz_mib = read(large.save(folder / "large.npz"), large.contents)
        json_s, _ = read(small.save(folder / "small.json"), small.contents)
        small_npz_s, _ = read(ns.Graph.read(folder / "small.json").save(folder / "small.npz"), small.contents)
    print(f"JSON takes {json_s / small_npz_s:.1f} times as long as npz, imports included")
    return int(npz_s > MOST_NPZ_S or npz_mib > MOST_NPZ_MIB or json_s > MOST_JSON_S)


if __name__ == "__main__":
    raise SystemExit(main())
