"""Every process of the tests imports one numasim: the one that pytest itself found, never a checkout in its way."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numasim

PACKAGE = Path(numasim.__file__).parent


def pytest_configure() -> None:
    """Let new interpreters look where this one found numasim, and not in the folder that they are started in first."""
    paths = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.environ["PYTHONSAFEPATH"] = "1"


def pytest_report_header() -> str:
    """Say what is tested."""
    built = importlib.util.find_spec("numasim.native._engine") is not None
    return f"numasim: {PACKAGE}, native engine {'built' if built else 'NOT built'}"
