"""One part or workload on its own, as a command line names it: a shipped name, a path or a YAML flow mapping."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from numasim.parts.base import Model
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.validation import validate
from numasim.parts.yaml.nodes import Place, Source, from_python
from numasim.spec.overrides import from_text
from numasim.spec.part_reader import PartReader
from numasim.spec.run_spec import PARTS, validated_workload, workload_mapping
from numasim.workload.parameters import WorkloadFile, WorkloadParameters


def read_machine(text: str) -> MachineSpec:
    """The machine of a shipped name or path. InputError for anything that is wrong, with its place."""
    return cast(MachineSpec, _read_part("machine", text))


def read_strategy(text: str) -> StrategySpec:
    """The strategy of a shipped name or path. InputError for anything that is wrong, with its place."""
    return cast(StrategySpec, _read_part("strategy", text))


def read_runtime(text: str) -> RuntimeSpec:
    """The runtime of a shipped name or path. InputError for anything that is wrong, with its place."""
    return cast(RuntimeSpec, _read_part("runtime", text))


def read_workload(text: str) -> WorkloadParameters | WorkloadFile:
    """The workload of a name or a flow mapping such as ``{name: fib, n: 20}``."""
    return validated_workload(workload_mapping(from_text(f"workload={text}").value))


def _read_part(part: str, text: str) -> Model:
    model: type[Model] = PARTS[part]
    return validate(model, PartReader().expand(part, from_python(text, Place(Source("", Path())))), (part,))
