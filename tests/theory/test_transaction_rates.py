"""The share of attempts that abort against its closed form: two workers, uniform objects (model 4.11)."""

from __future__ import annotations

import numpy as np
import pytest
from engine_setup import SEED, plan_of, stealing

from numasim.engine.simulate import simulate
from numasim.workload.builder import Draft, Shape
from numasim.workload.graph import Deal, Kind, Op, Phase, Workload
from numasim.workload.sync_parameters import Role, SyncObject

TRANSACTIONS = 60_000  # of each worker
MEAN_PS = 1_000_000  # a thousand times what an abort takes


def two_workers(objects: int) -> Workload:
    """Transactions without pause; the times before and behind the object that each opens are exponential."""
    ops = [Op.BEGIN, Op.RUN, Op.STORE, Op.RUN, Op.COMMIT]
    shape = Shape(
        ops * TRANSACTIONS, [0] * (2 * TRANSACTIONS), [0] * (2 * TRANSACTIONS), words=[0] * (3 * TRANSACTIONS)
    )
    draft = Draft(np.full(2, -1), np.zeros(2, np.int64), [shape], kind=np.full(2, Kind.IMPLICIT))
    times = np.random.default_rng(objects).exponential(MEAN_PS, (2, 2 * TRANSACTIONS))
    draft.compute_runs(0, times.astype(np.int64))
    return draft.finish(
        name="two workers",
        parameters={},
        kernels=("work",),
        phases=(Phase(roots=(0, 1), deal=Deal.CYCLIC),),
        words=(SyncObject("memory", Role.OBJECTS, parties=objects),),
    )


@pytest.mark.parametrize("objects", [2, 4, 8])
def test_the_share_of_aborts_of_two_workers_is_that_of_the_closed_form(objects: int) -> None:
    result = simulate(plan_of(two_workers(objects), 2, stealing(mapping="contiguous")), SEED)
    assert result.counters["commits"] == 2 * TRANSACTIONS
    assert result.row()["abort_ratio"] == pytest.approx(1 / (2 * objects), rel=0.02)
