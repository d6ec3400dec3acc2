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
# # Which steals miss, and which leave the node?
#
# B. Vikranth's thesis (2018) asks this of a dual-socket Xeon E5-2620. Here the same question goes to a simulated one,
# on two of its programs: matrix multiplication, whose independent tasks one thread deals to everybody, and
# Strassen's method, whose tasks spawn tasks. Three strategies choose the victim of a steal:
#
# - `randomized`: any other worker;
# - `threshold`: a worker that has announced that its queue is long;
# - `topology-aware`: a worker of the own node; another node only if a queue there is long.
#
# The sweep is `thesis-strategies` with a smaller Strassen and fewer steps, so that it takes seconds.

# %%
# %matplotlib inline
from tempfile import mkdtemp

from rich.console import Console

import numasim as ns
from numasim.report.answers.answer_table import render

result = ns.sweep(
    "thesis-strategies",
    mkdtemp(),
    repeat=5,
    **{
        "sweep.workers": [2, 6, 12, 24],
        "sweep.zip": [
            {
                "workload": [{"name": "matmul", "n": 1024}, {"name": "strassen", "n": 512}],
                "runtime": ["own", "ompi"],
            }
        ],
    },
)
frame = result.to_frame()
assert frame["error"].isna().all()
frame[["workload", "strategy", "workers", "repeat", "makespan_ps", "steal_attempts", "steal_false"]].head()

# %% [markdown]
# ## The answer
#
# One row for each cell. A strategy is compared with the first one over runs that share a seed, hence all task times, so
# small differences show; the last column names the part of the workers' time that changed most in that direction.

# %%
render(frame, Console(width=120))

# %% [markdown]
# ## How many steals miss
#
# In Strassen nearly every random attempt misses: for much of the run there are fewer ready tasks than workers, and an
# idle worker asks again every 270 ns. Workers under `threshold` ask only where work was announced, so what they miss
# is only what another thief took first.

# %%
ns.plot.miss_ratio(frame)

# %% [markdown]
# ## How many steals leave the node
#
# With workers dealt evenly to two nodes a random victim is remote with probability (P/2)/(P-1): 1 at 2 workers, 6/11 at
# 12, 12/23 at 24; the dashed line. A stealing domain takes the share to nearly zero as soon as the own node has
# somebody to ask. `threshold` does not look at distance, so its share is that of the nodes whose queues are long.

# %%
ns.plot.remote_steal_ratio(frame, result.workers())

# %% [markdown]
# ## From where to where
#
# Attempts are one thing, tasks that move are another. The first map shows which nodes the successful steals join, the
# second the bytes between the node that computes and the node that holds the memory. The inputs were initialised by
# worker 0, so node 0 is their home; who steals does not change that, only where the pages lie does.

# %%
ns.plot.node_steals(frame, result.node_pairs())

# %%
ns.plot.node_bytes(frame, result.node_pairs())

# %% [markdown]
# ## Where the time goes
#
# The components add up to workers x makespan, so nothing hides. Matrix multiplication pays for remote memory on one of
# the nodes and hardly for stealing, whatever the strategy; Strassen at this size runs out of parallelism, which shows
# as waiting between attempts. Above 12 workers two of them share a core: what that costs stands beside what the memory
# controllers' being busy with others costs.

# %%
ns.plot.time_split(frame)
