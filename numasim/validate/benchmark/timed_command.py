"""Times a command from outside: a process of its own, which imports next to nothing.

The peak memory of a process includes that of the process which started it, so a large process must not start it. Run as
``python timed_command.py COMMAND...``; prints one JSON object.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time


def timed(command: list[str]) -> dict[str, float | str]:
    """Run ``command`` to its end: ``status``, ``seconds``, ``peak_mb`` (10**6 bytes), ``error`` (standard error)."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss
    peak_mb = usage.ru_maxrss * unit / 1e6
    return {"status": process.returncode, "seconds": seconds, "peak_mb": peak_mb, "error": error}


if __name__ == "__main__":
    print(json.dumps(timed(sys.argv[1:])))
