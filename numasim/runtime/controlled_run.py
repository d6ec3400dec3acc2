"""Runs of a plan's task graph, or of a kernel (a benchmark), in the task runtime, perhaps with a controller.

A controller is a function that decides before each iteration of the program, such as which steal levels are on. The
runtime reads these decisions from one pipe, and writes the measurements of the previous iteration to another pipe
(lib/runtime/source/control/iteration_boundary.h). So a controller decides by times that threads have really taken. A
later run can repeat the decisions, kept in a file, without the controller.
"""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import numpy as np

from numasim.engine.iteration_control import Decision, IterationControl
from numasim.errors import InputError
from numasim.files.writer import write_bytes
from numasim.plan.plan import Plan, Run
from numasim.plan.tuning import Tuning
from numasim.runtime.fields_file import write_plan
from numasim.runtime.runtime_program import KernelRun, Order, answer, find_program, parse, printed_by, run_kernel
from numasim.workload.phases import steps

HEAD = struct.Struct("<qQqq")  # which parts follow (bits), switches (bits), number of page policy, ps of measuring
TIERS, LABELS, SWITCHES, POLICY = 1, 2, 4, 8


def run_plan(
    run: Run, mode: str = "virtual", program: Path | None = None, keep: Path | None = None, replay: Path | None = None
) -> KernelRun:
    """Run the task graph of a plan in virtual time, or in another mode but ``serial``, and return the counts.

    If the strategy has a controller, the controller's decisions are written to the file ``keep``. With ``replay``, the
    file ``keep`` of an earlier run, the decisions of the earlier run are repeated instead. Raise InputError with one
    sentence if the program or the controller refuses.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "plan"
        write_plan(run.plan, run.seed, path)
        command: list[str | Path] = [program or find_program(), "plan", path, "--mode", mode]
        if replay is not None:
            command += ["--controls", replay]
        asked = run.plan.tuning if replay is None else None
        printed = answer(command) if asked is None else _controlled(command, asked, keep=keep)
    return parse(printed, Order("plan", mode=mode))[0]


def run_kernel_under(plan: Plan, order: Order, program: Path | None = None) -> tuple[KernelRun, ...]:
    """Run a kernel as `run_kernel` does, under ``plan``, which is stored in the file ``order.plan``.

    If the strategy of ``plan`` has a controller, a new controller decides in each run. Errors are as in `run_plan`.
    """
    if plan.tuning is None:
        return run_kernel(order, program)
    command: list[str | Path] = [program or find_program(), *order.arguments()]
    return parse(_controlled(command, plan.tuning, runs=order.repeat + order.warm_up), order)


def _controlled(command: list[str | Path], tuning: Tuning, runs: int = 1, keep: Path | None = None) -> object:
    """Run the program with the controller of ``tuning``, a new one in each of ``runs``. Return the printed JSON."""
    told, tells = os.pipe()
    reads, decides = os.pipe()
    asking = [*command, "--controls", f"/dev/fd/{reads}", "--measures", f"/dev/fd/{tells}"]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with os.fdopen(told, "rb") as measures, os.fdopen(decides, "wb", 0) as controls:
        try:
            child = subprocess.Popen(
                asking, stdin=nothing, stdout=pipe, stderr=pipe, text=True, pass_fds=(reads, tells)
            )
        except OSError as error:
            raise InputError(f"the program cannot be run: {error.strerror}", place=str(command[0])) from None
        finally:
            os.close(reads)
            os.close(tells)
        with child:
            try:
                records = [record for _ in range(runs) for record in _decide(tuning, measures, controls)]
            except BaseException:
                child.kill()
                raise
            measures.close()
            controls.close()
            out, err = child.communicate()
    found = printed_by(subprocess.CompletedProcess(asking, child.returncode, out, err))
    if keep is not None:
        write_bytes(keep, b"".join(records))
    return found


def _decide(tuning: Tuning, measures: IO[bytes], controls: IO[bytes]) -> list[bytes]:
    """Let the controller decide for one run, or until the program ends. Return the decisions as sent.

    There is a decision before each iteration. The program sends its measurements after every iteration except the last.
    """
    control, program, workload = IterationControl(tuning), tuning.program, tuning.workload
    size = 8 * (1 + program.tasks * (1 + program.nodes) + program.nodes**2 + program.workers)
    iterations = sum(step.ends_iteration for step in steps(workload.phases, workload.loops))
    decision: Decision | None = control.begin()
    records: list[bytes] = []
    with contextlib.suppress(BrokenPipeError):
        while decision is not None:
            records.append(encoded(decision))
            rest = memoryview(records[-1])
            while rest:
                rest = rest[controls.write(rest) :]
            told = b"" if len(records) >= iterations else measures.read(size)
            if len(told) < size:
                break  # after the last iteration, or if the program has ended early; the program then prints the reason
            decision = control.end_iteration_at(np.frombuffer(told, "<i8").astype(np.int64))
    return records


def encoded(decision: Decision) -> bytes:
    """Return a decision in the form that the runtime reads."""
    parts = (decision.tiers, decision.labels, decision.switches, decision.policy)
    has = sum(bit for bit, part in zip((TIERS, LABELS, SWITCHES, POLICY), parts, strict=True) if part is not None)
    head = HEAD.pack(has, decision.switches or 0, decision.policy or 0, decision.profile_ps)
    tiers = b"" if decision.tiers is None else decision.tiers.tobytes()
    return head + tiers + (b"" if decision.labels is None else decision.labels.astype("<i4").tobytes())
