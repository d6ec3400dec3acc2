"""The workload families by name. A family is a generator of programs with its parameters.

Every module of `numasim.workload.families` defines one or several families. A new family is a new file there and a name
in `ALONE` or `OTHERS`. The table `MODULES` gives names without importing modules, so that a run imports only the family
that the run generates. The command line, the benchmark and the tests list the families of this table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union

from pydantic import Discriminator, Tag, TypeAdapter

from numasim.errors import InputError
from numasim.workload import families
from numasim.workload.graph import Workload
from numasim.workload.parameters import AnyWorkload, Family, WorkloadFile, WorkloadGraph, WorkloadParameters

T = TypeVar("T")
FILE_TAG = "file"
ALONE = ["cholesky", "fft", "fib", "ga", "independent", "knapsack", "mandelbrot", "matmul", "nqueens", "sort"]
ALONE += ["spinlock", "strassen", "syncbench", "uts"]  # modules with one family, which has the name of the module
OTHERS = {  # the families of each other module
    "ge": ["ge", "ge-ir"],
    "home_test": ["home-test"],
    "random_graphs": ["random-fork-join", "random-layered"],
    "reductions": ["map-reduce", "reduce"],
    "sparselu": ["sparselu-for", "sparselu-single"],
    "stencils": ["25p", "25p-ir", "6p", "6p-ir", "9p", "9p-ir", "heat", "heat-ir", "sor", "sor-ir"],
    "tournaments": ["horizontal-tournament", "vertical-tournament"],
    "worklists": ["transactions", "worklist"],
}
_PAIRS = [(name, module) for module, names in OTHERS.items() for name in names]
MODULES = dict(sorted([*_PAIRS, *zip(ALONE, ALONE, strict=True)]))  # the module of each family


class _ByName(Mapping[str, T]):
    """A mapping from names of families to values that are made on demand."""

    def __init__(self, of: Callable[[Family], T]) -> None:
        self._of = of

    def __getitem__(self, name: str) -> T:
        module = import_module(f"{families.__name__}.{MODULES[name]}")
        return next(self._of(family) for family in module.FAMILIES if family.name == name)

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)

    def __contains__(self, name: object) -> bool:
        return name in MODULES  # does not import the module


FAMILIES: Mapping[str, Family] = _ByName(lambda family: family)
PARAMETERS: Mapping[str, type[WorkloadParameters]] = _ByName(lambda family: family.parameters)


def described(name: str) -> str:
    """Return the first line of the description of the family ``name``."""
    return (PARAMETERS[name].__doc__ or "").split("\n")[0].replace("``", "`")


def workload_tag(value: Any) -> str | None:
    """Return the tag by which `workload_union` picks the model of ``value``: the family's name, ``file``, or None."""
    if isinstance(value, WorkloadFile) or (isinstance(value, dict) and "name" not in value and "file" in value):
        return FILE_TAG
    name = value.get("name") if isinstance(value, dict) else getattr(value, "name", None)
    return name if isinstance(name, str) else None


def workload_union() -> Any:
    """Return the union type of the parameters of all families and of `WorkloadFile`, with tags for pydantic."""
    tagged = [Annotated[model, Tag(name)] for name, model in PARAMETERS.items()]
    return Annotated[Union[*tagged, Annotated[WorkloadFile, Tag(FILE_TAG)]], Discriminator(workload_tag)]


def workload_spec(name: str, **parameters: Any) -> WorkloadParameters:
    """Return the checked parameters of the family ``name``.

    Raise `InputError` for an unknown name, and pydantic's ``ValidationError`` for bad parameters.
    """
    if name not in PARAMETERS:
        raise InputError(f"there is no workload {name!r}", path=("name",), value=name, known=PARAMETERS)
    return TypeAdapter(PARAMETERS[name]).validate_python({"name": name, **parameters})


def generate(spec: AnyWorkload, *, folded: bool = False) -> Workload:
    """Return the workload that ``spec`` describes; equal specs give equal arrays.

    With ``folded`` the result is folded (one row for all equal subtrees) if the family has this form. Raise InputError
    if the tasks of a form with one row each do not fit in memory.
    """
    if isinstance(spec, WorkloadGraph):
        held: Workload = spec.workload
        return held
    if isinstance(spec, WorkloadFile):
        from numasim.workload.graph_forms import read_graph

        return read_graph(Path(spec.file))
    family = FAMILIES[spec.name]
    generator = family.folded if folded and family.folded else family.generate
    return generator(spec)
