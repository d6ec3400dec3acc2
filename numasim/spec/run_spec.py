"""One simulation, completely specified: machine, workload, strategy, runtime, workers, model options and seed.

A document is a YAML text or Python data as a tree of nodes: values that know their places. An assignment sets one field
of a document. A `Resolver` turns a document and assignments into a `RunSpec`. A part is a machine, strategy or runtime;
equal parts are validated once, so that the cells of a sweep (its single runs) share them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from numasim.errors import InputError, for_each, together
from numasim.frozen import Frozen
from numasim.machine.build_machine import build
from numasim.parts import catalog
from numasim.parts.base import Model, PositiveCount, Seed, canonical_json
from numasim.parts.models.effects_model import ModelSpec
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.validation import placed, validate
from numasim.parts.yaml.document import load
from numasim.parts.yaml.nodes import NO_PLACE, FieldPath, Held, Key, Node, Place, Scalar, Source, from_python, shown
from numasim.spec.check_parts import CHECKS, Distances, check_distances, check_size
from numasim.spec.overrides import Assignment, from_mapping, from_text, put_all, put_whole
from numasim.spec.part_reader import CATALOG, PARTS, PartReader, shipped_file, with_named_functions
from numasim.workload.graph import Workload
from numasim.workload.parameters import AnyWorkload, TeamParameters, WorkloadFile, WorkloadGraph, WorkloadParameters
from numasim.workload.recording.recorded import Recorded
from numasim.workload.registry import PARAMETERS


class Settings(Model):
    """The fields of a run other than its machine, workload, strategy and runtime."""

    workers: PositiveCount = Field(description="Number of workers, each on a hardware thread of its own.")
    model: ModelSpec = Field(
        ModelSpec.model_construct(),
        description="Which effects of the machine are simulated. Default: caches, contention, shared cores and turbo.",
    )
    seed: Seed = Field(
        0,
        description="Seed of all random draws; repeat r of a run has a seed that follows from it (model 1.4).",
    )
    repeat: PositiveCount = Field(1, description="How often each cell is run, each time with another seed.")


Described = str | Path | Mapping[str, Any]
FIELDS = ("machine", "workload", "strategy", "runtime", *Settings.model_fields, "sweep")


class RunSpec(Frozen, eq=False):
    """The validated contents of one simulation, which is run ``repeat`` times, each time with another seed.

    All repeats share one `RunSpec`, which is equal only to itself. `numasim.spec.identity` compares contents.
    """

    machine: MachineSpec
    workload: AnyWorkload
    strategy: StrategySpec
    runtime: RuntimeSpec
    workers: int
    model: ModelSpec
    seed: int
    repeat: int


def resolve(mapping: Mapping[str, Any], relative_to: str | Path = ".") -> RunSpec:
    """Return the run that plain Python data describes; relative paths start at the folder ``relative_to``."""
    return Resolver().run(from_python(mapping, Place(Source("", Path(relative_to)))), ())


def document_of(spec: Described) -> Node:
    """Return the document of a run or sweep, given as a path, a shipped name or a mapping of plain data and objects.

    Raises InputError unless the document is a mapping.
    """
    of_file = isinstance(spec, str | Path)
    document = load(catalog.find_spec(str(spec))) if of_file else from_python(spec, NO_PLACE)
    document.mapping(what=f"a mapping with the fields {', '.join(FIELDS)}")
    return document


def all_assignments(sets: Iterable[str], changes: Mapping[str, Any] | None) -> list[Assignment]:
    """Return the assignments of ``changes`` (keyword arguments), then those of ``sets`` (``--set``), which win."""
    return [*from_mapping(changes or {}), *for_each(sets, from_text)]


def of_scheduler(name: str) -> list[str]:
    """Return the ``field=value`` texts that make the shipped strategy and the shipped runtime ``name`` those of a run.

    Raises InputError for a name that a strategy and a runtime do not share.
    """
    known = catalog.schedulers()
    if name not in known:
        problem, expected = f"there is no scheduler {name!r}", f"one of {', '.join(known)}"
        raise InputError(problem, place="--as", expected=expected, value=name, known=known)
    return [f"strategy={name}", f"runtime={name}"]


def unknown_field(key: Key, place: Place, known: Sequence[str] = FIELDS, path: FieldPath = ()) -> InputError:
    """Return the error for ``key``, written at ``place`` in the mapping at ``path``, which is none of ``known``."""
    return InputError(f"there is no field {str(key)!r} here", path=path, place=place, value=str(key), known=known)


@dataclass
class Resolver:
    """Resolves documents of runs; a part that several runs share is validated once."""

    reader: PartReader = field(default_factory=PartReader)
    _made: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def run(self, base: Node, assignments: Sequence[Assignment]) -> RunSpec:
        """Return the run of ``base`` after ``assignments``; assignments to whole fields are applied first.

        Raises InputError with all mistakes that `resolved` finds.
        """
        values, mistakes = self.resolved(base, assignments)
        if mistakes:
            raise together(mistakes)
        return RunSpec(**values)

    def resolved(
        self, base: Node, assignments: Sequence[Assignment], varied: Collection[Key] = ()
    ) -> tuple[dict[str, Any], list[InputError]]:
        """Return the validated fields of ``base`` after ``assignments``, by name, and the errors of the others.

        Checks that need a wrong field are not made. The fields ``varied`` are neither validated nor required. A missing
        field is not reported if an unknown field may be its misspelling.
        """
        document, inner = put_whole(base, assignments)
        written = [*((each.path[0], each.place) for each in assignments), *document.keys.items()]
        mistakes = [unknown_field(key, place) for key, place in written if key not in FIELDS]
        misspelt = {each.nearest for each in mistakes}
        hidden = {*varied, *(name for name in FIELDS if document.child(name) is None and {name, None} & misspelt)}
        values: dict[str, Any] = {}

        def take(make: Callable[..., Mapping[str, Any] | None], *arguments: Any) -> None:
            try:
                values.update(make(*arguments) or {})
            except InputError as error:
                mistakes.append(error)

        take(self._settings, document, _below(inner, *Settings.model_fields), hidden)
        if "workload" not in hidden:
            take(lambda: {"workload": self.workload(_required(document, "workload"), _below(inner, "workload"))})
        for part in PARTS:
            if part not in hidden and (document.child(part) or part != "runtime" or "workload" in values):
                take(self._part, part, document, _below(inner, part), values.get("workload"))
        whole = put_all(document, _below(inner, "model")) if "model" in values else document
        for fields, check in CHECKS:
            if values.keys() >= set(fields):
                try:
                    check(*(values[name] for name in fields))
                except InputError as error:
                    name = str(error.path[0])
                    mistakes.append(placed(error.with_(path=error.path[1:]), whole.mapping()[name], (name,)))
        if not mistakes and values.keys() >= RunSpec.__dataclass_fields__.keys():
            take(self._check_size, RunSpec(**values), document, _below(inner, "workload"))
        return values, mistakes

    def _check_size(self, spec: RunSpec, document: Node, inner: tuple[Assignment, ...]) -> None:
        distances = self._remember(("distances", id(spec.machine)), lambda: Distances.of(build(spec.machine)))
        node = _required(document, "workload")
        try:
            check_distances(spec.machine, distances)
            if isinstance(spec.workload, WorkloadParameters):
                parameters, team = spec.workload, spec.workers if isinstance(spec.workload, TeamParameters) else 0
                key = ("size", id(parameters), team, id(spec.model), id(spec.machine))
                self._remember(key, lambda: check_size(parameters, spec.workers, spec.model, distances))
        except InputError as error:
            workload = put_all(workload_mapping(node), inner, 1)
            raise placed(error, document.replaced("workload", workload, node.place)) from None

    def _remember(self, made_of: tuple[Any, ...], make: Any) -> Any:
        key = tuple(map(_known_by, made_of))
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _settings(self, document: Node, inner: tuple[Assignment, ...], hidden: Collection[Key]) -> Mapping[str, Any]:
        """Return the validated fields of `Settings` by name, without ``hidden`` ones; any other may be required."""
        if "workers" in hidden:
            document = document.replaced("workers", Node(1, document.place), document.place)
        _required(document, "workers")
        given: dict[Key, Node] = {key: node for key, node in document.mapping().items() if key in Settings.model_fields}
        whole = Node(dict(given), document.place, {key: document.keys[key] for key in given})
        made: Settings = self._remember(
            ("settings", *given, *given.values(), *inner), lambda: validate(Settings, put_all(whole, inner))
        )
        return {name: value for name, value in made if name not in hidden}

    def workload(self, node: Node, inner: tuple[Assignment, ...]) -> AnyWorkload:
        """Return the checked workload that ``node`` describes after the assignments ``inner`` to its fields."""
        made: AnyWorkload = self._remember(
            ("workload", node, *inner), lambda: validated_workload(put_all(workload_mapping(node), inner, 1))
        )
        return made

    def _part(self, part: str, document: Node, inner: tuple[Assignment, ...], workload: Any) -> Mapping[str, Model]:
        """Return {``part``: its model} of ``document``. The default runtime is the one that ``workload`` names, the
        default strategy the shipped strategy with the name of the runtime.
        """
        node = document.child(part)
        if node is None and part == "runtime":
            node = Node(workload.default_runtime, document.place)
        runtime = document.child("runtime")
        if node is None and part == "strategy" and runtime and runtime.content in catalog.schedulers():
            node = runtime
        return {part: self.part(part, node or _required(document, part), inner)}

    def part(self, part: str, node: Node, inner: tuple[Assignment, ...]) -> Model:
        """Return the checked machine, strategy or runtime of ``node`` after the assignments ``inner`` to its fields."""
        made: Model = self._remember((part, node, *inner), lambda: self._validated(part, node, inner))
        return made

    def _validated(self, part: str, node: Node, inner: tuple[Assignment, ...]) -> Model:
        file = None if inner else shipped_file(part, node)
        if file is not None:
            return _shipped_part(part, file, file.stat().st_mtime_ns)
        document = with_named_functions(part, put_all(self.reader.expand(part, node), inner, 1))
        return validate(PARTS[part], document, (part,))


@lru_cache(maxsize=64)
def _shipped_part(part: str, file: Path, _changed_ns: int) -> Model:
    """Return the part in a shipped file, which all runs of a process share; a changed file is read again."""
    name = Node(str(file), Place(Source(file.name, file.parent)))
    return validate(PARTS[part], PartReader().expand(part, name), (part,))


def _known_by(each: Any) -> Any:
    """Return the key under which what is made of ``each`` is remembered: for a single value its type, text and file, so
    that equal words in different lines share a part; any other node is its own key.
    """
    if isinstance(each, Assignment):
        return each.path, _known_by(each.value)
    if isinstance(each, Node) and isinstance(each.content, Scalar):
        return type(each.content), str(each.content), each.place.source
    return each


def _below(assignments: Iterable[Assignment], *tops: str) -> tuple[Assignment, ...]:
    return tuple(each for each in assignments if each.path[0] in tops)


def _required(document: Node, name: str) -> Node:
    node = document.child(name)
    if node is None:
        expected = f"the name of a {name}, a path or a mapping" if name in CATALOG else "a value for it"
        raise InputError("this field is missing", path=(name,), place=document.place, expected=expected)
    return node


def workload_mapping(node: Node) -> Node:
    """Return a workload as a mapping: ``{name: NAME}`` for a name, ``{file: PATH}`` for a path such as ./graph.npz.

    A mapping and a graph in memory are returned unchanged.
    """
    if isinstance(node.content, Held) and node.content.part == "workload":
        return node
    if isinstance(node.content, str):
        key = "file" if "/" in node.content else "name"
        return Node({key: node}, node.place, {key: node.place})
    node.mapping(("workload",), "a mapping such as {name: matmul, n: 256} or {file: graph.json}")
    return node


def validated_workload(node: Node) -> AnyWorkload:
    """Return the checked workload of ``node``, which describes a benchmark or a graph's file or is a graph."""
    if isinstance(node.content, Held):
        graph: AnyWorkload = node.content.specified()
        return graph
    content = node.mapping()
    if "file" in content and "name" not in content:
        return _graph_file(node)
    name = content.get("name")
    if name is None:
        expected = "{name: matmul, n: 256} or {file: graph.json}"
        raise InputError("the name is missing", path=("workload",), place=node.place, expected=expected)
    if not isinstance(name.content, str) or name.content not in PARAMETERS:
        path, value = ("workload", "name"), name.content
        problem = f"there is no workload {shown(name.plain())}"
        expected = f"one of {', '.join(PARAMETERS)}, or {{file: graph.json}} for a task graph"
        raise InputError(problem, path=path, place=name.place, expected=expected, value=value, known=PARAMETERS)
    return validate(PARAMETERS[name.content], node, ("workload",))


