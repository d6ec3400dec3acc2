"""Runs of a program with LLVM's OpenMP runtime and the preloaded recorder; and the time that both take themselves.

A piece of work is the time between two events of one task; a recorder and a runtime take a part of it.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.runtime.record.event_files import Event, ThreadEvents, read_events
from numasim.runtime.record.event_times import PieceCosts, TimedEvents, shortest, tick_ps, timed
from numasim.runtime.record.event_walk import Step, walk
from numasim.runtime.runtime_program import built

# ---- LLVM's OpenMP runtime -------------------------------------------------------------------------------------------

# Python packages, and the OpenMP library in each
PACKAGES = {"cmeel-libomp": "libomp.so", "intel-openmp": "libiomp5.so"}
FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/lib/*-linux-gnu", "/usr/lib/llvm*/lib", "/opt/llvm*/lib")
NAMES = ("libomp.so", "libomp.so.5", "libiomp5.so")
ENTRANCE = b"ompt_start_tool"  # a symbol of every runtime that has the tools interface


@dataclass(frozen=True)
class OpenmpLibrary:
    """An OpenMP runtime, and a remark on the origin of its file."""

    path: Path
    origin: str

    def __str__(self) -> str:
        """Return the file and the origin, for messages."""
        return f"{self.path} ({self.origin})"


def find_openmp(asked: Path | None = None) -> OpenmpLibrary:
    """Return LLVM's OpenMP runtime: ``asked``, or an installed one. Raise InputError if there is none."""
    if asked is not None:
        if not asked.is_file():
            raise InputError("there is no such library", place=str(asked), expected="LLVM's OpenMP runtime, libomp.so")
        if not _tells_tools(asked):
            problem = "this library tells tools nothing of what a program does"
            raise InputError(problem, place=str(asked), expected="LLVM's OpenMP runtime, libomp.so")
        return OpenmpLibrary(asked.resolve(), "asked for")
    for found in (*_of_packages(), *_of_system()):
        if _tells_tools(found.path):
            return found
    raise InputError(
        "LLVM's OpenMP runtime, through which programs are recorded, is not installed",
        expected="the extra record of numasim (pip install 'numasim[record]'), which brings one, or libomp of the "
        "system (Debian: libomp5-14), or --openmp with its file",
    )


def _of_packages() -> Iterator[OpenmpLibrary]:
    for package, library in PACKAGES.items():
        with suppress(PackageNotFoundError):
            found = distribution(package)
            named = [Path(str(found.locate_file(file))) for file in found.files or () if file.name == library]
            for path in filter(Path.is_file, named):
                yield OpenmpLibrary(path.resolve(), f"Python package {package} {found.version}")


