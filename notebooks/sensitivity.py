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
# # Which conclusions would fall if an assumption did?
#
# A simulation rests on three kinds of things that might be otherwise: parameters that were *fitted*, data of *vendors*
# and assumptions about the machine, and *readings* of what the thesis leaves open.
# `experiments/thesis/sensitivity.yaml` lists them, each with a range and its source, and `paper.yaml` the readings with
# the sentences that speak for each. Here each is set to both ends of its range, one at a time, the tables of the
# Barcelona OpenMP tasks are made again, and every conclusion is drawn again.
#
# The conclusions are the mean gain of each contribution over the programs, which holds as long as its sign does, and
# the score of each class of predictions, which holds as long as its bound stays met or missed.

# %%
from rich.console import Console

from numasim.reproduce.load import read_study

study = read_study("thesis")
thesis = study.part("sensitivity")

# %% [markdown]
# Two of the programs and a choice of assumptions take a minute or two; with `only = []` and `rows = []` all are looked
# at, which takes six minutes or more on two cores.

# %% tags=["parameters"]
rows = ["Strassen-2048", "SparseLU-single"]
only = [
    "workers of chapter 3",
    "misses under way",
    "controller bandwidth",
    "link bandwidth",
    "last-level cache",
    "Strassen's heap",
    "join",
    "overlap",
]

# %%
found = thesis.sensitivity(study, "results/sensitivity", rows=rows, only=only, progress=True)

# %% [markdown]
# ## What the contributions buy
#
# A bar goes from the value as modelled to the value at an end of the range. The grey band is the range of other seeds
# with nothing changed: a bar within it shows no more than that a schedule has changed. Where a bar crosses the dashed
# line, the sign of the effect, and with it what the thesis would conclude, hangs on that assumption.

# %%
thesis.tornado_figure(found, list(thesis.CONTRIBUTIONS))

# %% [markdown]
# ## How good the predictions are
#
# The same for the scores. The dashed line is what the study asks for.

# %%
thesis.tornado_figure(found, [rule.name for rule in study.rules])

# %% [markdown]
# ## In short
#
# Of how many changes each conclusion survives, and which of them move it most.

# %%
thesis.print_robustness(found, Console(width=120))
