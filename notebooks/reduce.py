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
# # Which policy for which keys on which machine, and what the plateau is made of
#
# In the reduce phase of MapReduce each task takes one row of a container: the task reads the values that all threads
# have emitted under the keys of the row, on whatever nodes the values are, and emits one value for each key. A. Souris
# (2020) asked which thread of Phoenix++ should execute which row, on three machines:
#
# - *parade*: four sockets of Xeon Gold 6130, 128 hardware threads, 32 GB of values;
# - *parallax*: two of these sockets, 64 hardware threads, 16 GB;
# - *paragon*: two Opteron 6161, four nodes, 24 cores, 4 GB.
#
# All parameters are those of `experiments/phoenix`, where `calibrated.yaml` has the fitted parameters. A run of this
# notebook has a sixteenth of the values and of the rows of the study, so that a row is as long as in the study. The
# time of the run is multiplied by sixteen.
#
# Keys are dealt to threads in three ways. All threads emit *any keys*, and equally many (Equal-Prob). Each thread emits
# its *own keys*, which are in rows that no other thread uses (Disjoint-Subranges). Or all threads emit any keys, but
# most values are emitted on *one heavy node* (One-Numa-Heavy).

# %%
from functools import cache

import pandas as pd
from matplotlib.figure import Figure

from numasim.engine.simulate import simulate_spec
from numasim.reproduce.programs import Wanted
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import read_study
from numasim.spec.overrides import from_mapping

study = read_study("phoenix")
setting = Setting(study)
SMALLER = 16  # in values and rows
EMITS = {"parade": 4_000_000, "parallax": 2_000_000, "paragon": 500_000}
MOST = {"parade": 128, "parallax": 64, "paragon": 24}  # threads
KEYS = {"equal-prob": "any keys", "disjoint": "own keys", "heavy": "one heavy node"}
POLICIES = ["balanced", "interleave", "locality", "locality-balanced", "locality-interleave"]


@cache
def run(machine, threads, keys, policy="interleave", **changes):
    """The counters of one run, in seconds as of the whole data."""
    smaller = {"workload.emits": EMITS[machine] // SMALLER, "workload.rows": 32_768 // SMALLER}
    if keys == "heavy":
        smaller["workload.emit_filler"] = "one-numa-heavy"
    variant = f"{'equal-prob' if keys == 'heavy' else keys} {policy}"
    fields = tuple(from_mapping({**smaller, **changes}))
    spec = setting.spec(Wanted(study.programs[machine], str(threads), variant, fields))
    counters = simulate_spec(spec, spec.seed).counters
    return {name: value * SMALLER / 1e12 for name, value in counters.items() if name.endswith("_ps")}


# %% [markdown]
# ## Policies, keys and machines
#
# The policy *interleave* deals rows to threads in turn and looks at nothing. The other policies look at the nodes of
# the values of a row, and pay a time for each pair of a row and a thread at which they look. On the left each node has
# two threads, on the right all hardware threads are used. A bar is the time of a policy over the time of interleave:
# below 1 the policy pays.

# %%
cells = [
    (machine, threads, keys, policy)
    for machine in EMITS
    for threads in (4 if machine == "parallax" else 8, MOST[machine])
    for keys in KEYS
    for policy in POLICIES
]
times = pd.DataFrame(cells, columns=["machine", "threads", "keys", "policy"])
times["seconds"] = [run(*cell)["makespan_ps"] for cell in cells]
table = times.pivot_table(index=["machine", "threads", "keys"], columns="policy", values="seconds", sort=False)
ratios = table.div(table["interleave"], axis=0)
table.round(2)

# %%
figure = Figure(figsize=(9, 7), layout="constrained")
panels = figure.subplots(len(EMITS), 2, sharey=True)
others = [policy for policy in POLICIES if policy != "interleave"]
for row, machine in zip(panels, EMITS, strict=True):
    for axes, threads in zip(row, ratios.loc[machine].index.unique("threads"), strict=True):
        for number, policy in enumerate(others):
            places = [place + (number - 1.5) * 0.2 for place in range(len(KEYS))]
            axes.bar(places, ratios.loc[(machine, threads), policy], width=0.2, label=policy)
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_title(f"{machine}, {threads} threads")
        axes.set_xticks(range(len(KEYS)), KEYS.values())
        axes.set_ylim(0.8, 1.2)
figure.supylabel("time over that of interleave")
panels[0][0].legend(ncols=2, fontsize="small")
figure

# %% [markdown]
# For any keys, and with a heavy node, no policy pays, since each row has values on every node. The cost of a policy
# depends on the machine and the number of threads: one thread deals all rows, and looks at rows x threads pairs. With
# two threads on a node the cost is below a hundredth of the time. With all threads the cost is a sixth on the Xeons and
# a twentieth on paragon. The policy that mixes locality with interleave costs half as much, because it looks at half as
# many pairs (an assumption).
#
# For own keys all policies pay with two threads on a node, by a fourteenth on parade and a twentieth on parallax,
# because threads read their own node. With all threads no policy pays: reading is a small part of the time then. Here
# the measurements on parade differ: the measured gain is a sixth.
#
# ## What the time of a worker consists of
#
# The bars show the mean over the workers of a run, so that the height of a bar is the time of the phase. *Computing*
# includes reading from the own node. *Remote memory* is the extra time of reading from other nodes. *Clock and shared
# cores* is the extra time because clocks are slower with more busy cores, and because two threads share a core.
# *Waiting* is the time that threads wait for the lock of the address space: page faults take turns at the lock, and
# while a thread gives back memory no other thread may touch a fresh page. *Pages* is the time of page faults and of
# giving back memory itself.

# %%
COUNTS = {
    "parade": [4, 8, 16, 24, 32, 48, 64, 96, 128],
    "parallax": [4, 8, 16, 24, 32, 48, 64],
    "paragon": [2, 4, 8, 16, 24],
}
PARTS = {
    "computing": ("work_local_ps",),
    "remote memory": ("inflation_numa_ps",),
    "clock and shared cores": ("inflation_smt_ps",),
    "waiting": ("inflation_contention_ps",),
    "pages, dealing": ("overhead_ps", "idle_steal_ps", "idle_backoff_ps", "idle_barrier_ps", "parked_ps"),
}


def parts(machine, threads, keys):
    """What the mean worker's time consists of, in s."""
    seconds = run(machine, threads, keys)
    return {name: sum(seconds[column] for column in columns) / threads for name, columns in PARTS.items()}


figure = Figure(figsize=(9, 5.5), layout="constrained")
panels = figure.subplots(2, len(EMITS))
for row, keys in zip(panels, ("equal-prob", "disjoint"), strict=True):
    for axes, (machine, counts) in zip(row, COUNTS.items(), strict=True):
        split = pd.DataFrame([parts(machine, count, keys) for count in counts], index=counts)
        below = 0
        for part in PARTS:
            axes.bar(range(len(counts)), split[part], bottom=below, label=part)
            below = below + split[part]
        axes.set_title(f"{machine}, {KEYS[keys]}", fontsize="small")
        axes.set_xticks(range(len(counts)), counts)
        axes.set_ylim(0, 1.1 * split.iloc[1:].sum(axis=1).max())  # the first bar may leave the picture
figure.supxlabel("threads")
figure.supylabel("time of the mean worker (s)")
figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=5, fontsize="small")
figure

