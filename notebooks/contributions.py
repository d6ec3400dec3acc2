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
# # What each contribution buys, and on which machines it would buy more
#
# B. Vikranth's thesis (2018) adds four things to a runtime that steals at random: *thresholds*, below which nobody is
# robbed; *stealing domains*, which keep thieves on their own node; *locality binding*, which sends tasks to their data;
# *affinity-aware locks*, which hand over within a node first. It tried them on one machine with two nodes. Here they
# meet the machines of other papers, too, with four and eight nodes, which the thesis had no access to.
#
# Each step is taken over the one before, as the thesis does it, and includes the change in how the programs of that
# chapter initialise their data. Chapter 3 had a worker on each core and chapter 4 one on each hardware thread; here all
# chapters have one on each hardware thread, so that the second thread of a core is not counted as a gain of stealing
# domains. Runs of a pair share their seeds. The programs' serial rates were fitted on the first machine; of the others
# only their files in `configs/machines/` are known, so read those columns as "if that machine were as described,
# running the same code".

# %%
import pandas as pd

from numasim.reproduce.load import read_study

study = read_study("thesis")
thesis = study.part("contributions")
Case, gains = thesis.Case, thesis.gains
for name, step in thesis.CONTRIBUTIONS.items():
    print(f"{name:22} {step.variant} over {step.over}")

# %% [markdown]
# The programs are the thesis', two of them smaller, so that five machines take minutes rather than hours.

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
# Blue is faster, red is slower. Bold values have a 95 % interval over the seeds that excludes zero, grey ones do not:
# at the sizes of these programs much of what one run would show is chance, which is worth knowing before a gain of two
# percent is reported from an average of ten.
#
# ## On which machine a contribution is worth most
#
# The geometric mean over the programs, in percent.

# %%
table = pd.DataFrame(
    {"contribution": gain.contribution, "machine": gain.machine, "speed": 1 + gain.gain.value} for gain in found
)
means = table.groupby(["contribution", "machine"], sort=False)["speed"].agg(
    lambda speed: speed.prod() ** (1 / len(speed))
)
(100 * (means.unstack(sort=False) - 1)).round(1)
