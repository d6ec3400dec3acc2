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
# # Does a stealing domain pay on a machine of today?
#
# B. Vikranth's thesis (2018) names two evils of random stealing on a NUMA machine: *false* steals, of which the victim
# has nothing to give, and *remote* ones, whose victim is on another node. It measured them on two sockets with six
# cores each. Here the same question goes to machines with 112 to 192 cores:
#
# - `epyc-9654-2s-nps4`: two sockets of AMD EPYC 9654, eight NUMA nodes;
# - `xeon-8480-2s-cxl`: two sockets of Intel Xeon 8480+ with a memory expander, two nodes that compute;
# - `altra-q80-30-2s`: two sockets of Ampere Altra, two nodes.
#
# The machines are described in `configs/machines` by what their vendors publish, and the costs of the runtime are those
# of OMPi on the thesis' machine. Nothing was measured on these three, so read orders of magnitude and causes, not
# digits. Three strategies choose the victim: anybody (`randomized`), somebody who has announced that the queue is long
# (`threshold`), and the own node first, then the longest queue of another one (`topology-aware`).

# %%
import numasim as ns

base = {"runtime": "ompi", "strategy": "randomized", "seed": 1, "repeat": 12}
machines = ["epyc-9654-2s-nps4", "xeon-8480-2s-cxl", "altra-q80-30-2s"]
programs = [{"name": "strassen", "n": 512}, {"name": "sparselu-single", "blocks": 25}, {"name": "sort", "n": 2**20}]
axes = {
    "zip": [{"machine": machines, "workers": [192, 112, 160]}],  # a worker on each core
    "workload": programs,
    "strategy": ["randomized", "threshold", "topology-aware"],
}
first = {"machine": machines[0], "workers": 192, "workload": programs[0]}
result = ns.sweep({**base, **first, "sweep": axes}, "results/today")
frame = result.to_frame()

# %% [markdown]
# ## How many steals are false, how many remote
#
# With so many workers nearly every random attempt is false: most queues are empty most of the time, and whoever is idle
# asks again and again. Seven attempts in eight leave the node where there are eight nodes, one in two where there are
# two. Announcements save most attempts, a factor of ten to a thousand, and fewer of the rest are false.

# %%
print(*ns.compare(result, column="steal_attempts").sentences, sep="\n")

# %%
ns.plot.column(frame, "steal_remote_ratio", x="strategy", colour="machine", facet="workload")

# %% [markdown]
# A stealing domain keeps nearly all attempts at home, as the thesis has it. But an attempt is not a task. Counted by
# the steals that found something, the domain changes much less, and mostly in the other direction: who has looked in
# vain on the own node goes to the longest queue of another one, which has tasks.

# %%
ns.plot.column(frame, "steal_success_remote", x="strategy", colour="machine", facet="workload")

# %%
print(*ns.compare(result, column="steal_success_remote").sentences, sep="\n")

# %% [markdown]
# ## What that is worth

# %%
ns.plot.column(frame, x="strategy", colour="machine", facet="workload")

# %%
ns.compare(result)

# %% [markdown]
# A domain pays a seventh to a fifth of the time in SparseLU, where one worker makes all tasks and everybody has to find
# that one. In Sort it makes no sure difference, and in Strassen it costs about as often as it gains. Announcements
# alone gain as much on one machine, and cost as much as a fifth in Sort, where workers wait although there are tasks.
#
# ## Why
#
# Where the time goes in SparseLU: hardly to remote memory. What is saved is waiting for work.

# %%
ns.plot.time_split(frame[frame["workload"] == "sparselu-single"])

# %% [markdown]
# So is it distance at all that the domain saves? A simulation can take distance away. The second machine here is the
# first with one change: a cache line of the other socket comes as fast as one of the own. A worker is on every second
# core.

# %%
near = {"like": "altra-q80-30-2s", "coherence": {"cross_socket_ns": 60}}
axes = {"machine": ["altra-q80-30-2s", near], "strategy": ["randomized", "nearest-first", "topology-aware"]}
first = {"machine": "altra-q80-30-2s", "workers": 80, "workload": programs[1]}
without = ns.sweep({**base, **first, "sweep": axes}, "results/today-without-distance")
ns.compare(without)

# %% [markdown]
# Without distance a domain still saves three quarters of what it saves with it. It pays because its thieves find tasks
# soon: they look at lengths before they ask, and the longest queue is that of the worker that makes all tasks.
# `nearest-first`, which knows of no lengths, finds them as soon by asking everybody before it waits, and pays for that
# in line transfers where distance costs. On these machines a domain is an answer to false steals first, and to remote
# ones second.
#
# What this does not say: the programs are small, so that they run out of parallelism on so many cores; data of larger
# ones does not fit the caches, and placement would matter as it does in `remote_bytes.ipynb`.
