"""The command line: each command parses its arguments, calls the library and prints the result.

Exit status 0: done, 1: a check failed, 2: bad input or an output that cannot be written, 130: interrupted, 141: nobody
reads the output any more.

Each module has the commands of one subject; `numasim.cli.entrance` joins the modules. Modules that take long to import
are imported inside the commands that need them, so that help and completion answer at once. The modules here do not
import annotations from ``__future__``: typer reads all annotations at every call, and texts three times as slowly.
"""

from numasim.cli.entrance import BAD_INPUT, CHECK_FAILED, INTERRUPTED, OK, main

__all__ = ["BAD_INPUT", "CHECK_FAILED", "INTERRUPTED", "OK", "main"]
