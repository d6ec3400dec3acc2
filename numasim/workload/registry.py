"""The workload families by name: every module of `numasim.workload.families` defines one or several.

A new family is a new file there. The union that validates specifications, and the lists of the command line, the
benchmark and the tests, are built from these modules.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any, Union

from pydantic import Discriminator, Tag, TypeAdapter

from numasim.errors import InputError
from numasim.workload import families
from numasim.workload.family import Family
from numasim.workload.parameters import WorkloadFile, WorkloadParameters

FILE_TAG = "file"


def _registered() -> dict[str, Family]:
    modules = (import_module(f"{families.__name__}.{found.name}") for found in iter_modules(families.__path__))
    every = [family for module in modules for family in module.FAMILIES]
    return {family.name: family for family in sorted(every, key=lambda family: family.name)}


FAMILIES: dict[str, Family] = _registered()
PARAMETERS: dict[str, type[WorkloadParameters]] = {name: family.parameters for name, family in FAMILIES.items()}


def workload_tag(value: Any) -> str | None:
    """The tag of the `WorkloadSpec` member for a mapping or model: a registered name, or ``file``."""
    if isinstance(value, WorkloadFile) or (isinstance(value, dict) and "name" not in value and "file" in value):
        return FILE_TAG
    name = value.get("name") if isinstance(value, dict) else getattr(value, "name", None)
    return name if isinstance(name, str) else None


def _union() -> Any:
    tagged = [Annotated[model, Tag(name)] for name, model in PARAMETERS.items()]
    return Annotated[Union[*tagged, Annotated[WorkloadFile, Tag(FILE_TAG)]], Discriminator(workload_tag)]


WorkloadSpec = _union()


def workload_spec(name: str, **parameters: Any) -> WorkloadParameters:
    """The checked parameters of benchmark ``name``.

    Raises `InputError` for a name that is not registered, pydantic's ``ValidationError`` for bad parameters.
    """
    if name not in PARAMETERS:
        raise InputError(
            f"there is no workload {name!r}",
            path=("name",),
            expected=f"one of {', '.join(PARAMETERS)}",
            value=name,
            known=PARAMETERS,
        )
    return TypeAdapter(PARAMETERS[name]).validate_python({"name": name, **parameters})
