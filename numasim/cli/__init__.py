"""The command line: parses, calls, prints.

Exit status 0: done, 1: a check failed, 2: bad input or an output that cannot be written, 130: interrupted, 141: nobody
reads the output any more.

Each module has the commands of one subject; `numasim.cli.entrance` joins them. Heavy modules are imported inside the
commands that need them, so that help and completion answer at once. These modules do not import annotations from
``__future__``: typer reads the annotations of all commands at every call, and needs three times as long for texts.
"""

from numasim.cli.entrance import BAD_INPUT, CHECK_FAILED, INTERRUPTED, OK, main

__all__ = ["BAD_INPUT", "CHECK_FAILED", "INTERRUPTED", "OK", "main"]
