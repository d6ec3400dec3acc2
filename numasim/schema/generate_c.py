"""The command ``python -m numasim.schema.generate_c [--check]`` writes ``lib/core/generated``: the schema as C and C++.

``--check`` compares the files with the text that would be written, writes nothing, and fails if they differ.
"""

from __future__ import annotations

import sys
from pathlib import Path

from numasim.files.writer import write_text
from numasim.schema.reader_text import checks, reader
from numasim.schema.structure_text import counters, enumerations, plan_names, structures, words

GENERATED = Path(__file__).parents[2] / "lib" / "core" / "generated"


def files() -> dict[str, str]:
    """Return {name: text} of every generated file."""
    return {
        "enumerations.h": enumerations(),
        "counters.h": counters(),
        "plan_structs.h": structures(),
        "plan_words.c": words(),
        "plan_checks.h": checks(),
        "plan_fields.c": reader(),
        "plan_names.hpp": plan_names(),
    }


def main(arguments: list[str]) -> int:
    """Write the files, or with ``--check`` name the files that differ from the schema; return the exit status."""
    stale = []
    for name, text in files().items():
        path = GENERATED / name
        if path.is_file() and path.read_text() == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            write_text(path, text)
    if stale and "--check" in arguments:
        print(f"{', '.join(stale)} in {GENERATED} not as the schema says: python -m numasim.schema.generate_c")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
