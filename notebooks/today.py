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

# %% tags=["parameters"]
programs = [{"name": "strassen", "n": 512}, {"name": "sparselu-single", "blocks": 25}, {"name": "sort", "n": 2**20}]
workers = [192, 112, 160]  # a worker on each core
repeat = 12

# %%
base = {"runtime": "ompi", "strategy": "randomized", "seed": 1, "repeat": repeat}
machines = ["epyc-9654-2s-nps4", "xeon-8480-2s-cxl", "altra-q80-30-2s"]
axes = {
    "zip": [{"machine": machines, "workers": workers}],
    "workload": programs,
    "strategy": ["randomized", "threshold", "topology-aware"],
}
first = {"machine": machines[0], "workers": workers[0], "workload": programs[0]}
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
# not a task. The number of successful steals that leave the node changes much less, and rises in some settings: a thief
# that finds no task on its own node goes to the longest queue of another node, which has tasks.

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
# In SparseLU a domain costs time: 3 % on the Xeon, two thirds on the Altra, and on the EPYC the run takes two and a
# half times as long. One worker makes all tasks. Thieves that know which queue is long ask for the cache line of this
# queue all at once, and a line serves one request after the other (model 5.6). In Sort and in Strassen a domain makes
# no sure difference. Announcements alone (`threshold`) cost more: in SparseLU from two thirds of the time to nearly
# four times the time, and up to a fifth in Sort, where workers also wait although there are tasks.
#
# ## Why
#
# In SparseLU little time goes to remote memory. The lost time is waiting for lines of queues, and waiting for work
# while the worker that makes the tasks waits for the line of its own queue.

# %%
ns.plot.time_split(frame[frame["workload"] == "sparselu-single"])

# %% [markdown]
# Does a domain save distance at all? A simulation can take distance away. In the next comparison, the second machine is
# the first machine with one change: a cache line of the other socket comes as fast as a cache line of the own socket. A
# worker is on every second core.

# %%
near = {"like": "altra-q80-30-2s", "coherence": {"cross_socket_ns": 180}}
axes = {"machine": ["altra-q80-30-2s", near], "strategy": ["randomized", "nearest-first", "topology-aware"]}
first = {"machine": "altra-q80-30-2s", "workers": workers[2] // 2, "workload": programs[1]}
without = ns.sweep({**base, **first, "sweep": axes}, "results/today-without-distance")
ns.compare(without)

# %% [markdown]
# Distance is not the reason: without distance a domain costs as much as with distance. Thieves under `nearest-first` do
# worse still. They ask all workers before they wait, and a look at an unchanged queue is free. So every thief has a
# copy of every queue's line. After each task that is put into a queue, all thieves fetch this line again, one after the
# other, and the worker that makes the tasks waits behind the thieves.
#
# The answers depend on this rule. With `runtime.costs.line: latency` a thief pays for the transfer of a line whatever
# others do, and the owner of a queue pays nothing. Then a domain saves a seventh to a fifth of the time in
# SparseLU on these machines, because its thieves find tasks soon.
#
# Two limits of these answers: the programs are small and run out of parallelism on so many cores; and data of larger
# programs does not fit the caches, so that placement would matter as in `remote_bytes.ipynb`.
