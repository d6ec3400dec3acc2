"""Draw the pictures of the page on all schedulers, and write its tables: `python docs/pictures/draw_schedulers.py`.

The runs take some minutes. `docs/gallery/schedulers/runs.csv` has every scheduler, program and machine; the other files
have exchanges of single rules, one file for each program. `python docs/pictures/draw_schedulers.py pictures` draws from
`runs.csv` alone.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import pandas as pd
from matplotlib.figure import Figure

import numasim as ns
from numasim.parts import catalog
from numasim.report.figures.style import line_colour, marker, rules

HERE = Path(__file__).parent
TABLES = HERE.parent / "gallery" / "schedulers"
VARIANTS = ("julia-wake-all", "starpu-lws-blocking")  # an older Julia, and another build of StarPU
SCHEDULERS = [name for name in catalog.schedulers() if name not in VARIANTS]
MACHINES = ("epyc-9654-2s", "xeon-8480-2s-cxl", "altra-q80-30-2s")
WORKERS = 64
SEEDS = (1, 2, 3)
TICKS = {
    2: [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2],
    7: [1, 1.5, 2, 3, 4, 5, 7],
    10**9: [1, 2, 5, 10, 20, 50, 100],
}
PROGRAMS: dict[str, dict[str, Any]] = {
    "fib": {"name": "fib", "n": 18, "spawn_ns": 100, "leaf_ns": 1000, "join_ns": 100},
    "sparselu": {"name": "sparselu-single", "blocks": 16},
    "loop": {"name": "random-layered", "layers": 1, "width": 1500, "low_ns": 2000, "high_ns": 20000},
    "cholesky": {"name": "cholesky", "tiles": 20, "tile_size": 64},
}
LONGER: dict[str, dict[str, Any]] = {  # the programs that differ most, with tasks of ten times the time
    "fib": {**PROGRAMS["fib"], "spawn_ns": 1000, "leaf_ns": 10000, "join_ns": 1000},
    "sparselu": {**PROGRAMS["sparselu"], "ps_per_1000_flops": 1_172_000},
    "loop": {**PROGRAMS["loop"], "low_ns": 20_000, "high_ns": 200_000},
}


@dataclass(frozen=True)
class Exchange:
    """A scheduler with a rule of another one, the donor; and the keys of its two files that change for the rule."""

    program: str
    scheduler: str
    rule: str
    donor: str
    strategy: dict[str, Any] = field(default_factory=dict)
    runtime: dict[str, Any] = field(default_factory=dict)


ONETBB_PHASES = [
    {"rounds": 66, "pause_ns": 400},
    {"rounds": 100, "yield_ns": 900},
    {"for_ns": 1_000_000, "yield_ns": 500},
]
TO_ALL = [{"to": "any", "queue": "deque", "pick": "round-robin"}]
GO_SLEEP = {"recheck": "each"}
GO_WAKE = {"at": "no-searcher", "whom": "newest", "chain": 1, "chain_by": "last-searcher"}
TOKIO_ONE = [
    {"from": "own", "queue": "inject", "every": 61},
    {"from": "own", "queue": "inject"},
    {"from": "others", "queue": "ring", "pick": "rotate", "tries": "all"},
]
FJP_WAKE = {"searchers": "any", "wake": {"at": "empty-queue", "chain_by": "finder"}}
EXCHANGES = [
    Exchange("fib", "rayon", "wake at", "fork-join-pool", {}, {"idle": {"wake": {"at": "empty-queue"}}}),
    Exchange("fib", "fork-join-pool", "wake at", "rayon", {}, {"idle": {"wake": {"at": "uncovered"}}}),
    Exchange("fib", "tokio", "searchers, wake at, chain", "fork-join-pool", {}, {"idle": FJP_WAKE}),
    Exchange("sparselu", "lace", "dispatch", "hpx", {"dispatch": TO_ALL}),
    Exchange(
        "sparselu", "hpx", "dispatch", "lace", {"dispatch": [{"to": "own", "queue": q} for q in ("pending", "low")]}
    ),
    Exchange("sparselu", "lace", "one victim a round", "onetbb", {"steal": [{"from": "thief"}, {"from": "others"}]}),
    Exchange("sparselu", "lace", "pause", "onetbb", {}, {"poll_ns": 400}),
    Exchange(
        "sparselu",
        "lace",
        "one victim, pause",
        "onetbb",
        {"steal": [{"from": "thief"}, {"from": "others"}]},
        {"poll_ns": 400},
    ),
    Exchange("sparselu", "go", "idle phases", "onetbb", {}, {"idle": {"phases": ONETBB_PHASES}}),
    Exchange("loop", "rayon", "amount", "tokio", {"amount": {"share": 2, "most": 128}}),
    Exchange("loop", "tokio", "amount", "rayon", {"steal": TOKIO_ONE}),
    Exchange("loop", "rayon", "recheck", "go", {}, {"idle": {"sleep": GO_SLEEP}}),
    Exchange("loop", "rayon", "wake, chain", "go", {}, {"idle": {"wake": GO_WAKE}}),
    Exchange("loop", "rayon", "recheck, wake, chain", "go", {}, {"idle": {"sleep": GO_SLEEP, "wake": GO_WAKE}}),
    Exchange("loop", "rayon", "dispatch", "hpx", {"dispatch": TO_ALL}),
    Exchange("cholesky", "tokio", "idle phases", "onetbb", {}, {"idle": {"phases": ONETBB_PHASES}}),
    Exchange("cholesky", "rayon", "idle phases", "tokio", {}, {"idle": {"phases": []}}),
    Exchange(
        "cholesky", "starpu-lws", "victim", "lace", {"steal": [{"from": "others", "pick": "rotate", "tries": 20}]}
    ),
]


def times(workload: dict[str, Any], machine: str, strategy: Any, runtime: Any) -> dict[str, float]:
    """Return times in ms over the seeds: the mean, least and longest makespan, and the mean processor time and work."""
    spec = {"machine": machine, "workload": workload, "strategy": strategy, "runtime": runtime}
    rows = pd.DataFrame([ns.run({**spec, "workers": WORKERS, "seed": seed}).row() for seed in SEEDS])
    makespan = rows["makespan_ps"] / 1e9
    return {
        "makespan_ms": makespan.mean(),
        "least_ms": makespan.min(),
        "longest_ms": makespan.max(),
        "processor_ms": rows["cpu_ps"].mean() / 1e9,
        "work_ms": rows["work_ps"].mean() / 1e9,
    }


def run_one(key: tuple[str, str, str], programs: dict[str, dict[str, Any]] = PROGRAMS) -> dict[str, Any]:
    """Return the row of a program, a machine and a scheduler."""
    program, machine, scheduler = key
    row = {"program": program, "machine": machine, "scheduler": scheduler}
    return row | times(programs[program], machine, scheduler, scheduler)


def run_longer(key: tuple[str, str, str]) -> dict[str, Any]:
    """Return the row of a program whose tasks take ten times as long, a machine and a scheduler."""
    return run_one(key, LONGER)


def exchange(key: tuple[Exchange, str]) -> dict[str, float]:
    """Return the times of a scheduler with a rule of the donor, on a machine."""
    one, machine = key
    own = one.scheduler
    return times(PROGRAMS[one.program], machine, {"like": own, **one.strategy}, {"like": own, **one.runtime})


def told(one: Exchange, before: pd.DataFrame, after: list[dict[str, float]]) -> dict[str, str]:
    """Return the row of an exchange, as text.

    For each machine: the makespan before and after, and the share by which its difference to that of the donor shrinks
    (none if the difference is small). Then for each machine the change of the processor time.
    """
    row = {"scheduler": one.scheduler, "rule": one.rule, "of": one.donor}
    ratios = []
    for machine, new in zip(MACHINES, after, strict=True):
        own, donor = (before.xs((one.program, machine, name)) for name in (one.scheduler, one.donor))
        difference = own["makespan_ms"] - donor["makespan_ms"]
        gone = own["makespan_ms"] - new["makespan_ms"]
        share = f" ({gone / difference:.0%})" if abs(difference) > 0.05 * own["makespan_ms"] else ""
        row[f"{machine} (ms)"] = f"{own['makespan_ms']:.3g} → {new['makespan_ms']:.3g}{share}"
        ratios.append(new["processor_ms"] / own["processor_ms"])
    return row | {"processor time": ", ".join(f"{ratio - 1:+.0%}" for ratio in ratios)}


def spread(runs: pd.DataFrame) -> pd.Series:
    """Return the longest mean makespan divided by the shortest, by program."""
    makespans = runs.groupby("program")["makespan_ms"]
    return makespans.max() / makespans.min()


def write_tables() -> None:
    """Run all schedulers and exchanges on two processes, and write the tables."""
    TABLES.mkdir(exist_ok=True)
    keys = [(program, machine, name) for program in PROGRAMS for machine in MACHINES for name in SCHEDULERS]
    changed = [(one, machine) for one in EXCHANGES for machine in MACHINES]
    with ProcessPoolExecutor(2) as pool:
        runs = pd.DataFrame(pool.map(run_one, keys))
        found = list(pool.map(exchange, changed))
        longer = pd.DataFrame(
            pool.map(run_longer, [key for key in keys if key[0] in LONGER and key[1] == MACHINES[-1]])
        )
    spans = [spread(table[table["machine"] == MACHINES[-1]]) for table in (runs, longer)]
    both = {"slowest / best scheduler": spans[0], "with tasks ten times longer": spans[1]}
    pd.DataFrame(both).loc[list(LONGER)].round(1).to_csv(TABLES / "longer.csv", index_label="program")
    runs.round(3).to_csv(TABLES / "runs.csv", index=False)
    before = runs.set_index(["program", "machine", "scheduler"])
    rows = [told(one, before, found[3 * k : 3 * k + 3]) for k, one in enumerate(EXCHANGES)]
    for program in PROGRAMS:
        mine = [row for one, row in zip(EXCHANGES, rows, strict=True) if one.program == program]
        pd.DataFrame(mine).to_csv(TABLES / f"{program}.csv", index=False)


def picture(program: str) -> Figure:
    """Draw makespan / makespan of the machine's best scheduler, and processor time / work, for each scheduler."""
    runs = pd.read_csv(TABLES / "runs.csv")
    runs = runs[runs["program"] == program]
    best = runs.groupby("machine")["makespan_ms"].transform("min")
    columns = {
        "makespan / that of the best scheduler": [
            runs[name] / best for name in ("makespan_ms", "least_ms", "longest_ms")
        ],
        "processor time / work": [runs["processor_ms"] / runs["work_ms"]] * 3,
    }
    order = columns["makespan / that of the best scheduler"][0].groupby(runs["scheduler"]).prod().sort_values().index
    place = {name: row for row, name in enumerate(reversed(order))}
    figure = Figure(figsize=(8.2, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, (label, (values, least, longest)) in zip(panels, columns.items(), strict=True):
        for number, machine in enumerate(MACHINES):
            mine = runs["machine"] == machine
            rows = runs["scheduler"][mine].map(place) + 0.2 * (1 - number)
            colour = line_colour(number)
            panel.hlines(rows, least[mine], longest[mine], color=colour, linewidth=1.2)
            panel.plot(values[mine], rows, marker(number), color=colour, linestyle="none", label=machine)
        panel.set(xlabel=label, xscale="log", yticks=range(len(order)), yticklabels=reversed(order))
        low, high = panel.get_xlim()
        ticks = [tick for tick in next(few for most, few in TICKS.items() if high / low < most) if low <= tick <= high]
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def schedulers_fib() -> Figure:
    """Draw the results for a tree of short calls."""
    return picture("fib")


def schedulers_sparselu() -> Figure:
    """Draw the results for phases whose tasks come from one worker."""
    return picture("sparselu")


def schedulers_loop() -> Figure:
    """Draw the results for independent tasks that one worker spawns."""
    return picture("loop")


def schedulers_cholesky() -> Figure:
    """Draw the results for tasks that wait for other tasks."""
    return picture("cholesky")


PICTURES = (schedulers_fib, schedulers_sparselu, schedulers_loop, schedulers_cholesky)


def main(words: list[str]) -> None:
    """Write the tables, unless the word `pictures` asks for pictures alone, and draw the pictures."""
    if words != ["pictures"]:
        write_tables()
    for draw in PICTURES:
        with rules():
            draw().savefig(HERE / f"{draw.__name__}.svg", metadata={"Date": None}, bbox_inches="tight")


if __name__ == "__main__":
    main(sys.argv[1:])
