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
# B. Vikranth's thesis (2018) names two evils of random stealing on a NUMA machine: *false* steals, whose victim has no
# task, and *remote* steals, whose victim is on another node. The thesis measured both on two sockets with six cores
# each. This notebook asks the same question of machines with 112 to 192 cores:
#
# - `epyc-9654-2s-nps4`: two sockets of AMD EPYC 9654, eight NUMA nodes;
# - `xeon-8480-2s-cxl`: two sockets of Intel Xeon 8480+ with a memory expander, two nodes that compute;
# - `altra-q80-30-2s`: two sockets of Ampere Altra, two nodes.
#
# The machines are described in `configs/machines` by values that their vendors publish. The costs of the runtime are
# those of OMPi on the thesis' machine. Of these three machines only the times of cache lines are measured, of the EPYC
# and within a socket of the Altra, so read orders of magnitude and causes, not digits. Three strategies choose the
# victim: any worker (`randomized`), a worker that has announced a long queue (`threshold`), or a worker of the own node
# first and then the longest queue of another node (`topology-aware`).

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
# With so many workers nearly every random attempt is false: most queues are empty most of the time, and an idle worker
# asks again and again. On eight nodes seven of eight attempts leave the node, on two nodes one of two. Announcements
# reduce the number of attempts by a factor of ten to a thousand, and a smaller share of the remaining attempts is
# false.

# %%
print(*ns.compare(result, column="steal_attempts").sentences, sep="\n")

# %%
ns.plot.column(frame, "steal_remote_ratio", x="strategy", colour="machine", facet="workload")

# %% [markdown]
# A stealing domain (`topology-aware`) keeps nearly all attempts on the own node, as the thesis says. But an attempt is
# not a task. The share of successful steals that leave the node changes much less, and mostly in the other direction: a
# thief that finds no task on its own node goes to the longest queue of another node, which has tasks.

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
# In SparseLU a domain saves a seventh to a fifth of the time, because one worker makes all tasks and all others have to
# find this worker. In Sort and in Strassen a domain makes no sure difference. Announcements alone (`threshold`) save as
# much on one machine, and cost up to a fifth of the time in Sort, where workers wait although there are tasks.
#
# ## Why
#
# In SparseLU little time goes to remote memory. The saved time is waiting for work.

# %%
ns.plot.time_split(frame[frame["workload"] == "sparselu-single"])

# %% [markdown]
# Does a domain save distance at all? A simulation can take distance away. In the next comparison, the second machine is
# the first machine with one change: a cache line of the other socket comes as fast as a cache line of the own socket. A
# worker is on every second core.

# %%
near = {"like": "altra-q80-30-2s", "coherence": {"cross_socket_ns": 180}}
axes = {"machine": ["altra-q80-30-2s", near], "strategy": ["randomized", "nearest-first", "topology-aware"]}
first = {"machine": "altra-q80-30-2s", "workers": 80, "workload": programs[1]}
without = ns.sweep({**base, **first, "sweep": axes}, "results/today-without-distance")
ns.compare(without)

# %% [markdown]
# Without distance a domain still saves nine tenths of the time that it saves with distance. A domain pays because
# its thieves find tasks soon: the thieves look at lengths before they ask, and the longest queue belongs to the worker
# that makes all tasks. Thieves under `nearest-first` do not know lengths. They find tasks equally soon because they ask
# all workers before they wait, and pay for asking with line transfers if distance costs time. On these machines a
# domain helps against false steals first, and against remote steals second.
#
# Two limits of these answers: the programs are small and run out of parallelism on so many cores; and data of larger
# programs does not fit the caches, so that placement would matter as in `remote_bytes.ipynb`.
