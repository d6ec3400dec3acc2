"""What a compiler needs to know to build programs of others against the task runtime that is installed here.

``cc fib.c $(numasim-runtime --cflags --libs)`` is all that it takes: the headers and the static library lie beside this
file, in a wheel as in a checkout. The library is a static one, so that programs run without being told where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from numasim.errors import InputError

FOLDER = Path(__file__).parent
LIBRARY = FOLDER / "libnumasim.a"
FLAGS = {
    "--cflags": f"-I{FOLDER / 'include'} -pthread",
    "--libs": f"{LIBRARY} -pthread",
    "--cmake-dir": str(FOLDER / "cmake"),
}


def are_flags(arguments: Sequence[str]) -> bool:
    """Whether the arguments of the command ask for flags, and for nothing else."""
    return bool(arguments) and all(argument in FLAGS for argument in arguments)


def flags(asked: Sequence[str]) -> str:
    """The flags that are ``asked`` for, as one line for a shell. InputError where the library was not built."""
    if not LIBRARY.is_file():
        raise InputError(
            "the library of the task runtime is not built here",
            place=str(LIBRARY),
            expected="an installation of numasim on a machine with a C compiler",
        )
    return " ".join(FLAGS[flag] for flag in asked)
