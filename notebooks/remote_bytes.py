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
# # Remote bytes, and where they go
#
# Strategies for NUMA machines are said to avoid remote memory. Which bytes are those? Chapter 5 of B. Vikranth's thesis
# (2018) measures volumes between the two sockets of a Xeon E5-2620, before and after tasks are bound to the node that
# most of their data is on. A simulation can take such a volume apart: what was read, what was fetched only to be
# overwritten, what was written back, and what came from the cache of another node without touching memory at all.

# %%
from rich.console import Console

import numasim as ns
from numasim.reproduce.load import read_study
from numasim.reproduce.reproduce import reproduce
from numasim.reproduce.table_figure import table_figure
from numasim.reproduce.terminal import print_table

study = read_study("thesis", ["5.3"])
thesis = study.part("variant_runs")

# %% tags=["parameters"]
row = "Strassen-2048"  # any row of experiments/thesis/programs/bots.yaml
variants = ["randomized", "threshold", "topology-aware", "locality-binding"]

# %% [markdown]
# ## Published and simulated
#
# No fit has looked at a volume. Faded bars are the thesis', full ones ours; Strassen-8192 is left out to save time.

# %%
(volumes,) = reproduce(study, "results/remote_bytes", quick=True, progress=True).tables
table_figure(volumes)

# %%
print_table(volumes, Console(width=120))

# %% [markdown]
# Bound to their data, the tasks of SparseLU read less from the other node, as published. Those of Strassen read more,
# where the thesis has a fifth less, and Sort changes nothing, since it has no tasks to bind.

# %% [markdown]
# ## What kind of bytes
#
# One program under four strategies, with the placement of data that the thesis gives each of them: the first two let
# pages lie where they happen to be touched first, from the third on all workers initialise the matrices. To write a
# line that is in no cache it is fetched first and written back later, so that what is computed moves twice.

# %%
runs = thesis.variant_runs(study, "bots", row, variants)
frame, node_pairs = runs.frame(), runs.node_pairs()
ns.plot.byte_kinds(frame, node_pairs)

# %% [markdown]
# ## From which node to which
#
# The off-diagonal squares are what crosses the link. Binding a task to the node of most of its data helps only where
# that data is on one node in the first place: the blocks that Strassen's method adds up come from everywhere, and its
# temporaries lie wherever the heap had room.

# %%
ns.plot.node_bytes(frame, node_pairs)

# %% [markdown]
# ## What the machine sees of it
#
# The same bytes as load: how busy each memory controller and each direction of the links was on average, first under
# random stealing, then with tasks bound to their data.

# %%
ns.plot.node_traffic(runs.machine, runs.results[variants[0]])

# %%
ns.plot.node_traffic(runs.machine, runs.results[variants[-1]])

# %% [markdown]
# ## What that costs
#
# Distance is *remote memory*, waiting for a busy controller or link is *contention*, and each is counted against the
# same run without it. The two are not the same: bytes that stay at home can still queue there.

# %%
ns.plot.time_split(frame)
