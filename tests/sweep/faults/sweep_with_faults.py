"""Sweeps in which the n-th file-system call fails, for every n in turn, in a process that preloads `failing_files.c`.

Run as ``sweep_with_faults.py LIBRARY FOLDER new|extended STEP``. The program prints a line of JSON for each fault. With
a positive STEP, each call with a number that is a multiple of STEP fails once, with errors that alternate between
calls. With STEP 0, each call fails once with each possible error.
"""

from __future__ import annotations

import ctypes
import errno
import json
import shutil
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from numasim.cli.entrance import CHECK_FAILED, OK, STATUSES
from numasim.engine.simulate import simulate_spec
from numasim.errors import NumasimError
from numasim.spec.sweep_spec import SweepSpec, load_sweep
from numasim.sweep.run_sweep import run_sweep
from numasim.sweep.store.results_store import NODE_PAIRS, RESULTS, WORKERS

SPEC = """\
machine: xeon-e5-2620-2s
workload: {name: fib, n: 3}
strategy: randomized
workers: 2
seed: 7
"""
TABLES = (RESULTS, WORKERS, NODE_PAIRS)
MINE = {"notes.txt": b"mine", ".tmp-1-notes.txt": b"mine", "figures/mine.png": b"mine"}
UNFORESEEN = -1


class Faults:
    """The preloaded library."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)
        self._library.failing_files_call.restype = ctypes.c_char_p

    def begin(self, folder: str, nth: int, choice: int) -> None:
        """Let call ``nth`` in ``folder`` fail with error ``choice``, modulo the number of possible errors."""
        self._library.failing_files_begin(folder.encode(), ctypes.c_long(nth), choice)

    def end(self) -> tuple[str, str, int] | None:
        """Return the failed call, the error, and the number of possible errors; None if there were fewer calls."""
        call, error = self._library.failing_files_call(), self._library.failing_files_error()
        choices = self._library.failing_files_choices()
        self.begin("", 0, 0)
        return (call.decode(), errno.errorcode.get(error, "short"), choices) if call else None


def spec_of(folder: Path, repeat: int) -> SweepSpec:
    """Return a sweep of one cell. The sweep's file is read here, before calls are made to fail."""
    path = folder / f"sweep-{repeat}.yaml"
    path.write_text(f"{SPEC}repeat: {repeat}\nsweep: {{workers: [2]}}\n")
    return load_sweep(str(path))


def sweep(spec: SweepSpec, place: Path) -> tuple[int, str]:
    """Sweep into ``place``; return the exit status and the message of the command."""
    try:
        run_sweep(spec, place, jobs=1, engine="reference", runner=simulate_spec, progress=False)
    except NumasimError as error:
        return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), CHECK_FAILED), str(error)
    except BaseException:  # an unforeseen error
        return UNFORESEEN, traceback.format_exc()
    return OK, ""


def tables(place: Path) -> list[bytes] | None:
    """Return the contents of all tables, or None if a table is missing."""
    files = [place / name for name in TABLES]
    return [file.read_bytes() for file in files] if all(file.exists() for file in files) else None


@dataclass(frozen=True)
class Case:
    """A sweep, the folder before the sweep (which may be missing), and the tables of an undisturbed sweep."""

    spec: SweepSpec
    before: Path
    whole: list[bytes]

    def outcome(self, faults: Faults, place: Path, nth: int, choice: int) -> dict[str, Any] | None:
        """Return the outcome of a sweep whose call ``nth`` fails, and of the next sweep; None for fewer calls."""
        mine = MINE if self.before.exists() else {}
        if self.before.exists():
            shutil.copytree(self.before, place)
        faults.begin(str(place), nth, choice)
        status, said = sweep(self.spec, place)
        fault = faults.end()
        complete = tables(place) == self.whole
        following = sweep(self.spec, place) if status or not complete else (OK, "")
        names = {path.relative_to(place).as_posix() for path in place.rglob(".tmp-*")}
        found = {
            "fault": fault,
            "status": status,
            "said": said,
            "complete": complete,
            "following": following,
            "same": tables(place) == self.whole,
            "left behind": sorted(names - set(mine)),
            "theirs kept": all((place / name).read_bytes() == content for name, content in mine.items()),
        }
        shutil.rmtree(place)
        return found if fault else None


def case_of(folder: Path, extended: bool) -> Case:
    """Return a sweep of one run into a new folder, or of two runs into a folder with one run and a user's files."""
    spec, before = spec_of(folder, 2 if extended else 1), folder / "before"
    assert sweep(spec, folder / "undisturbed") == (OK, "")
    whole = tables(folder / "undisturbed")
    assert whole is not None
    if extended:
        assert sweep(spec_of(folder, 1), before) == (OK, "")
        for name, content in MINE.items():
            (before / name).parent.mkdir(exist_ok=True)
            (before / name).write_bytes(content)
    return Case(spec, before, whole)


def all_faults(faults: Faults, case: Case, place: Path, step: int) -> Iterator[dict[str, Any]]:
    """Yield the outcome of each fault."""
    for at in count(1):
        for choice in count():
            found = case.outcome(faults, place, at * step, at) if step else case.outcome(faults, place, at, choice)
            if found is None:
                return
            yield found
            if step or choice + 1 == found["fault"][2]:
                break


if __name__ == "__main__":
    _, library, folder, state, step = sys.argv
    case = case_of(Path(folder), state == "extended")
    for found in all_faults(Faults(library), case, Path(folder) / "results", int(step)):
        print(json.dumps(found))
