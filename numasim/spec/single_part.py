"""A part or workload that a command line gives: by a shipped name, a path or a YAML flow mapping."""

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
from numasim.parts.yaml.nodes import NO_PLACE, Node, Source, from_python, shown
from numasim.spec.overrides import flow_value
from numasim.spec.part_reader import PARTS, PartReader
from numasim.spec.run_spec import validated_workload, workload_mapping
from numasim.workload.parameters import AnyWorkload


def read_machine(text: str) -> MachineSpec:
    """Return the machine of a shipped name or path. Raises InputError, with its place, for any mistake."""
    return cast(MachineSpec, _read_part("machine", text))


def read_strategy(text: str) -> StrategySpec:
    """Return the strategy of a shipped name or path. Raises InputError, with its place, for any mistake."""
    return cast(StrategySpec, _read_part("strategy", text))


def read_runtime(text: str) -> RuntimeSpec:
    """Return the runtime of a shipped name or path. Raises InputError, with its place, for any mistake."""
    return cast(RuntimeSpec, _read_part("runtime", text))


def read_workload(text: str, parameters: Sequence[str] = ()) -> AnyWorkload:
    """Return the workload of a name or mapping such as ``{name: fib, n: 20}``, with ``parameters`` like ``n=20``."""
    node = workload_mapping(_flow_value(text)) if text else Node({}, NO_PLACE)
    for word in parameters:
        name, equals, value = word.partition("=")
        if not equals:
            raise InputError(f"got {shown(word)}", expected="parameters of the workload, such as n=10")
        if name in node.mapping():
            raise InputError(f"the parameter {name!r} is given twice", expected="each parameter once")
        node = node.replaced(name, _flow_value(value, word), NO_PLACE)
    return validated_workload(node)


def _flow_value(text: str, whole: str | None = None) -> Node:
    """Return the YAML value ``text``; a syntax error is placed at the word ``whole``, which contains the text."""
    return from_python(flow_value(text, Source(whole or text, Path())).plain(), NO_PLACE)


def _read_part(part: str, text: str) -> Model:
    document = PartReader().expand(part, from_python(text, NO_PLACE))
    if part in document.mapping() and "workload" in document.mapping():
        expected = f"the file of a {part}, as it names one here"
        raise InputError("this is the file of a run", place=document.keys[part], expected=expected)
    return validate(PARTS[part], document, (part,))
