"""Fixtures of reproductions."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import write_study


@pytest.fixture
def small_study(tmp_path: Path) -> Path:
    """Return the folder of the small study."""
    return write_study(tmp_path / "small")
