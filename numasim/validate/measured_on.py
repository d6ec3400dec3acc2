"""What the measurements were made on: the processor, the system and the compiled program."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from numasim import __version__
from numasim.files.bounded_bytes import is_file, read_bytes
from numasim.files.file_kinds import CPU_INFO as KIND
from numasim.validate.run_store import program_digest

CPU_INFO = Path("/proc/cpuinfo")


def measurement_origin() -> dict[str, str | int]:
    """Return the processor, the system and the program that runs on this machine are made with."""
    return {
        "processor": processor(),
        "hardware_threads": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.release()}",
        "numasim": __version__,
        "program": program_digest(),
    }


def processor() -> str:
    """Return the name that the processor gives itself, else its architecture."""
    lines = read_bytes(CPU_INFO, KIND).decode(errors="replace").splitlines() if is_file(CPU_INFO) else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
