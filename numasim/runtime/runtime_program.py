"""The compiled program of the runtime: its path, its arguments, and its output.

``numasim-runtime`` runs one kernel (a benchmark with tasks) in one mode and prints one JSON object. The serial twin of
a kernel is the same computation without tasks. The program is built together with the native engine, and its file is
beside this file, both in a wheel and in a checkout.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numasim.errors import CheckError, InputError

# ---- the compiler flags for building other programs against the installed task runtime -------------------------------
#
# A program is built by ``cc fib.c $(numasim-runtime --cflags --libs)``. The headers and the static libraries are beside
# this file, both in a wheel and in a checkout. A program with static libraries runs without a search path. Virtual time
# is a separate library, which contains the simulator's engine, in C++. Threads in turns are a separate library, too,
# which has the code of threads once more. Nothing refers to these two libraries, so that the linker would leave both
# out. The option --undefined therefore names a symbol of each.

FOLDER = Path(__file__).parent
LIBRARY, VIRTUAL_LIBRARY, TURNS_LIBRARY = (FOLDER / f"libnumasim{name}.a" for name in ("", "-virtual", "-turns"))
MODES = "-Wl,--undefined=ns_virtual_mode,--undefined=ns_turns_mode"
FLAGS = {
    "--cflags": f"-I{FOLDER / 'include'} -pthread",
    "--libs": f"{MODES} {VIRTUAL_LIBRARY} {TURNS_LIBRARY} {LIBRARY} -lstdc++ -lm -pthread",
    "--libs-threads": f"{LIBRARY} -pthread",  # without virtual time and turns
    "--cmake-dir": str(FOLDER / "cmake"),
}


def built(path: Path, what: str, where: str = "a machine") -> Path:
    """Return ``path``. Raise InputError if the file was not built."""
    if not path.is_file():
        expected = f"an installation of numasim on {where} with a C compiler"
        raise InputError(f"{what} is not built here", place=str(path), expected=expected)
    return path


def are_flags(arguments: Sequence[str]) -> bool:
    """Return whether the arguments of the command ask only for flags."""
    return bool(arguments) and all(argument in FLAGS for argument in arguments)


PROGRAM = Path(__file__).with_name("numasim-runtime")
CORRECT, WRONG_RESULT, BAD_INPUT = 0, 1, 2  # exit statuses of the program


@dataclass(frozen=True)
class Order:
    """The arguments of the program: a kernel with its parameters, in a mode.

    ``mode`` is serial, native, emulated, virtual, turns or paced. ``costs`` (model or measured) chooses the times by
    which virtual clocks advance, and the times of recorded segments. ``plan`` is the file of a compiled plan, and
    ``record`` the file for the task graph of a serial run. ``controls`` is a file with a controller's decisions for a
    run of ``plan`` (`numasim.runtime.controlled_run`). If ``seed`` is None, the seed of the plan's file counts; each of
    ``repeat`` runs has its own seed. With ``rehearse``, serial copies of the program run on all workers at once before
    each run on threads. With ``warm_up`` the first run is executed once in advance, without a report. With ``verify``
    the result is compared with the serial twin of the kernel.
    """

    kernel: str
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    mode: str = "native"
    costs: str | None = None
    workers: int | None = None
    plan: Path | None = None
    controls: Path | None = None
    record: Path | None = None
    rehearse: bool = False
    warm_up: bool = False
    seed: int | None = None
    repeat: int = 1
    verify: bool = True

    def arguments(self) -> list[str]:
        """Return the command line, without the program itself."""
        named = {
            "--costs": self.costs,
            "--workers": self.workers,
            "--plan": self.plan,
            "--controls": self.controls,
            "--record": self.record,
            "--seed": self.seed,
            "--repeat": None if self.repeat == 1 else self.repeat,
        }
        sets = [text for name, value in self.parameters.items() for text in ("--set", f"{name}={value}")]
        options = [str(part) for name, value in named.items() if value is not None for part in (name, value)]
        flags = {"--rehearse": self.rehearse, "--warm-up": self.warm_up, "--no-verify": not self.verify, "--json": True}
        asked = [name for name, is_set in flags.items() if is_set]
        return ["--kernel", self.kernel, *sets, "--mode", self.mode, *options, *asked]


@dataclass(frozen=True)
class KernelRun:
    """The counters of one run of a kernel, under the names of `numasim.engine.result`.

    ``serial_ps`` is the CPU time of the serial twin. ``correct`` says whether the serial twin has the same result. Both
    are None if the run was not verified. ``rehearsed_ps`` is the harmonic mean of the times of serial copies of the
    program that ran on the workers just before the run; 0 without copies. ``hop_ps`` is the mean transfer time of a
    cache line from worker to worker: before the copies, just before and just after a native run; 0 without copies, for
    a single worker, and in other modes. ``columns`` are sums over workers, and ``worker`` has the same counters by
    worker. ``node`` is the node of each worker, and the node tables are [nodes][nodes]. ``words`` has a row for each
    synchronisation object: acquisitions, handoffs within a node and between nodes, time waited, time held.
    """

    kernel: str
    parameters: Mapping[str, Any]
    mode: str
    workers: int
    seed: int
    correct: bool | None
    makespan_ps: int
    columns: Mapping[str, int]
    costs: str | None = None
    serial_ps: int | None = None
    trace_hash: str | None = None
    rehearsed_ps: int = 0
    hop_ps: tuple[int, ...] = ()
    page_faults: int = 0
    worker: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    node: tuple[int, ...] = ()
    node_attempts: tuple[tuple[int, ...], ...] = ()
    node_success: tuple[tuple[int, ...], ...] = ()
    node_bytes: tuple[tuple[int, ...], ...] = ()
    words: tuple[tuple[int, ...], ...] = ()


def find_program() -> Path:
    """Return the path of the compiled program. Raise InputError if the program was not built."""
    return built(PROGRAM, "the task runtime")


def run_kernel(order: Order, program: Path | None = None) -> tuple[KernelRun, ...]:
    """Run a kernel as often as ``order`` says, and return the counts of each run.

    Raise InputError with the program's message if the program rejects its arguments. Raise CheckError if a result
    differs from the result of the kernel's serial twin, or if the program crashes.
    """
    return parse(answer([program or find_program(), *order.arguments()]), order)


def answer(command: list[str | Path]) -> Any:
    """Run the program, and return the JSON that the program prints. Errors are as in `run_kernel`."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise InputError(f"the program cannot be run: {error.strerror}", place=str(command[0])) from None
    return printed_by(done)


