"""Whether a program declares accesses: then a recording without any is an error, never a graph without bytes."""

from __future__ import annotations

import shutil
from pathlib import Path

from numasim.errors import InputError
from numasim.record.recorded_data import RecordedData

SECTION = b".numasim.record"  # of the files of programs that include numasim/record.h


def require_declared(program: str, data: RecordedData) -> None:
    """InputError where the file of ``program`` declares accesses, and the recording has none of them."""
    if data.source != "declared accesses" and declares(program):
        raise InputError(
            "the program includes numasim/record.h, but no declared access was recorded",
            place=program,
            expected="calls of ns_record_access that run, in a program of position-independent code, as compilers "
            "make it by default (not -no-pie, not -static)",
        )


def declares(program: str) -> bool:
    """Whether the file of ``program`` has the mark of the header."""
    found = shutil.which(program)
    try:
        return found is not None and SECTION in Path(found).read_bytes()
    except OSError:
        return False
