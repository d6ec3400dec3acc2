"""Kinds of tables, by name: what their values are and how they are simulated."""

from __future__ import annotations

from numasim.reproduce.kinds import claims, latency, measured, peaks, regression, row_placement, run_comparison, t_test
from numasim.reproduce.kinds.kind import Kind

KINDS: dict[str, Kind] = {
    "runs": measured.RUNS,
    "compared": run_comparison.KIND,
    "claims": claims.KIND,
    "peaks": peaks.KIND,
    "totals": measured.TOTALS,
    "machine-latency": latency.KIND,
    "row-placement": row_placement.KIND,
    "paired-t-test": t_test.KIND,
    "regression": regression.KIND,
}