def printed_by(done: subprocess.CompletedProcess[str]) -> Any:
    """Return the JSON that the program has printed. Errors are as in `run_kernel`."""
    said = (done.stderr.strip().splitlines() or [""])[-1].removeprefix("numasim-runtime: ")
    if done.returncode == BAD_INPUT:
        raise InputError(said or "numasim-runtime rejects its arguments without a message")
    if done.returncode not in (CORRECT, WRONG_RESULT):
        raise CheckError(f"numasim-runtime ended with status {done.returncode}: {said or 'no message'}")
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise CheckError(f"numasim-runtime printed no JSON: {error.msg} at character {error.pos}") from None


def parse(found: Any, order: Order) -> tuple[KernelRun, ...]:
    """Return the runs in an answer. The answer is one object, or an object with the fields that all runs share and a
    list ``runs`` of the fields that differ.
    """
    from pydantic import TypeAdapter, ValidationError

    common = {key: value for key, value in found.items() if key != "runs"} if isinstance(found, dict) else {}
    each = found.get("runs", [{}]) if isinstance(found, dict) else [{}]
    try:
        runs = TypeAdapter(tuple[KernelRun, ...]).validate_python([{**common, **run} for run in each])
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise CheckError(f"numasim-runtime printed {'.'.join(map(str, first['loc'][1:]))}: {first['msg']}") from None
    for run in runs:
        if run.correct is False:
            raise CheckError(f"{order.kernel}, {order.mode}: the result differs from that of the serial twin")
    return runs


def main() -> int:
    """Print the flags that compilers need, or replace this process by the program numasim-runtime.

    Return only after printing, or if there is no program.
    """
    asked = sys.argv[1:]
    try:
        if are_flags(asked):
            built(LIBRARY, "the library of the task runtime")
            print(" ".join(FLAGS[flag] for flag in asked))
            return CORRECT
        program = find_program()
    except InputError as error:
        print(f"numasim-runtime: {error}", file=sys.stderr)
        return BAD_INPUT
    os.execv(program, [program.name, *asked])
