"""The provenance of a results directory: its specification, and every version and command that wrote to it.

It is a file of its own, so that it cannot change the bytes of the results.
"""

from __future__ import annotations

import json
import platform
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from numasim import __version__
from numasim.errors import InputError
from numasim.files.bounded_json import read_json
from numasim.files.reader import PROVENANCE, is_there
from numasim.files.standard_streams import legible_text

FILE = "provenance.json"
_DEPENDENCIES = ("simpy", "numpy", "pydantic", "ruamel.yaml", "pyarrow")


def read_provenance(directory: Path) -> dict[str, Any] | None:
    """Read the provenance of ``directory``, or None where there is none.

    Raises `InputError` where it is damaged, OSError where it cannot be found out whether there is one.
    """
    path = directory / FILE
    if not is_there(path):
        return None
    found = read_json(path, PROVENANCE)
    try:
        return {"spec_hash": str(found["spec_hash"]), **found, "history": list(found["history"])}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("is damaged", place=str(path), expected=PROVENANCE.name) from error


def extended(known: dict[str, Any] | None, spec_hash: str, model_version: int) -> dict[str, Any]:
    """``known`` with this process added to the history, once."""
    here = _this_process(model_version)
    history = known["history"] if known else []
    return {"spec_hash": spec_hash, "history": history if here in history else [*history, here]}


def to_bytes(provenance: dict[str, Any]) -> bytes:
    """Return the content of `FILE`."""
    return (json.dumps(provenance, indent=2) + "\n").encode()


def _this_process(model_version: int) -> dict[str, Any]:
    return {
        "command": [legible_text(argument) for argument in sys.argv],
        "numasim": __version__,
        "model_version": model_version,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "dependencies": _versions(),
    }


@cache
def _versions() -> dict[str, str]:
    """The versions of the packages that results depend on, which each keeps in a file that takes long to read."""
    return {name: metadata.version(name) for name in _DEPENDENCIES}
