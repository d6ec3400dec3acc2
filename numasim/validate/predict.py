"""Predictions: the simulation of a cell from a recording of its program, before the cell is run.

The runtime is given the same compiled plan: the same tables and the same costs.
"""

from __future__ import annotations

from pathlib import Path

from numasim.draws import repeat_seed
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan
from numasim.runtime.fields_file import UNCOUPLED
from numasim.spec.identity import MODEL_VERSION
from numasim.spec.run_spec import RunSpec, resolve
from numasim.spec.single_part import read_machine, read_runtime, read_strategy
from numasim.validate.validation_cells import Cell, Part


def spec_of(part: Part, cell: Cell, graph: Path) -> RunSpec:
    """The specification of a cell whose program was recorded; InputError where its parts do not fit together."""
    return resolve(
        {
            "machine": part.machine,
            "workload": {"file": str(graph)},
            "strategy": cell.strategy,
            "runtime": part.runtime,
            "workers": cell.workers,
            "model": UNCOUPLED,
            "seed": part.file.seed,
        }
    )


def seeds_of(part: Part) -> list[int]:
    """The seed of each repeat, equal across cells."""
    return [seed_of(part, repeat) for repeat in range(part.repeats)]


def seed_of(part: Part, repeat: int) -> int:
    """The seed of one repeat: 63 bits, as the program takes them, and not 0, which asks for that of the plan's file."""
    return repeat_seed(part.file.seed, repeat) >> 1 or 1


def cell_identity(part: Part, cell: Cell) -> dict[str, object]:
    """What identifies a cell: how it is run, and the contents of all that is simulated and run."""
    return {
        "mode": part.file.mode,
        "costs": part.file.costs,
        "model_version": MODEL_VERSION,
        "machine": read_machine(part.machine).contents_json,
        "runtime": read_runtime(part.runtime).contents_json,
        "strategy": read_strategy(cell.strategy).contents_json,
        "workers": cell.workers,
        "kernel": cell.program.label,
    }


def plan_of(spec: RunSpec) -> Plan:
    """The plan of all repeats, which both the simulator and the runtime are given."""
    return build_plan(spec)
