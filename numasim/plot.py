"""The standard figures for notebooks: each function returns a matplotlib Figure.

Figures of a sweep take tables of results as DataFrames. The figure of iterations takes the return value of ``ns.sweep``
or ``ns.run``. Figures of one run take ``result.over_time``, or the machine and the result.
"""

from numasim.report.figures.axis_figure import column, iterations, miss_ratio, remote_steal_ratio, speedup
from numasim.report.figures.bars import time_split, worker_time_split
from numasim.report.figures.developments import queue_lengths, utilisation
from numasim.report.figures.gantt import timeline
from numasim.report.figures.plots import PLOTS, RUN_PLOTS, save, save_all
from numasim.report.figures.traffic import byte_kinds, node_bytes, node_steals, node_traffic

__all__ = [
    "PLOTS",
    "RUN_PLOTS",
    "byte_kinds",
    "column",
    "iterations",
    "miss_ratio",
    "node_bytes",
    "node_steals",
    "node_traffic",
    "queue_lengths",
    "remote_steal_ratio",
    "save",
    "save_all",
    "speedup",
    "time_split",
    "timeline",
    "utilisation",
    "worker_time_split",
]
