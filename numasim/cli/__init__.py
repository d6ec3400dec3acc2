"""The command line: parses, calls, prints.

Exit status 0: done, 1: a check failed, 2: bad input, or what cannot be written, 130: interrupted, 141: nobody reads the
output any more.

A module has the commands of one subject; `numasim.cli.entrance` puts them together. Everything heavy is imported inside
the command that needs it, so that help and completion answer at once. Annotations are no texts in these modules: typer
reads those of every command whenever one is called, and texts take it three times as long.
"""

from numasim.cli.entrance import BAD_INPUT, CHECK_FAILED, INTERRUPTED, OK, main

__all__ = ["BAD_INPUT", "CHECK_FAILED", "INTERRUPTED", "OK", "main"]
