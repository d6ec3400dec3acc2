"""A strategy compiled for a machine and described in plain English, for `numasim strategy show`."""

from __future__ import annotations

from numasim.machine.build_machine import build
from numasim.machine.mapping import map_workers
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.spec.single_part import read_machine, read_runtime, read_strategy
from numasim.strategy.compile_strategy import compile_strategy, effective_runtime
from numasim.strategy.plan_description import describe_plan, lock_lines, place_line, setting_lines


def show(name: str, machine_name: str, workers: int | None, worker: int, runtime_name: str) -> str:
    """Return the plan of ``worker`` under the named strategy and runtime; ``workers`` None: every hardware thread.

    Names are shipped names or paths. Raises InputError if a part does not exist or the parts do not fit together.
    """
    strategy, runtime = read_strategy(name), read_runtime(runtime_name)
    return explained(strategy, runtime, read_machine(machine_name), workers, worker)


def explained(
    strategy: StrategySpec, runtime: RuntimeSpec, machine_spec: MachineSpec, workers: int | None, worker: int
) -> str:
    """Return the plan of ``worker`` under ``strategy``, and everything else that the strategy says; ``workers`` None:
    every hardware thread. Strategies whose tables differ have other texts for some worker, as far as no list of groups
    is shortened.

    Raises InputError if the parts do not fit together, and for a worker that does not exist.
    """
    machine = build(machine_spec)
    placed = map_workers(machine, workers if workers is not None else machine.threads, strategy.mapping)
    plan = compile_strategy(strategy, runtime, machine, placed)
    plan_lines = describe_plan(plan, worker, effective_runtime(strategy, runtime))
    return "\n".join([plan_lines, place_line(placed, worker), *setting_lines(strategy), *lock_lines(strategy)])
