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
# # Gains of each contribution, on the machine of the thesis and on other machines
#
# B. Vikranth's thesis (2018) adds four contributions to a runtime that steals at random: *thresholds*, the least
# lengths of the queues from which thieves steal; *stealing domains*, which keep thieves on their own node;
# *locality binding*, which sends tasks to the node of their data; and *affinity-aware locks*, which are handed over
# within a node first. The thesis tries them on one machine with two nodes. This notebook simulates the contributions
# also on machines of other papers, with four and eight nodes.
#
# The gain of a contribution is relative to the contribution before, as in the thesis. The gain includes the change in
# how the programs of that chapter initialise their data. In chapter 3 of the thesis there is a worker on each core, in
# chapter 4 a worker on each hardware thread. In this notebook there is always a worker on each hardware thread, so that
# the second thread of a core is not counted as a gain of stealing domains. Runs of a pair share their seeds. The serial
# rates of the programs were fitted on the first machine. For the other machines only the files in `configs/machines/`
# are known: their columns are predictions for a machine as in the file that runs the same code at the same rates.

# %%
import pandas as pd

from numasim.reproduce.study import read_study

study = read_study("thesis")
thesis = study.part("contributions")
Case, gains = thesis.Case, thesis.gains
for name, step in thesis.CONTRIBUTIONS.items():
    print(f"{name:22} {step.variant} over {step.over}")

# %% [markdown]
# The programs are the programs of the thesis. Two programs are smaller, so that five machines take minutes and not
# hours.

# %% tags=["parameters"]
machines = ["xeon-e5-2620-2s", "opteron-8380-4s", "xeon-x7560-4s", "opteron-875-8s", "xeon-6130-4s"]
cases = [
    Case("Strassen 2048", "Strassen-2048"),
    Case("Sort of 2^22", "Sort-33554432", {"workload.n": 2**22}),
    Case("SparseLU 64 x 64", "SparseLU-single", {"workload.blocks": 64}),
]
repeat = 3

# %%
alike = {"workers of chapter 3": "one on each hardware thread"}
found = gains(study, "results/contributions", cases, machines, repeat=repeat, readings=alike, progress=True)
thesis.gains_figure(found)

# %% [markdown]
# Blue is faster, red is slower. The 95 % interval over the seeds excludes zero for a bold value and includes zero for a
# grey value. At these sizes of programs, much of the difference between two single runs is chance. A gain of two
# percent in an average of ten runs may therefore be chance.
#
# ## Gain on each machine
#
# The table has the geometric mean of the gains over the programs, in percent.

# %%
table = pd.DataFrame(
    {"contribution": gain.contribution, "machine": gain.machine, "speed": 1 + gain.gain.value} for gain in found
)
means = table.groupby(["contribution", "machine"], sort=False)["speed"].agg(
    lambda speed: speed.prod() ** (1 / len(speed))
)
(100 * (means.unstack(sort=False) - 1)).round(1)
