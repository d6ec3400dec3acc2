"""An `Order` becomes a command line of the C runtime's program; the program's output becomes runs or an error."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from numasim.errors import CheckError, InputError
from numasim.runtime import runtime_program as module
from numasim.runtime.runtime_program import KernelRun, Order, parse, run_kernel

COMMAND = [sys.executable, "-c", "import sys; from numasim.runtime.runtime_program import main; sys.exit(main())"]
FIB = Order("fib", {"n": 20}, mode="virtual")
ANSWER: dict[str, Any] = {
    "kernel": "fib",
    "parameters": {"n": 20},
    "mode": "virtual",
    "costs": "measured",
    "workers": 2,
    "seed": 7,
    "correct": True,
    "serial_ps": 5_000,
    "makespan_ps": 3_000,
    "trace_hash": "00ff00ff00ff00ff",
    "page_faults": 0,
    "columns": {"tasks": 3, "steal_attempts": 2},
    "worker": {"tasks": [2, 1], "steal_attempts": [0, 2]},
    "node": [0, 1],
    "node_attempts": [[0, 0], [2, 0]],
    "node_success": [[0, 0], [1, 0]],
    "node_bytes": [[0, 0], [0, 0]],
    "words": [[1, 0, 0, 5, 6]],
}


def canned(folder: Path, status: int, out: str, err: str = "") -> Path:
    """Return a program that has this exit status and these outputs for any arguments."""
    path = folder / "canned"
    path.write_text(
        f"#!{sys.executable}\nimport sys\nsys.stdout.write({out!r})\nsys.stderr.write({err!r})\nsys.exit({status})\n"
    )
    path.chmod(0o755)
    return path


def test_an_order_is_a_command_line_and_the_rest_is_left_to_the_program() -> None:
    switches: dict[str, Any] = {"rehearse": True, "warm_up": True, "verify": False, "costs": "model"}
    numbers: dict[str, Any] = {"workers": 24, "seed": 0, "repeat": 20}
    order = Order("uts", {"b0": 4, "tree": "binomial"}, mode="virtual", plan=Path("p.plan"), **numbers, **switches)
    assert " ".join(order.arguments()) == (
        "--kernel uts --set b0=4 --set tree=binomial --mode virtual --costs model --workers 24 --plan p.plan --seed 0"
        " --repeat 20 --rehearse --warm-up --no-verify --json"
    )
    assert Order("fib").arguments() == ["--kernel", "fib", "--mode", "native", "--json"]


def test_an_answer_becomes_a_run(tmp_path: Path) -> None:
    (run,) = run_kernel(FIB, canned(tmp_path, 0, json.dumps(ANSWER)))
    tuples = {"worker": {name: tuple(values) for name, values in ANSWER["worker"].items()}, "node": (0, 1)}
    tables = ("node_attempts", "node_success", "node_bytes", "words")
    tuples |= {name: tuple(map(tuple, ANSWER[name])) for name in tables}
    assert run == KernelRun(**{**ANSWER, **tuples})


def test_repeats_share_what_the_object_says_of_all() -> None:
    runs = parse({**ANSWER, "runs": [{"seed": 7}, {"seed": 8, "makespan_ps": 9, "columns": {"tasks": 4}}]}, FIB)
    assert [(run.seed, run.makespan_ps, run.columns["tasks"]) for run in runs] == [(7, 3_000, 3), (8, 9, 4)]
    assert {run.workers for run in runs} == {2}


def test_refused_arguments_are_the_sentence_of_the_program(tmp_path: Path) -> None:
    refusing = canned(tmp_path, 2, "", "numasim-runtime: there is no kernel 'fob'; did you mean 'fib'?\n")
    with pytest.raises(InputError, match=r"^there is no kernel 'fob'; did you mean 'fib'\?$"):
        run_kernel(FIB, refusing)


@pytest.mark.parametrize(
    ("status", "out", "sentence"),
    [
        (1, json.dumps({**ANSWER, "correct": False}), "fib, virtual: the result differs from that of the serial twin"),
        (0, "", "numasim-runtime printed no JSON: Expecting value at character 0"),
        (0, "[1]", "numasim-runtime printed kernel: Field required"),
        (0, json.dumps({**ANSWER, "columns": {"tasks": "many"}}), "numasim-runtime printed columns.tasks: "),
        (77, "", "numasim-runtime ended with status 77: no message"),
    ],
)
def test_a_program_that_fails_is_a_failed_check(tmp_path: Path, status: int, out: str, sentence: str) -> None:
    with pytest.raises(CheckError, match="^" + re.escape(sentence)):
        run_kernel(FIB, canned(tmp_path, status, out))


def test_a_program_that_dies_is_a_failed_check(tmp_path: Path) -> None:
    dying = tmp_path / "dying"
    dying.write_text("#!/bin/sh\nkill -SEGV $$\n")
    dying.chmod(0o755)
    with pytest.raises(CheckError, match="ended with status -11"):
        run_kernel(FIB, dying)


def test_what_is_no_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{tmp_path}.*cannot be run"):
        run_kernel(FIB, tmp_path)


def test_the_command_becomes_the_program(program: Path) -> None:
    own, command = (
        subprocess.run([*words, "--list", "--json"], capture_output=True, text=True, check=True)
        for words in ([str(program)], COMMAND)
    )
    assert "fib" in {kernel["name"] for kernel in json.loads(command.stdout)["kernels"]}
    assert (command.stdout, command.stderr) == (own.stdout, own.stderr)


def test_the_command_says_that_the_program_is_not_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "PROGRAM", tmp_path / "numasim-runtime")
    assert module.main() == 2
    said = capsys.readouterr().err
    assert said.startswith("numasim-runtime: ")
    assert "numasim-runtime: the task runtime is not built here; expected an install" in said
