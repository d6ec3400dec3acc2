"""The serial time of a plan's workload: all its segments on worker 0, every byte local, no overhead (model 6)."""

from __future__ import annotations

from numasim.engine.plan import Plan
from numasim.workload.serial import serial_ps as workload_serial_ps


def serial_ps(plan: Plan) -> int:
    """Serial time in picoseconds on the node of worker 0."""
    node = int(plan.workers.node[0])
    return workload_serial_ps(plan.workload, int(plan.machine.latency_ps[node, node]), seed=plan.seed)
