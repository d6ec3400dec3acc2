"""The environment of child processes that run Python again."""

from __future__ import annotations

import os
import sys


def same_imports() -> dict[str, str]:
    """An environment in which a child imports the same modules as this process, in any working directory.

    Without it, ``python -m`` finds the sources of a checkout that it happens to start in before the installed package.
    """
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONSAFEPATH": "1"}
