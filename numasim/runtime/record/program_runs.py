"""Runs of a program with the recorder preloaded."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from numasim.errors import InputError
from numasim.runtime.record.event_files import ThreadEvents, read_events
from numasim.runtime.record.openmp_library import OpenmpLibrary

RECORDER = Path(__file__).parent / "tool" / "numasim-recorder.so"
FOLDER = "NUMASIM_RECORD"  # the variable by which the recorder learns where to write
TURNS = "NUMASIM_RECORD_TURNS"  # and for how many seconds a thread of a team waits for its turn
PATIENCE_S = 30  # then it takes the others to wait for it
STACK = "256M"  # of the threads of a team: LLVM's runtime nests tasks deeper than others


def find_recorder() -> Path:
    """The library that is preloaded. InputError where it was not built."""
    if not RECORDER.is_file():
        raise InputError(
            "the recorder is not built here",
            place=str(RECORDER),
            expected="an installation of numasim on Linux with a C compiler",
        )
    return RECORDER


def recorded_run(
    command: Sequence[str], openmp: OpenmpLibrary, threads: int, *, quiet: bool
) -> tuple[tuple[ThreadEvents, ...], int]:
    """(the events of all threads, the exit status) of a run of ``command`` with so many threads.

    ``quiet``: what the program prints is dropped, and it is given no input. InputError where it cannot be run, is ended
    by a signal or leaves no recording.
    """
    with TemporaryDirectory(prefix="numasim-record-") as folder:
        status = _run(command, environment(openmp, threads, Path(folder)), quiet)
        return read_events(Path(folder)), status


def environment(openmp: OpenmpLibrary, threads: int, folder: Path | None) -> dict[str, str]:
    """The environment of a program with ``threads`` threads and LLVM's runtime, recorded to ``folder`` if given.

    Threads that are recorded have turns, and sleep while they wait.
    """
    known = dict(os.environ)
    before = [known["LD_PRELOAD"]] if known.get("LD_PRELOAD") else []
    preloaded = [str(openmp.path), *before]
    known.pop(FOLDER, None)
    known.pop(TURNS, None)
    known.pop("OMP_TOOL_LIBRARIES", None)
    if folder is not None:
        known[FOLDER] = str(folder)
        if threads > 1:
            known |= {TURNS: str(PATIENCE_S), "KMP_BLOCKTIME": "0", "OMP_WAIT_POLICY": "passive"}
            known["KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE"] = "1"  # chunks in their order, from one queue
        preloaded.insert(0, str(find_recorder()))
    known.setdefault("OMP_STACKSIZE", STACK)
    limits = {"OMP_NUM_THREADS": str(threads), "OMP_THREAD_LIMIT": str(threads), "OMP_DYNAMIC": "false"}
    return {**known, **limits, "OMP_TOOL": "enabled", "LD_PRELOAD": ":".join(preloaded)}


def _deep_stack() -> None:
    """Let the first thread have all the stack that it may: with one thread, tasks nest in each other."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (most, most))


def _run(command: Sequence[str], variables: dict[str, str], quiet: bool) -> int:
    stream = subprocess.DEVNULL if quiet else None
    try:
        done = subprocess.run(
            list(command),
            env=variables,
            check=False,
            stdin=stream,
            stdout=stream,
            stderr=stream,
            preexec_fn=_deep_stack,
        )
    except OSError as error:
        expected = "a program, with ./ in front where it is in this folder"
        raise InputError(f"it cannot be run: {error.strerror}", place=command[0], expected=expected) from None
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        raise InputError(f"the program was ended by {name} while it was recorded", place=command[0])
    return done.returncode