def _graph_file(node: Node) -> WorkloadFile:
    from numasim.workload.graph_forms import require_graph_file

    spec = validate(WorkloadFile, node, ("workload",))
    place = node.mapping()["file"].place
    path = place.source.folder / spec.file
    require_graph_file(path, str(place) or None)
    return spec.model_copy(update={"file": str(path)})


# ---- The name of a workload in tables, its contents as text, and the origin of a recording ---------------------------


def workload_name(workload: AnyWorkload) -> str:
    """Return the benchmark's name, or the name of the task graph's file."""
    return workload.file if isinstance(workload, WorkloadFile) else workload.name


def workload_json(workload: AnyWorkload) -> str:
    """Return the contents as JSON: a benchmark's name and parameters, or the digest of a graph.

    The path and format of a graph's file do not enter; a graph in memory has the digest that it would have in a file.
    Raises InputError if the file can no longer be read.
    """
    if isinstance(workload, WorkloadGraph):
        return canonical_json({"file": workload.contents})
    if isinstance(workload, WorkloadFile):
        from numasim.workload.graph_forms import digest_of_file

        return canonical_json({"file": digest_of_file(Path(workload.file))})
    return workload.whole_json


def recording_of(workload: AnyWorkload) -> Recorded | None:
    """Return the origin of a recorded program, else None. Raises InputError if its file can no longer be read."""
    if isinstance(workload, WorkloadGraph):
        held: Workload = workload.workload
        return held.recorded
    if not isinstance(workload, WorkloadFile):
        return None
    from numasim.workload.graph_forms import read_graph

    return read_graph(Path(workload.file)).recorded
