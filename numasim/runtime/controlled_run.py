"""Runs of a plan's own task graph in the task runtime, which asks the strategy's controller between two iterations.

The runtime reads what comes into force before each iteration from one pipe, and writes what it has measured of the last
one to another (numasim/runtime/source/control/iteration_boundary.h). So a controller decides on threads by what threads
have taken. What it decides can be kept, and gone by again without it.
"""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from numasim.engine.iteration_control import Decision, IterationControl
from numasim.errors import InputError
from numasim.files.writer import write_bytes
from numasim.plan.run import Run
from numasim.plan.tuning import Tuning
from numasim.runtime.fields_file import write_plan
from numasim.runtime.runtime_program import KernelRun, Order, answer, find_program, parse, printed_by

HEAD = struct.Struct("<qQqq")  # what it has, switches, page policy, cost of measuring
TIERS, LABELS, SWITCHES, POLICY = 1, 2, 4, 8


def run_plan(
    run: Run, mode: str = "virtual", program: Path | None = None, keep: Path | None = None, replay: Path | None = None
) -> KernelRun:
    """Run the task graph of a plan in virtual time, or in mode ``native`` or ``emulated``, and return what was counted.

    A controller is asked between iterations, and what it decides written to ``keep``; or ``replay`` is gone by, which
    was written so. InputError with one sentence where the program, or the controller, refuses.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "plan"
        write_plan(run.plan, run.seed, path)
        command: list[str | Path] = [program or find_program(), "plan", path, "--mode", mode]
        if replay is not None:
            command += ["--controls", replay]
        asked = run.plan.tuning if replay is None else None
        printed = answer(command) if asked is None else _controlled(command, asked, keep)
    return parse(printed, Order("plan", mode=mode))[0]


def _controlled(command: list[str | Path], tuning: Tuning, keep: Path | None) -> object:
    """What the program prints that asks the controller of ``tuning``."""
    told, tells = os.pipe()
    reads, decides = os.pipe()
    asking = [*command, "--controls", f"/dev/fd/{reads}", "--measures", f"/dev/fd/{tells}"]
    try:
        child = subprocess.Popen(
            asking,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=(reads, tells),
        )
    except OSError as error:
        for end in (told, tells, reads, decides):
            os.close(end)
        raise InputError(f"the program cannot be run: {error.strerror}", place=str(command[0])) from None
    os.close(reads)
    os.close(tells)
    with child:
        try:
            records = _decide(tuning, told, decides)
        except BaseException:
            child.kill()
            raise
        finally:
            os.close(told)
            os.close(decides)
        out, err = child.communicate()
    found = printed_by(subprocess.CompletedProcess(asking, child.returncode, out, err))
    if keep is not None:
        write_bytes(keep, b"".join(records))
    return found


def _decide(tuning: Tuning, told: int, decides: int) -> list[bytes]:
    """Let a controller decide for as long as the program asks: what it was answered."""
    control, program = IterationControl(tuning), tuning.program
    count = 1 + program.tasks * (1 + program.nodes) + program.nodes**2 + program.workers
    records: list[bytes] = []
    for decision in _decisions(control, told, 8 * count):
        records.append(encoded(decision))
        try:
            _write(decides, records[-1])
        except BrokenPipeError:
            break  # the program has ended, and says why
    return records


def _decisions(control: IterationControl, told: int, size: int) -> Iterator[Decision]:
    yield control.begin()
    while len(measured := _read(told, size)) == size:
        decision = control.end_iteration_at(np.frombuffer(measured, "<i8").astype(np.int64))
        if decision is None:
            return
        yield decision


def encoded(decision: Decision) -> bytes:
    """A decision as the runtime reads it."""
    parts = (decision.tiers, decision.labels, decision.switches, decision.policy)
    has = sum(bit for bit, part in zip((TIERS, LABELS, SWITCHES, POLICY), parts, strict=True) if part is not None)
    head = HEAD.pack(has, decision.switches or 0, decision.policy or 0, decision.profile_ps)
    tiers = b"" if decision.tiers is None else decision.tiers.tobytes()
    return head + tiers + (b"" if decision.labels is None else decision.labels.astype("<i4").tobytes())


def _read(handle: int, size: int) -> bytes:
    """So many bytes, or fewer where the other end is closed before."""
    found = bytearray()
    with contextlib.suppress(OSError):
        while len(found) < size and (piece := os.read(handle, size - len(found))):
            found += piece
    return bytes(found)


def _write(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
