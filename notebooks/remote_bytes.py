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
# Strategies for NUMA machines are said to avoid remote memory. Which bytes do they avoid? Chapter 5 of B. Vikranth's
# thesis (2018) measures volumes between the two sockets of a Xeon E5-2620, before and after tasks are bound to the node
# with most of their data. A simulation divides such a volume by kind: bytes that were read, bytes that were fetched
# only to be overwritten, bytes that were written back, and bytes that came from the cache of another node and not from
# memory.

# %%
from rich.console import Console

import numasim as ns
from numasim.reproduce.reproduce import reproduce
from numasim.reproduce.study import read_study
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
# No parameter was fitted to a volume. Faded bars are published volumes, full bars simulated volumes. Strassen-8192 is
# left out to save time.

# %%
(volumes,) = reproduce(study, "results/remote_bytes", quick=True, progress=True).tables
table_figure(volumes)

# %%
print_table(volumes, Console(width=120))

# %% [markdown]
# If tasks are bound to their data, the tasks of SparseLU read less from the other node, as published. The tasks of
# Strassen read more, although the thesis prints a fifth less. Sort has no tasks to bind, so that its volume is the
# same.

# %% [markdown]
# ## What kind of bytes
#
# The figure shows one program under four strategies. The placement of data is the placement that the thesis gives each
# strategy: with the first two strategies a page lies on the node of the worker that touches the page first; with the
# other two strategies all workers initialise the matrices. A line that is written and is in no cache is first fetched
# and later written back, so that written bytes move twice.

# %%
runs = thesis.variant_runs(study, "bots", row, variants)
frame, node_pairs = runs.frame(), runs.node_pairs()
ns.plot.byte_kinds(frame, node_pairs)

# %% [markdown]
# ## From which node to which
#
# The squares beside the diagonal are the bytes that cross the link. Binding a task to the node with most of its data
# helps only if all this data is on one node. The blocks that Strassen's method adds up come from both nodes, and its
# temporary matrices lie where the heap has room.

# %%
ns.plot.node_bytes(frame, node_pairs)

# %% [markdown]
# ## Load of the machine
#
# The same bytes load the memory controllers and the links. The first figure shows how busy each controller and each
# direction of a link was on average under random stealing, the second figure with tasks bound to their data.

# %%
ns.plot.node_traffic(runs.machine, runs.results[variants[0]])

# %%
ns.plot.node_traffic(runs.machine, runs.results[variants[-1]])

# %% [markdown]
# ## Cost in time
#
# *Remote memory* is the time that distance adds. *Contention* is the time that waits for busy controllers and links
# add. Each is the difference from the same run without distance, or without these waits. Bytes within a node have no
# remote time, but may wait for the controller of the node.

# %%
ns.plot.time_split(frame)
