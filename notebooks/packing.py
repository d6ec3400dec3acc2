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
# # Tuning one packing
#
# LAWS (Chen and Guo 2015) lets each socket execute one *cache-friendly subtree* of tasks at a time. LAWS tunes the size
# of the subtrees, the *packing*, while the program runs (Algorithm 1 of the paper). In the first iteration LAWS counts
# the cache misses of every task, which give a first packing. In the next iterations LAWS tries smaller and smaller
# subtrees as long as each step is faster. If the first step is not faster, LAWS tries larger subtrees instead. This
# notebook shows one program: heat over 8,096 x 1,024 points on four Opteron 8380, with a last-level cache of 6 MiB for
# each socket.

# %%
from matplotlib.figure import Figure

import numasim as ns

question = {
    "machine": "opteron-8380-4s",
    "workload": {"name": "heat", "x": 8096, "y": 1024, "sweeps": 32},
    "workers": 16,
    "seed": 1,
}

# %% [markdown]
# ## Time per iteration
#
# An iteration is a sweep from one array to the other and a sweep back. In the first iteration LAWS pays for counting
# misses. In the next iterations LAWS tries packings, and then keeps the best packing.


# %%
def iterations(strategy):
    """The time of each iteration under a strategy, in ms."""
    rows = ns.run(question | {"strategy": strategy}).iterations
    return rows.groupby("iteration")["time_ps"].sum() / 1e9


times = {name: iterations(name) for name in ("cilk", "cats", "laws-nc", "laws")}
figure = Figure(figsize=(8, 3.5), layout="constrained")
axes = figure.subplots()
for name, each in times.items():
    axes.plot(each.index, each, marker=".", label=name)
axes.set(xlabel="iteration", ylabel="time of the iteration (ms)", ylim=(0, None))
axes.legend()
figure

# %% [markdown]
# ## Time against packing
#
# The same program with a fixed packing: subtrees begin at a given depth of the tree, and a subtree at depth d has about
# 8,096 / 2^d rows. In Figure 5 of the paper the time over the depth is a U, and the paper explains both ends of the U
# by the cache. The simulated times are a U, too, half a per cent deep, but the misses of the sockets hardly change: a
# sweep reads every line once under every packing. Large subtrees leave sockets without work at the end of a sweep.
# Small subtrees leave the cores of a socket without work between one subtree and the next.


# %%
def packed(depth):
    """The mean time of later iterations, in ms, and the misses of all sockets, in millions."""
    packing = {"what": "packing", "start": {"depth": depth}, "moves": []}
    strategy = {"name": f"depth-{depth}", "like": "laws", "tune": packing}
    result = ns.run(question | {"strategy": strategy})
    rows = result.iterations.groupby("iteration")["time_ps"].sum()
    fetched = sum(result.traffic[kind].sum() for kind in ("read", "ownership", "cache"))
    return rows.iloc[5:].mean() / 1e9, fetched / 64 / 1e6


depths = range(2, 9)
found = [packed(depth) for depth in depths]
figure = Figure(figsize=(8, 3.2), layout="constrained")
first, second = figure.subplots(1, 2)
first.plot(depths, [time for time, _ in found], marker="o")
first.set(xlabel="depth at which subtrees begin", ylabel="time of an iteration (ms)")
second.plot(depths, [misses for _, misses in found], marker="o")
second.set(xlabel="depth at which subtrees begin", ylabel="misses of all sockets (millions)", ylim=(0, 80))
figure
