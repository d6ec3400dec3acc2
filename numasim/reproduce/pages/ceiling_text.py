"""Text of ceilings, the same in Markdown and in HTML."""

from __future__ import annotations

from numasim.reproduce.ceilings.ceiling import Ceiling, ScoreBound
from numasim.reproduce.score.metrics import METRICS


def bound_sentence(ceiling: Ceiling) -> str:
    """Write which scores a ceiling bounds and by how much, or why it bounds none."""
    if not ceiling.bounds:
        return f"It bounds no score: {ceiling.no_bound}"
    return f"It bounds {'; '.join(map(_bound_text, ceiling.bounds))}."


def _bound_text(bound: ScoreBound) -> str:
    metric = METRICS[bound.metric]
    side = "at most" if metric.rising else "at least"
    value = f"{100 * bound.value:.2g}%" if metric.percent else f"{bound.value:.2g}"
    rest = "" if bound.covered == bound.cells else f"; {bound.covered} of {bound.cells} cells, the others taken as met"
    return f"{bound.score} ({metric.label} {side} {value}{rest})"