def _of_system() -> Iterator[OpenmpLibrary]:
    named = [Path(folder) for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    folders = [*named, *(path for pattern in FOLDERS for path in sorted(Path("/").glob(pattern[1:]), reverse=True))]
    for folder in folders:
        for name in NAMES:
            if (folder / name).is_file():
                yield OpenmpLibrary((folder / name).resolve(), "of the system")


def _tells_tools(path: Path) -> bool:
    try:
        return ENTRANCE in path.read_bytes()
    except OSError:
        return False


# ---- runs ------------------------------------------------------------------------------------------------------------

RECORDER = Path(__file__).parent / "tool" / "numasim-recorder.so"
FOLDER = "NUMASIM_RECORD"  # the environment variable with the folder that the recorder writes to
TURNS = "NUMASIM_RECORD_TURNS"  # the environment variable with the seconds of `PATIENCE_S`
PATIENCE_S = 30  # seconds after which a thread that waits for its turn assumes that all threads wait for each other
STACK = "256M"  # the stack of each thread of a team: LLVM's runtime nests tasks deeper than other runtimes do


def recorded_run(
    command: Sequence[str], openmp: OpenmpLibrary, threads: int, *, quiet: bool
) -> tuple[tuple[ThreadEvents, ...], int]:
    """Run ``command`` with ``threads`` threads. Return the events of all threads and the exit status.

    With ``quiet`` the output of the program is dropped, and the program gets no input. Raise InputError for a program
    that cannot be run, is ended by a signal or leaves no recording.
    """
    with TemporaryDirectory(prefix="numasim-record-") as folder:
        status = _run(command, environment(openmp, threads, Path(folder)), quiet)
        return read_events(Path(folder)), status


def environment(openmp: OpenmpLibrary, threads: int, folder: Path | None) -> dict[str, str]:
    """Return the environment of a program with ``threads`` threads and LLVM's runtime. Unless ``folder`` is None, the
    program is recorded to this folder.

    Recorded threads work in turns, and sleep while they wait.
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
        preloaded.insert(0, str(built(RECORDER, "the recorder", "Linux")))
    known.setdefault("OMP_STACKSIZE", STACK)
    limits = {"OMP_NUM_THREADS": str(threads), "OMP_THREAD_LIMIT": str(threads), "OMP_DYNAMIC": "false"}
    return {**known, **limits, "OMP_TOOL": "enabled", "LD_PRELOAD": ":".join(preloaded)}


def _deep_stack() -> None:
    """Raise the stack limit of the first thread: with one thread, the tasks of a program nest in each other."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (most, most))


def _run(command: Sequence[str], variables: dict[str, str], quiet: bool) -> int:
    stream = subprocess.DEVNULL if quiet else None
    try:
        done = subprocess.run(
            command, env=variables, check=False, stdin=stream, stdout=stream, stderr=stream, preexec_fn=_deep_stack
        )
    except OSError as error:
        expected = "a program, with ./ in front where it is in this folder"
        raise InputError(f"it cannot be run: {error.strerror}", place=command[0], expected=expected) from None
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        raise InputError(f"the program was ended by {name} while it was recorded", place=command[0])
    return done.returncode


# ---- the time that the recorder and the runtime themselves take ------------------------------------------------------

PROBE = Path(__file__).with_name("numasim-openmp-probe")
ROUNDS = 1000
RUNS = 5
FEWEST = 100  # a mean needs at least this many pieces of work
KEPT = 0.9  # the share of the shortest pieces that counts; the longest tenth was disturbed


def find_probe() -> Path:
    """Return the measuring program. Raise InputError if the program was not built."""
    return built(PROBE, "the program that measures OpenMP runtimes", "Linux")


def measure_own_costs(openmp: OpenmpLibrary, threads: int = 1) -> PieceCosts:
    """Return the costs of the recorder and of the runtime on this machine, for one thread or for several."""
    command = (str(find_probe()), "empty", str(ROUNDS))
    recordings = [recorded_run(command, openmp, min(threads, 2), quiet=True)[0] for _ in range(RUNS)]
    plain = [timed(threads[0], tick_ps(threads), 0) for threads in recordings]
    allocate_ps = min(_allocate_ps(each, tick_ps(threads)) for each, threads in zip(plain, recordings, strict=True))
    joined = shortest([timed(threads[0], tick_ps(threads), allocate_ps) for threads in recordings])
    return PieceCosts(empty_pieces(joined), allocate_ps)


def empty_pieces(recording: TimedEvents) -> dict[tuple[int, int], int]:
    """Return the mean time, in ps, of the pieces between each pair of kinds of events that has enough pieces."""
    found: dict[tuple[int, int], list[int]] = {}
    for task in walk([recording]).tasks.values():
        for step in task.steps:
            if step[0] == Step.WORK:
                found.setdefault((step[2], step[3]), []).append(step[1])
    return {ends: usual(np.array(times)) for ends, times in found.items() if len(times) >= FEWEST}


def _allocate_ps(recording: TimedEvents, each_ps: float) -> int:
    """Return the time from an allocation to its release, in ps. The program does nothing in between."""
    kind: npt.NDArray[np.uint8] = recording.aside.kind
    pairs = np.flatnonzero((kind[:-1] == Event.ALLOCATE) & (kind[1:] == Event.RELEASE))
    if len(pairs) < FEWEST:
        return 0
    ticks = recording.aside.ticks
    return int(usual(ticks[pairs + 1] - ticks[pairs]) * each_ps)


def usual(times: npt.NDArray[np.int64]) -> int:
    """Return the mean of all times except the longest tenth."""
    kept = np.sort(times)[: max(1, int(KEPT * len(times)))]
    return round(float(np.mean(kept)))
