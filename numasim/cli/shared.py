"""Options and printing that commands share, examples in their help, and the completions that shells offer.

The examples of a command are the lines of the command's epilog. A line is a whole command line or, after ``#``, a
remark on the lines below. A test runs all examples unchanged, in the order of the commands.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

Completer = Callable[[str], list[str]]
YAML = (".yaml", ".yml")


def offered(names: Callable[[], Iterable[str]], suffixes: Sequence[str] | None = None) -> Completer:
    """Return a completer that offers ``names`` and, if ``suffixes`` are given, folders and files with ``suffixes``."""

    def offer(incomplete: str) -> list[str]:
        found = [name for name in names() if name.startswith(incomplete)]
        return found if suffixes is None else [*found, *_files(incomplete, suffixes)]

    return offer


def shipped(kind: str, *suffixes: str) -> Completer:
    """Return a completer of the shipped names of ``kind`` (such as machines), and of files with ``suffixes``."""
    return offered(lambda: _catalog(kind), suffixes)


def files(*suffixes: str) -> Completer:
    """Return a completer of folders, and of files with ``suffixes``."""
    return offered(tuple, suffixes)


def words(*known: str) -> Completer:
    """Return a completer of ``known`` words."""
    return offered(lambda: known)


def _catalog(*kinds: str) -> list[str]:
    from numasim.parts import catalog

    return [name for kind in kinds or catalog.KINDS for name in catalog.names(kind)]


def _of(module: str, name: str) -> Iterable[str]:
    """Return the names in attribute ``name`` of a module, or the names it returns; the module is imported here."""
    found = getattr(import_module(f"numasim.{module}"), name)
    names: Iterable[str] = found() if callable(found) else found
    return names


WORKLOADS, STUDIES = ("workload.registry", "MODULES"), ("reproduce.study", "study_names")
workloads, engines = offered(lambda: _of(*WORKLOADS)), offered(lambda: _of("engine.simulate", "ENGINES"))
shipped_names = offered(lambda: [*_catalog(), *_of(*WORKLOADS), *_of(*STUDIES)])
schedulers = offered(lambda: _of("parts.catalog", "schedulers"))
studies = offered(lambda: [*_of(*STUDIES), "all"], ())
parts_of_validation = offered(lambda: _of("validate.part_files", "part_names"), YAML)


def _files(incomplete: str, suffixes: Sequence[str]) -> Iterator[str]:
    """Yield folders, with a slash at the end, and files with ``suffixes`` whose paths begin with ``incomplete``."""
    head, slash, _ = incomplete.rpartition("/")
    try:
        entries = sorted(Path(head + slash).iterdir())
    except OSError:
        return
    for entry in entries:
        text = f"{head}{slash}{entry.name}"
        if text.startswith(incomplete) and (entry.name[0] != "." or incomplete.endswith(".")):
            if entry.is_dir():
                yield f"{text}/"
            elif entry.suffix in suffixes:
                yield text


# ---- Options that several commands have ----

Spec = Annotated[
    str,
    typer.Argument(help="a YAML file, or the name of a shipped sweep", autocompletion=shipped("sweeps", *YAML)),
]
Sets = Annotated[list[str] | None, typer.Option("--set", help="override a field: a.b=value", metavar="FIELD=VALUE")]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine", help="the engine that simulates: native where it is built, else reference", autocompletion=engines
    ),
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="processes; default one per core")]
Results = Annotated[Path | None, typer.Option("-o", "--output", help="the results directory", autocompletion=files())]
Json = Annotated[bool, typer.Option("--json", help="print JSON for programs")]
Check = Annotated[bool, typer.Option("--check", help="check the result against the invariants of the model")]
AsYaml = Annotated[bool, typer.Option("--yaml", help="print its file instead, to copy from")]


def say(text: object, *, err: bool = False) -> None:
    """Print a line on standard output, or on standard error."""
    print(text, file=sys.stderr if err else sys.stdout)


def chosen_engine(name: str | None) -> str:
    """Return the engine ``name``, by default the fastest; print a notice if only the reference engine is built."""
    from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES, NOT_BUILT

    if name is None and "native" not in ENGINES:
        say(f"numasim: {NOT_BUILT}", err=True)
    return name or DEFAULT_ENGINE


def print_columns(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and their descriptions in two columns."""
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        say(f"{name:<{width}}  {text}".rstrip())


def print_file(kind: str, name: str) -> None:
    """Print the file of a shipped machine, strategy, runtime or sweep, or the file at a path, unchanged."""
    from numasim.files.reader import YAML as YAML_FILE
    from numasim.files.reader import read_text
    from numasim.parts import catalog

    file = catalog.find_spec(name) if kind == "sweeps" else catalog.find(kind, name)
    say(read_text(file, YAML_FILE).removesuffix("\n"))


# ---- Examples at the end of the help of every command and group ------------------------------------------------------

F = TypeVar("F", bound=Callable[..., Any])
TITLE = "Examples"
_KEPT = "__examples__"


def examples(*lines: str) -> Callable[[F], F]:
    """Return a decorator that stores ``lines``, the examples of a command, in the command's function."""

    def keep(function: F) -> F:
        setattr(function, _KEPT, lines)
        return function

    return keep


def examples_of(epilog: str | None) -> tuple[str, ...]:
    """Return the command lines of an epilog, without remarks."""
    return tuple(line for line in (epilog or "").splitlines() if not line.startswith("#"))


class _Examples:
    """A mixin that prints the epilog of a command as examples, line by line, and does not wrap lines."""

    epilog: str | None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the section of examples."""
        if self.epilog:
            with formatter.section(TITLE):
                for line in self.epilog.splitlines():
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class ExampleCommand(_Examples, TyperCommand):
    """A command with examples at the end of the help."""


class ExampleGroup(_Examples, TyperGroup):
    """A group of commands with examples at the end of the help."""


class Commands(typer.Typer):
    """Commands that have examples in their help."""

    def __init__(self, text: str, lines: Iterable[str], cls: type[TyperGroup] = ExampleGroup, **options: Any) -> None:
        """Make a group with the description ``text`` and the examples ``lines``."""
        super().__init__(help=text, epilog="\n".join(lines), cls=cls, no_args_is_help=True, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[F], F]:
        """Return a decorator that adds a function as the command ``name``, with the function's examples."""

        def add(function: F) -> F:
            lines = "\n".join(getattr(function, _KEPT, ()))
            return super(Commands, self).command(name, cls=ExampleCommand, epilog=lines, **options)(function)

        return add
