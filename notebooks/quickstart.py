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
# # The quick start in a notebook
#
# Whom should a thief steal from, and how much, if one worker makes all the tasks? The quick start asks this question of
# SparseLU on two sockets of AMD EPYC 9654 with eight NUMA nodes. This notebook has smaller matrices and fewer numbers
# of workers, so that the sweep takes seconds. Four strategies choose the victim:
#
# - `randomized`: any other worker;
# - `nearest-first`: all workers of the own node before any farther worker;
# - `topology-aware`: a worker of the own node; a queue of another node only if the queue is long;
# - `steal-half`: any other worker, but half of the victim's tasks.

# %%
import numasim as ns

small = {"workload.blocks": 25, "sweep.workers": [8, 48, 96]}
result = ns.sweep("quickstart", "results/quickstart", **small)
result

# %% [markdown]
# The two runs of a pair share a seed and therefore all task times, so that small differences show. Strategies, or the
# values of any other axis, can be compared with any baseline and in any column:

# %%
print(*ns.compare(result, "strategy", baseline="steal-half", column="steal_attempts").sentences, sep="\n")

# %% [markdown]
# ## How many steals miss, how many leave the node
#
# Seven of eight nodes are not the thief's own: the dashed line is the chance that a victim drawn at random is remote.

# %%
frame = result.to_frame()
ns.plot.miss_ratio(frame)

# %%
ns.plot.remote_steal_ratio(frame, result.workers())

# %% [markdown]
# ## What that costs, and where the time goes
#
# The parts of the workers' time add up exactly to workers x makespan. With 96 workers the program has too few tasks
# for all workers, and the strategies differ in the time that workers search for tasks and wait for the cache lines of
# queues.

# %%
ns.plot.column(frame, x="strategy", facet="workers")

# %%
ns.plot.time_split(frame)

# %% [markdown]
# ## One run in detail
#
# A single run is shown with its time by node and the bytes that cross between nodes.

# %%
run = ns.run("quickstart", workers=48, strategy="topology-aware", over_time=True, **{"workload.blocks": 25})
run

# %%
ns.plot.utilisation(run.over_time)
