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
# # Which conclusions depend on an assumption?
#
# A simulation depends on three kinds of uncertain inputs: parameters that were *fitted*; data of *vendors* and
# assumptions about the machine; and *readings*, which are answers to questions that the thesis leaves open. The file
# `experiments/thesis/sensitivity.yaml` lists the inputs of the first two kinds, each with a range and the source of the
# range. The file `paper.yaml` lists the readings, with the sentences of the thesis that support each answer. In this
# notebook each input is set to both ends of its range, one input at a time. For each change the tables of the Barcelona
# OpenMP tasks are simulated again, and all conclusions are computed again.
#
# There are two kinds of conclusions. The mean gain of a contribution over the programs holds if its sign stays the
# same. The score of a class of predictions holds if the score still meets, or still misses, the bound of the study.

# %%
from rich.console import Console

from numasim.reproduce.study import read_study

study = read_study("thesis")
thesis = study.part("sensitivity")

# %% [markdown]
# Two of the programs with some of the inputs take a minute or two. With `only = []` and `rows = []` all programs and
# all inputs are simulated, which takes six minutes or more on two cores.

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
# ## Gains of the contributions
#
# A bar leads from the value of the unchanged model to the value at an end of the range. The grey band is the range of
# other seeds without any change. A bar within the band may be due to another schedule alone. If a bar crosses the
# dashed line, the sign of the gain, and with the sign the conclusion of the thesis, depends on this input.

# %%
thesis.tornado_figure(found, list(thesis.CONTRIBUTIONS))

# %% [markdown]
# ## Scores of the predictions
#
# The bars of scores are drawn in the same way. The dashed line is the bound of the study.

# %%
thesis.tornado_figure(found, [rule.name for rule in study.rules])

# %% [markdown]
# ## In short
#
# The table shows under how many changes each conclusion holds, and which changes influence the conclusion most.

# %%
thesis.print_robustness(found, Console(width=120))
