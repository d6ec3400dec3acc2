"""The standard figures for notebooks: each takes tables of results as DataFrames and returns a matplotlib Figure."""

from numasim.report.bars import time_split, worker_time_split
from numasim.report.curves import miss_ratio, remote_steal_ratio, speedup
from numasim.report.heatmaps import node_bytes, node_steals
from numasim.report.plots import PLOTS, save, save_all

__all__ = [
    "PLOTS",
    "miss_ratio",
    "node_bytes",
    "node_steals",
    "remote_steal_ratio",
    "save",
    "save_all",
    "speedup",
    "time_split",
    "worker_time_split",
]
