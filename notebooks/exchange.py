# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Which rule of Go's would help Rayon?
#
# The files `rayon` and `go` say what the two schedulers do (`docs/reference/schedulers.md`). This
# notebook takes Rayon and gives it one rule of Go at a time: the amount of a steal, the phases before the sleep, the
# bound of searchers, the waking, the last look before the sleep, the slot for the newest task, and the regular look at
# the shared queue. The program is one loop: one worker spawns 1,500 tasks of 2 to 20 us, on 64 cores of two EPYC 9654.
# The same can be asked of any two schedulers and any program.

# %%
import pandas as pd
from matplotlib.figure import Figure

import numasim as ns

question = {
    "machine": "epyc-9654-2s",
    "workload": {"name": "random-layered", "layers": 1, "width": 1500, "low_ns": 2000, "high_ns": 20000},
    "workers": 64,
}
seeds = (1, 2)

# %% [markdown]
# ## Rules of Go, as changes of Rayon's files

# %%
deque = {"per": "worker", "own": "lifo", "steal": "fifo"}
slot = {
    "queues": {"slot": {"per": "worker", "full": "displace"}, "deque": deque, "injector": {"per": "machine"}},
    "dispatch": [{"to": "own", "queue": name} for name in ("slot", "deque", "injector")],
}
polling = [
    {"from": "own", "queue": "injector", "every": 61},
    {"from": "others", "queue": "deque", "pick": "rotate", "tries": "all"},
    {"from": "own", "queue": "injector"},
]
look = {"sleep": {"recheck": "each"}}
wake = {"wake": {"at": "no-searcher", "whom": "newest", "chain": 1, "chain_by": "last-searcher"}}
rules = {  # changes of the strategy, and of the runtime's `idle`
    "Rayon": ({}, {}),
    "steal half": ({"amount": {"share": 2, "most": 128}}, {}),
    "slot": (slot, {}),
    "look at the shared queue": ({"steal": polling}, {}),
    "no phases": ({}, {"phases": []}),
    "searchers bounded": ({}, {"searchers": {"busy_share": 2}}),
    "waking": ({}, wake),
    "last look": ({}, look),
    "last look, waking": ({}, look | wake),
    "last look, waking, no phases": ({}, look | wake | {"phases": []}),
}


# %%
def measured(strategy, runtime):
    """The makespan and the processor time, means over the seeds, in ms."""
    rows = [ns.run(question | {"strategy": strategy, "runtime": runtime, "seed": seed}).row() for seed in seeds]
    return {"makespan": sum(row["makespan_ps"] for row in rows), "processor time": sum(row["cpu_ps"] for row in rows)}


found = {
    name: measured({"like": "rayon", **queues}, {"like": "rayon", "idle": idle})
    for name, (queues, idle) in rules.items()
}
table = pd.DataFrame(found | {"Go": measured("go", "go")}).T / len(seeds) / 1e9
table.round(2)

# %%
figure = Figure(figsize=(8.5, 4), layout="constrained")
ticks = {"makespan": (0.5, 1, 2, 5, 10), "processor time": (20, 50, 100, 200, 500)}
for axes, (name, column) in zip(figure.subplots(1, 2, sharey=True), table.items(), strict=True):
    axes.plot(column, range(len(column)), "o")
    axes.set(xlabel=f"{name} (ms)", xscale="log", yticks=range(len(column)), yticklabels=column.index)
    axes.set_xticks(ticks[name], [str(tick) for tick in ticks[name]])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
axes.invert_yaxis()
figure

# %% [markdown]
# One rule alone does much: the last look before the sleep. Rayon's workers sleep only if no task has come since they
# became sleepy, and the producer makes a task every few microseconds. So nobody sleeps, and 63 thieves fetch the line
# of the producer's queue again after every push. Go's workers look at all queues once and sleep if they see nothing.
# This rule halves the makespan and takes away two thirds of the processor time. Go's waking alone saves 4 %, but with
# the last look the makespan falls to a fifteenth. Without phases of search before the sleep, Rayon is as fast as Go,
# and occupies the processors less.
#
# Half of a queue in place of one task changes nothing: the queue never holds two tasks for long. The slot, the bound of
# searchers and the look at the shared queue change next to nothing, either.
#
# This is one program, in which one worker makes all tasks. The page `docs/gallery/schedulers.md` has other
# programs and machines.
