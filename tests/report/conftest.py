"""Made-up sweeps with the shape of real ones: two programs, 2 to 24 workers on two nodes, three strategies.

Real runs are built with the helpers of the engine's tests.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from numasim.engine.result import COLUMNS, TIME

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

STRATEGIES = ("randomized", "threshold", "topology-aware")
PROGRAMS = {"matmul n=256": (90e9, 0.6), "strassen n=1024": (420e9, 0.45)}
WASTE = {"overhead_ps": 0.12, "idle_steal_ps": 0.3, "idle_backoff_ps": 0.18, "idle_barrier_ps": 0.4}
SHARES = np.array([WASTE.get(name, 0.0) for name in TIME])  # shares of the time without work and NUMA inflation


def one_run(program, strategy, workers, repeat, noise):
    work_ps, inflation = PROGRAMS[program]
    gain = {"randomized": 1.0, "threshold": 0.85, "topology-aware": 0.55}[strategy]
    spread = 1 + 0.03 * noise.standard_normal(len(TIME))
    waste = (0.05 + 0.012 * workers) * gain
    split = np.zeros(len(TIME))
    split[0], split[1] = work_ps, work_ps * inflation * gain * (workers > 2) * 0.4
    split = ((split + work_ps * waste * SHARES) * spread).astype(np.int64)
    split[-1] += -split.sum() % workers
    attempts = 0 if strategy == "threshold" and workers == 2 else int((40 + 30 * workers) * gain * spread[5])
    miss = np.clip(0.1 + 0.35 * gain * np.sin(workers / 6) ** 2 + 0.05 * noise.standard_normal(), 0.01, 0.95)
    remote = 0.01 if strategy == "topology-aware" else (workers / 2) / (workers - 1)
    false, far = int(attempts * miss), int(attempts * min(1.0, remote * (1 + 0.02 * noise.standard_normal())))
    row = dict.fromkeys(COLUMNS, 0)
    row |= dict(zip(TIME, (int(part) for part in split), strict=True))
    row |= {
        "run_id": f"{program}-{strategy}-{workers}-{repeat}",
        "seed": 1000 + repeat,
        "repeat": repeat,
        "engine": "reference",
        "machine": "xeon-e5-2620-2s",
        "workload": program,
        "strategy": strategy,
        "workers": workers,
        "makespan_ps": int(split.sum()) // workers,
        "serial_ps": int(work_ps),
        "steal_attempts": attempts,
        "steal_false": false,
        "steal_success": attempts - false,
        "steal_attempts_remote": far,
        "steal_miss_ratio": false / attempts if attempts else None,
        "steal_remote_ratio": far / attempts if attempts else None,
    }
    row["speedup"] = row["serial_ps"] / row["makespan_ps"]
    return row | {"error": None}


def make_frame(programs=tuple(PROGRAMS), strategies=STRATEGIES, workers=range(2, 25, 2), repeats=10, seed=1):
    import pandas as pd  # inside the function, since this import would add half a second to each collection of tests

    noise = np.random.default_rng(seed)
    return pd.DataFrame(
        [
            one_run(program, strategy, count, repeat, noise)
            for program in programs
            for count in workers
            for strategy in strategies
            for repeat in range(repeats)
        ]
    )


def make_workers(frame):
    """Return the time split of each run by worker: worker i is on node i mod 2, and idles more than worker i - 1."""
    import pandas as pd

    rows = []
    for run in frame.itertuples():
        tilt = np.linspace(1.1, 0.9, run.workers)
        for worker in range(run.workers):
            split = {name: getattr(run, name) / run.workers for name in TIME}
            moved = split["work_local_ps"] * (tilt[worker] - 1) / 2
            split["work_local_ps"] += moved
            split["idle_barrier_ps"] -= moved
            rows.append({"run_id": run.run_id, "worker": worker, "role": "worker", "node": worker % 2, **split})
    return pd.DataFrame(rows)


def make_node_pairs(frame, nodes=2):
    import pandas as pd

    rows = []
    for run in frame.itertuples():
        for thief in range(nodes):
            for victim in range(nodes):
                near = thief == victim
                far = run.steal_success * run.steal_attempts_remote // max(run.steal_attempts, 1)
                share = (run.steal_success - far) // nodes if near else far // (nodes * (nodes - 1))
                rows.append(
                    {
                        "run_id": run.run_id,
                        "node_from": thief,
                        "node_to": victim,
                        "steal_attempts": 2 * share,
                        "steal_success": share,
                        "bytes": (3 + 2 * near) * 2**20 * (1 + thief),
                    }
                )
    return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def frame():
    return make_frame()


@pytest.fixture(scope="session")
def frame_maker():
    return make_frame


@pytest.fixture(scope="session")
def workers_maker():
    return make_workers


@pytest.fixture(scope="session")
def node_pairs_maker():
    return make_node_pairs