# %% [markdown]
# From 48 threads on parade waiting is more than half of the time. On paragon a core takes five times as long for a key,
# and 24 threads are too few for this effect. With few threads remote memory is a tenth of the time, which a policy can
# save for own keys; with many threads remote memory is hardly visible.
#
# ## The plateau, taken apart
#
# The same runs on parade, without the lock of the address space, without computing, and without either.
# Black dots are measured times. The plateau is the part of a curve from 32 threads on that is level or rises. For own
# keys the figure also has the policy *locality-interleave*, dashed, with its measured times as white dots.

# %%
COMPUTING = ("workload.emit_ns", "workload.key_ns", "workload.copy_ns")
NO_LOCK = {"runtime.costs.faults_per_s": 0, "runtime.costs.unmap_ns": 0}
WITHOUT = {
    "everything": {},
    "without the lock": NO_LOCK,
    "without computing": dict.fromkeys(COMPUTING, 0),
    "neither": {**NO_LOCK, **dict.fromkeys(COMPUTING, 0)},
}
TABLES = {"equal-prob": "parade-32-equal-prob", "disjoint": "parade-32-disjoint"}
figure = Figure(figsize=(9, 4), layout="constrained")
panels = figure.subplots(1, 2, sharey=True)
for axes, (keys, name) in zip(panels, TABLES.items(), strict=True):
    for label, changes in WITHOUT.items():
        counts = COUNTS["parade"]
        axes.plot(counts, [run("parade", each, keys, **changes)["makespan_ps"] for each in counts], label=label)
    if keys == "disjoint":
        dealt = [run("parade", each, keys, "locality-interleave")["makespan_ps"] for each in counts]
        axes.plot(counts, dealt, "C0--", label="locality-interleave")
        dots = study.published(name, "locality_interleave_s")
        axes.plot([int(count) for count in dots], list(dots.values()), "k.", fillstyle="none")
    dots = study.published(name, "interleave_s")
    axes.plot([int(count) for count in dots], list(dots.values()), "k.", label="published")
    axes.set(title=KEYS[keys], xlabel="threads", ylim=(0, 10))
panels[0].set_ylabel("time of the reduce phase (s)")
panels[1].legend(fontsize="small")
figure

# %% [markdown]
# Without the lock, 128 threads would need a third of the time or less. Without computing, 128 threads would need the
# whole time: the plateau is the time of one lock. The plateau is higher for own keys, because more keys are put out.
# The plateau is a saw-tooth: results are appended to vectors that begin with 100 results and double, and the more
# threads there are, the fewer results has a thread, until the last doubling is saved. For any keys this happens at 50
# and 99 threads, for own keys at 40 and 79.
#
# The memory is that of Phoenix++ 1.0, traced, but the measured times differ in three ways. With a heavy node the
# measured plateau is two fifths higher than for any keys; the simulated plateau is not. The measured teeth are lower:
# for any keys the time rises from 36 to 48 threads and falls then, as simulated, but for own keys the plateau is nearly
# level. And policies gain a sixth for own keys with many threads.
