"""`numasim list` and `numasim show`: everything that ships, by kind and by name; `numasim schema`: formats of files."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from numasim.cli.shared import AsYaml, Commands, Json, examples, print_columns, print_file, say, shipped_names, words
from numasim.errors import InputError

if TYPE_CHECKING:
    from numasim.objects.shipped import Shipped

FILES = ("machines", "strategies", "runtimes", "sweeps")  # the kinds whose members are YAML files
KINDS = ("machines", "workloads", "strategies", "runtimes", "sweeps", "studies")
SINGULAR = dict(zip(KINDS, ("machine", "workload", "strategy", "runtime", "sweep", "study"), strict=True))


def shipped(kind: str) -> "Shipped":
    """Return the shipped names of ``kind``, each with a line of description."""
    from numasim.objects import shipped as lists

    if kind == "studies":
        from numasim.reproduce.study import study_titles

        return lists.Shipped("study", study_titles())
    listed: Shipped = getattr(lists, kind)()
    return listed


def print_shipped(kinds: Iterable[str], as_json: bool) -> None:
    """Print the shipped names of ``kinds`` with a line of description each, or as JSON objects with the same data."""
    lists = {kind: shipped(kind) for kind in kinds}
    if as_json:
        import json

        rows = [
            {"kind": SINGULAR[kind], "name": name, "description": line}
            for kind, listed in lists.items()
            for name, line in listed.items()
        ]
        say(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for at, (kind, listed) in enumerate(lists.items()):
        if len(lists) > 1:
            say(f"{'' if at == 0 else chr(10)}{kind}")
        print_columns((f"  {name}" if len(lists) > 1 else name, line) for name, line in listed.items())


def add_list(group: Commands, name: str, about: str = "") -> None:
    """Add the command ``list`` to the ``group`` of the commands ``numasim name``; ``about`` is the command's help."""
    kind = next(kind for kind in KINDS if SINGULAR[kind] == name)

    @group.command("list", help=about or f"Print the shipped {kind}, a line each.")
    @examples(f"numasim {name} list", f"numasim {name} list --json")
    def list_shipped(as_json: Json = False) -> None:
        print_shipped([kind], as_json)


@examples("numasim list", "numasim list sweeps", "numasim list strategies --json")
def list_all(
    kind: Annotated[
        str | None,
        typer.Argument(help=f"{', '.join(KINDS[:-1])} or {KINDS[-1]}; default all", autocompletion=words(*KINDS)),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print what ships, a line each. These are machines, workloads, strategies, runtimes, sweeps and studies."""
    print_shipped(KINDS if kind is None else [_kind(kind)], as_json)


def _kind(text: str) -> str:
    for kind in KINDS:
        if text in (kind, SINGULAR[kind]):
            return kind
    raise InputError(f"there is no list of {text!r}", value=text, known=KINDS)


@examples("numasim show quickstart", "numasim show quickstart --yaml", "numasim show fib", "numasim show thesis")
def show(
    name: Annotated[str, typer.Argument(help="any shipped name", autocompletion=shipped_names)],
    as_yaml: AsYaml = False,
) -> None:
    """Describe everything that ships under a name. With --yaml, print the file of that name."""
    kinds = [kind for kind in KINDS if name in shipped(kind)]
    if not kinds:
        known = [each for kind in KINDS for each in shipped(kind)]
        raise InputError(
            f"nothing that ships is called {name!r}", expected="a name of numasim list", value=name, known=known
        )
    for kind in kinds:
        if not as_yaml:
            say(_described(kind, name))
        elif kind in FILES:
            print_file(kind, name)
        else:
            raise InputError(
                f"the {SINGULAR[kind]} {name!r} is no single file", expected=f"one of {', '.join(FILES)} with --yaml"
            )


def _described(kind: str, name: str) -> str:
    """Return the description of a shipped name."""
    if kind == "machines":
        from numasim.machine import description
        from numasim.machine.build_machine import build
        from numasim.spec.single_part import read_machine

        return description.describe(build(read_machine(name)))
    if kind == "strategies":
        from numasim.plan import show_strategy

        return show_strategy.show(name, "xeon-e5-2620-2s", None, 0, None)
    if kind == "runtimes":
        from numasim.spec.descriptions import describe_runtime
        from numasim.spec.single_part import read_runtime

        return describe_runtime(read_runtime(name))
    if kind == "studies":
        from numasim.reproduce import study

        return study.describe(study.read_study(name))
    from numasim.spec.descriptions import describe_family, describe_sweep

    return describe_sweep(name) if kind == "sweeps" else describe_family(name)


# ---- The formats of the files that are read and written, and their JSON Schemas --------------------------------------

Schema = dict[str, Any]


FILE_FORMATS = {
    "run": "A run, in YAML.",
    "sweep": "A sweep: a run with axes, in YAML.",
    "machine": "A machine, in YAML.",
    "strategy": "A strategy, in YAML.",
    "runtime": "A runtime, in YAML.",
    "workload": "A workload with its parameters, in YAML.",
    "graph": "A task graph, in JSON.",
    "calibration": "Fitted parameters of a study: calibrated.yaml, which a calibration writes.",
    "validation": "A part of a validation, in YAML.",
    "result": "A result as numasim run --json prints it.",
}
SCHEMAS = tuple(FILE_FORMATS)


def schema_of(kind: str) -> Schema:
    """Return the JSON Schema of a kind of file. Raises InputError for another ``kind``."""
    from numasim.spec.json_schema import json_schema, model_schema, with_title

    if kind not in FILE_FORMATS:
        raise InputError(f"there is no schema {kind!r}", value=kind, known=FILE_FORMATS)
    if kind == "calibration":
        from numasim.reproduce.calibration_file import Calibration

        return with_title(kind, model_schema(Calibration))
    if kind == "validation":
        from numasim.validate.part_files import PartFile

        return with_title(kind, model_schema(PartFile))
    return with_title(kind, _result()) if kind == "result" else json_schema(kind)


def _result() -> Schema:
    """Return the schema of a run as JSON: its columns, the time of the engine and remarks."""
    from numasim.engine.columns import DESCRIBED

    types: dict[str, Any] = {"text": ["string", "null"], "integer": "integer", "ratio": ["number", "null"]}
    columns = {
        column.name: {
            "type": types[column.kind],
            "description": f"{column.meaning} Unit: {column.unit}." if column.unit else column.meaning,
        }
        for column in DESCRIBED.values()
    }
    beside = {
        "engine_s": {"type": "number", "description": "Wall-clock time of the engine alone. Unit: s."},
        "remarks": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What a user should know of the run beside its columns.",
        },
    }
    return {"type": "object", "properties": {**columns, **beside}}


@examples("numasim schema sweep")
def schema(
    kind: Annotated[
        str,
        typer.Argument(
            help=f"the kind of file: {', '.join(SCHEMAS[:-1])} or {SCHEMAS[-1]}", autocompletion=words(*SCHEMAS)
        ),
    ],
) -> None:
    """Print the JSON Schema of a kind of file. It is for editors, and for programs that check files."""
    import json

    say(json.dumps(schema_of(kind), indent=2))
