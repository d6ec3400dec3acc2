"""The costs of the kernels of BOTS: rates are parameters, and serial times follow in closed form."""

from __future__ import annotations

import pytest

from numasim.api import run
from numasim.workload.parameters import compute_ps

LATENCY_PS = 77_300
BASE = {"machine": "xeon-e5-2620-2s", "strategy": "randomized", "workers": 1, "seed": 1}


@pytest.mark.parametrize(
    ("workload", "published_s"),
    [({"name": "strassen", "n": 2048}, 1.81542), ("sparselu-single", 11.1524), ("sparselu-for", 10.842)],
)
def test_default_rates_give_the_published_serial_times(workload: object, published_s: float) -> None:
    """Serial times of thesis Table 3.4, to the 5 % by which the rows of the table disagree about a rate."""
    assert run({**BASE, "workload": workload}).row()["serial_ps"] / 1e12 == pytest.approx(published_s, rel=0.05)


@pytest.mark.parametrize(
    ("units", "rate", "expected"), [(0, 5, 0), (1, 499, 0), (1, 500, 1), (3, 1000, 3), (7, 1500, 11)]
)
def test_compute_times_round_to_the_nearest(units: int, rate: int, expected: int) -> None:
    assert compute_ps(units, rate) == expected
