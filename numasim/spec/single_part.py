"""One part or workload on its own, as a command line names it: a shipped name, a path or a YAML flow mapping."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from numasim.errors import InputError
from numasim.parts.base import Model
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.validation import validate
from numasim.parts.yaml.nodes import Node, Place, Source, from_python, shown
from numasim.spec.overrides import flow_value
from numasim.spec.part_reader import PARTS, PartReader
from numasim.spec.run_spec import validated_workload, workload_mapping
from numasim.workload.parameters import AnyWorkload

NOWHERE = Place(Source("", Path()))  # a command line is no file


def read_machine(text: str) -> MachineSpec:
    """The machine of a shipped name or path. InputError for anything that is wrong, with its place."""
    return cast(MachineSpec, _read_part("machine", text))


def read_strategy(text: str) -> StrategySpec:
    """The strategy of a shipped name or path. InputError for anything that is wrong, with its place."""
    return cast(StrategySpec, _read_part("strategy", text))


def read_runtime(text: str) -> RuntimeSpec:
    """The runtime of a shipped name or path. InputError for anything that is wrong, with its place."""
    return cast(RuntimeSpec, _read_part("runtime", text))


def read_workload(text: str, parameters: Sequence[str] = ()) -> AnyWorkload:
    """The workload of a name or a flow mapping such as ``{name: fib, n: 20}``, with ``parameters`` such as ``n=20``."""
    node = workload_mapping(_flow_value(text)) if text else Node({}, NOWHERE)
    for word in parameters:
        name, equals, value = word.partition("=")
        if not equals:
            raise InputError(f"got {shown(word)}", expected="parameters of the workload, such as n=10")
        if name in node.mapping():
            raise InputError(f"the parameter {name!r} is given twice", expected="each parameter once")
        node = node.replaced(name, _flow_value(value, word), NOWHERE)
    return validated_workload(node)


def _flow_value(text: str, whole: str | None = None) -> Node:
    """The YAML value ``text``; errors of its syntax are placed at the ``whole`` word that it stands in."""
    return from_python(flow_value(text, Source(whole or text, Path())).plain(), NOWHERE)


def _read_part(part: str, text: str) -> Model:
    model: type[Model] = PARTS[part]
    document = PartReader().expand(part, from_python(text, NOWHERE))
    if part in document.mapping() and "workload" in document.mapping():
        place = str(document.keys[part])
        raise InputError(
            "this is the file of a run", place=place, expected=f"the file of a {part}, as it names one here"
        )
    return validate(model, document, (part,))
