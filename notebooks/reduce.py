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
# In the reduce phase of MapReduce each task takes one row of a container: it reads the values that all threads have
# emitted under the keys of that row, wherever they lie, and lets one value come out for each key. A. Souris (2020)
# asked of Phoenix++ who should execute which row, on three machines:
#
# - *parade*: four sockets of Xeon Gold 6130, 128 hardware threads, 32 GB of values;
# - *parallax*: two of these sockets, 64 hardware threads, 16 GB;
# - *paragon*: two Opteron 6161, four nodes, 24 cores, 4 GB.
#
# All values are those of `experiments/phoenix`, where `calibrated.yaml` says what was fitted. Here a run has a
# sixteenth of the values and of the rows, so that a row is as long as there, and its time is multiplied by sixteen.
#
# Keys are dealt to threads in three ways: all threads emit *any keys*, as many each (Equal-Prob); each emits its *own
# keys*, which are those of rows of its own (Disjoint-Subranges); or all emit any keys, but most values are emitted on
# *one heavy node* (One-Numa-Heavy).

# %%
from functools import cache

import pandas as pd
from matplotlib.figure import Figure

from numasim.engine.simulate import simulate_spec
from numasim.reproduce.load import read_study
from numasim.reproduce.parameter_search import Readings
from numasim.reproduce.programs import Wanted
from numasim.reproduce.setting import Setting
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
# *Interleave* deals rows to threads in turn and looks at nothing. The others look at where the values of a row lie,
# and pay for each pair of a row and a thread at which they look. On the left two threads are on each node, on the
# right as many as the machine has. Bars are times over that of interleave: below 1 a policy pays.

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
# For any keys, and with a heavy node, nothing pays, since each row has values on every node. The price depends on
# machine and threads: one thread deals all rows, and looks at as many pairs as there are rows times threads. With two
# threads on a node the price is below a hundredth. With all of them it is a tenth on the Xeons and a twentieth on
# paragon, and half of that where the policy mixes locality with interleave, which looks at half as many pairs (an
# assumption).
#
# For own keys all policies pay on parade, by a twentieth to a tenth, and the one that looks at least is the best. With
# all threads of parallax that one alone does: on two nodes half of all values are near whatever is done, where it is a
# quarter on four. On paragon it is level. On parade this was measured, with the same signs and the same policy in
# front; there they gain a sixth.
#
# ## What the time of a worker consists of
#
# The mean over the workers of a run, so that the height of a bar is the time of the phase. *Computing* has what is
# read from the own node as well. *Remote memory* is what other nodes add to that. *Clock and shared cores* is what it
# costs that clocks are slower with more cores at work, and that two threads share a core. *Waiting* is for others that
# give back memory: that can be done by one thread at a time, and nobody in the process may touch a fresh page
# meanwhile.

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
    "giving back, dealing": ("overhead_ps", "idle_steal_ps", "idle_backoff_ps", "idle_barrier_ps", "parked_ps"),
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
# From 32 threads on parade more threads compute less each and wait the longer for it. On paragon, whose cores compute
# a key in almost five times the time, 24 threads are not enough to get there. Remote memory is a tenth of the time
# with few threads, which a policy can save for own keys; with many threads hardly anything is left of it.
#
# ## The plateau, taken apart
#
# The same on parade with something taken away: first what is given back, then what is computed. What remains is
# reading alone. Black dots were measured. What stays level, or rises, with 32 threads and more is the plateau. For own
# keys there is *locality-interleave* as well, dashed, and white dots where it was measured.

# %%
COMPUTING = ("workload.emit_ns", "workload.key_ns", "workload.copy_ns")
NOTHING_BACK = {"workload.entries_returned": 0, "workload.values_returned": 0}
WITHOUT = {
    "everything": {},
    "without giving back": NOTHING_BACK,
    "without computing": dict.fromkeys(COMPUTING, 0),
    "reading alone": {**NOTHING_BACK, **dict.fromkeys(COMPUTING, 0)},
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
        dots = Readings(study).values(name, "locality_interleave_s")
        axes.plot([int(count) for count in dots], list(dots.values()), "k.", fillstyle="none")
    dots = Readings(study).values(name, "interleave_s")
    axes.plot([int(count) for count in dots], list(dots.values()), "k.", label="published")
    axes.set(title=KEYS[keys], xlabel="threads", ylim=(0, 10))
panels[0].set_ylabel("time of the reduce phase (s)")
panels[1].legend(fontsize="small")
figure

# %% [markdown]
# Without giving back, 128 threads would need a third of the time or less. Without computing they would need all of it:
# the plateau is the time of one lock. It rises because a thread that gives back memory interrupts all others and waits
# for them, and it is higher for own keys, of which more come out, each with an entry to be given back. It is lower
# where threads give back pages of their own node, since the kernel's record of a page lies there, and a page takes as
# much longer as its node is farther. Reading is far below.
#
# What this does not say: with a heavy node the measured plateau is two fifths higher than for any keys, and the
# simulated one is not. And between 40 and 64 threads any keys took a third longer than with 36, for which nothing here
# has a reason.
