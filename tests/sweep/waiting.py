"""Waiting for other processes: as long as they need, on a machine that is busy, too."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

WAIT_S = 600  # until a test gives up, which is only so that it does not hang


def wait_until(condition: Callable[[], object], process: subprocess.Popen[str] | None = None) -> None:
    """Wait until ``condition`` holds; fails where ``process`` ends before."""
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        assert process is None or process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.01)
