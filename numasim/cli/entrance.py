"""The command `numasim` with all its commands; errors become one sentence and an exit status."""

import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from numasim.cli import listing, machines_and_strategies, measurements, record_and_ask, runs, workloads
from numasim.cli.shared import Commands, ExampleGroup, examples_of
from numasim.errors import InputError, Interrupted, NumasimError
from numasim.files.standard_streams import guard_standard_streams

# ---- Mistakes in the words of a command line, as one sentence with a remedy like every error of numasim ----

UsageError: Any = typer.BadParameter.__bases__[0]  # the base of usage errors, which typer does not export

_BETTER = (  # pairs of typer's wording and numasim's wording
    (re.compile(r": Input should be ([^,]+)(, .*)?$"), r"; expected \1"),
    (re.compile(r" \(Possible options: ([^)]+)\)$"), r"; did you mean \1?"),
)


def usage_sentence(error: Any) -> str:
    """Return typer's ``error`` as one sentence; for a group of commands without a command, return the group's help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return str(error.format_message())
    if error.ctx is None:
        return f"numasim: {_problem(error)}"
    path = error.ctx.command_path
    words = path.removeprefix("numasim").strip()
    known = examples_of(error.ctx.command.epilog) if "Missing" in error.format_message() else ()
    said = [
        f"{words}: {_problem(error)}" if words else _problem(error),
        *(f"for example: {each}" for each in known[:1]),
    ]
    return f"numasim: {'; '.join(said)} (see {path} --help)"


def _problem(error: Any) -> str:
    text = " ".join(error.format_message().split()).rstrip(".")
    for pattern, better in _BETTER:
        text = pattern.sub(better, text)
    return "; ".join(part[:1].lower() + part[1:] for part in text.split(". "))


OK, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
STATUSES = {InputError: BAD_INPUT, Interrupted: INTERRUPTED}
COMMANDS: dict[str, Callable[..., None]] = {
    "list": listing.list_all,
    "show": listing.show,
    "run": runs.run,
    "sweep": runs.sweep,
    "compare": runs.compare,
    "reproduce": measurements.reproduce,
    "validate": measurements.validate,
    "plot": runs.plot,
    "view": runs.view,
    "calibrate": measurements.calibrate,
    "record": record_and_ask.record,
    "ask": record_and_ask.ask,
    "schema": listing.schema,
    "bench": measurements.bench,
}
GROUPS = {
    "machine": machines_and_strategies.machines,
    "workload": workloads.app,
    "strategy": machines_and_strategies.strategies,
    "runtime": machines_and_strategies.runtimes,
}


class _Commands(ExampleGroup):
    """All commands. typer ends silently at an interrupt; here a sentence says which results are kept."""

    def make_context(self, *args: Any, **options: Any) -> Any:
        with _told_interrupts():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        with _told_interrupts():
            return super().invoke(ctx)


@contextmanager
def _told_interrupts() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise Interrupted(interrupt) from None


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    from numasim import __version__
    from numasim.engine.simulate import ENGINES
    from numasim.spec.identity import MODEL_VERSION

    built = "built" if "native" in ENGINES else "not built"
    print(f"numasim {__version__}, native engine {built}, model version {MODEL_VERSION}")
    raise typer.Exit


app = Commands(
    "Simulate work stealing on NUMA multicores.",
    ["numasim list", "numasim run quickstart", "numasim sweep --help"],
    _Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _of_all_commands(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version, engine and model, and exit."
        ),
    ] = False,
) -> None:
    """Options that stand before or without a command."""


for name, command in COMMANDS.items():
    app.command(name)(command)
for name, group in GROUPS.items():
    app.add_typer(group, name=name)


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Let a request to terminate (SIGTERM), as from a batch system, end a command like an interrupt (Ctrl-C)."""
    before = signal.getsignal(signal.SIGTERM)
    if before is not signal.SIG_DFL or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; each mistake is one sentence on standard error."""
    try:
        guard_standard_streams()
        try:
            with _termination_as_interrupt():
                status = app(list(argv) if argv is not None else None, prog_name="numasim", standalone_mode=False)
        finally:
            sys.stdout.flush()
    except SystemExit as leaving:  # typer raises it after a completion
        return int(leaving.code or OK)
    except UsageError as error:
        print(usage_sentence(error), file=sys.stderr)
        return BAD_INPUT
    except NumasimError as error:
        print("\n".join(f"numasim: {line}" for line in str(error).splitlines()), file=sys.stderr)
        return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), CHECK_FAILED)
    return int(status or OK)
