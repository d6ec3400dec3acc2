"""All commands together, and how every one of them ends."""

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from numasim.cli import formats, machines, measurements, runs, strategies, studies, workloads
from numasim.errors import InputError, Interrupted, NumasimError
from numasim.files.standard_streams import guard_standard_streams

OK, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
STATUSES = {InputError: BAD_INPUT, Interrupted: INTERRUPTED}
COMMANDS = (
    runs.run,
    runs.sweep,
    studies.reproduce,
    studies.validate,
    runs.plot,
    measurements.calibrate,
    formats.schema,
    measurements.bench,
)
GROUPS = {
    "machine": machines.app,
    "workload": workloads.app,
    "strategy": strategies.app,
    "trace": formats.trace_app,
}


class _Commands(TyperGroup):
    """All commands; an interrupt, of which typer would say nothing, is one sentence, which says what is kept."""

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


app = typer.Typer(
    cls=_Commands,
    help="Simulate work stealing on NUMA multicores.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in COMMANDS:
    app.command()(command)
for name, group in GROUPS.items():
    app.add_typer(group, name=name)


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Let a request to terminate, as of a batch system, end a command as an interrupt from the terminal does."""
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
    """Run the command line and return its exit status; errors are one sentence on standard error."""
    try:
        guard_standard_streams()
        try:
            with _termination_as_interrupt():
                app(list(argv) if argv is not None else None, prog_name="numasim")
        finally:
            sys.stdout.flush()
    except SystemExit as leaving:  # typer prints usage errors (2)
        return int(leaving.code or OK)
    except NumasimError as error:
        print(f"numasim: {error}", file=sys.stderr)
        return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), CHECK_FAILED)
    return OK
