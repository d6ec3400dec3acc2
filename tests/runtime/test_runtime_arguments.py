"""The program refuses wrong arguments and wrong files with one sentence."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from runtime_sources import refusal

FIB = ["--kernel", "fib"]
SERIAL = [*FIB, "--mode", "serial"]
RECORDED = [*SERIAL, "--costs", "measured", "--record", "g"]
REFUSED: list[tuple[list[str], str]] = [
    (["--kernel", "fibb"], "there is no kernel 'fibb'; the nearest is fib, and --list shows all"),
    (["--kernel"], "--kernel needs a value"),
    (["--json"], "there has to be a --kernel; --list shows which there are"),
    (["--kernal", "fib"], "there is no option '--kernal'; the nearest is --kernel"),
    (["topolgy"], "there is no command 'topolgy'; the nearest is topology"),
    ([*SERIAL, "--set", "m=1"], "fib has no parameter 'm'; the nearest is n, and --list shows all"),
    ([*SERIAL, "--set", "n"], "--set is 'n', and has to be a parameter with its value, as in n=20"),
    ([*SERIAL, "--set", "n=51"], "n is '51', and has to be a whole number from 0 to 50"),
    ([*SERIAL, "--set", "n=-1"], "n is '-1', and has to be a whole number from 0 to 50"),
    ([*SERIAL, "--set", "n=99999999999999999999"], "has to be a whole number from 0 to 50"),
    ([*SERIAL, "--set", "n="], "n is '', and has to be a whole number from 0 to 50"),
    ([*SERIAL, "--set", "n=1", "--set", "n=2"], "n is set twice"),
    ([*SERIAL, "--set", "leaf_ns=0.0005"], "leaf_ns is '0.0005', and has to be nanoseconds from 0 to 1000000, with at"),
    ([*SERIAL, "--set", "leaf_ns=1."], "leaf_ns is '1.', and has to be nanoseconds"),
    ([*SERIAL, *["--set", "n=1"] * 17], "no kernel has more than 16 parameters to --set"),
    ([*FIB, "--mode", "virtua"], "--mode is 'virtua', and has to be one of serial, native, emulated, virtual"),
    ([*FIB, "--mode", "virtual"], "virtual time follows a plan that knows the program's recorded"),
    ([*SERIAL, "--costs", "modl"], "--costs is 'modl', and has to be one of model, measured; the nearest is model"),
    ([*SERIAL, "--workers", "0"], "--workers is '0', and has to be a whole number from 1 to 65536"),
    ([*SERIAL, "--repeat", "x"], "--repeat is 'x', and has to be a whole number from 1 to 1000000"),
    ([*SERIAL, "--seed", "-3"], "--seed is '-3', and has to be a whole number from 0 to 2^63 - 1"),
    ([*SERIAL, "--plan", "p"], "--plan goes with all modes but serial"),
    ([*FIB, "--mode", "native", "--record", "g"], "--record goes with --mode serial"),
    ([*SERIAL, "--rehearse"], "--rehearse goes with the modes native and emulated"),
    ([*FIB, "--rehearse", "--plan", "/no/plan"], "mode native, plan /no/plan: a file cannot be read"),
    ([*FIB, "--rehearse", "--warm-up", "--plan", "/no/plan"], "mode native, plan /no/plan: a file cannot be read"),
    ([*RECORDED, "--warm-up"], "--warm-up goes with runs that are not recorded"),
    ([*SERIAL, "--repeat", "2", "--record", "g"], "--record goes with a single run"),
    ([*SERIAL, "--record", "/no/such/folder/g.json"], "the task graph cannot be written to /no/such/folder/g.json"),
    ([*FIB, "--mode", "native", "--plan", "/no/plan"], "mode native, plan /no/plan: a file cannot be read"),
    (["--kernel", "uts", "--set", "tree=binary"], "tree is 'binary', and has to be one of binomial, geometric; the"),
    (["--kernel", "uts", "--set", "depth=3"], "uts: depth is no parameter of a binomial tree"),
    (["--kernel", "uts", "--set", "probability=2"], "probability is '2', and has to be a decimal number from"),
    (["--kernel", "uts", "--set", "probability=0.125"], "uts: children x probability is 1.000, and has to be below 1"),
    (["--kernel", "fft", "--set", "n=100"], "fft: n has to be a power of two, for example 64"),
    (["--kernel", "strassen", "--set", "n=96"], "strassen: n and cutoff have to be powers of two, for example"),
    (["--kernel", "strassen", "--set", "n=4096", "--set", "cutoff=2"], "strassen: the temporaries take"),
    (["--kernel", "graph", "--set", "depth=200"], "graph: this graph has more than 8000000 tasks; depth or width"),
    (["--kernel", "graph", "--set", "low_ns=2", "--set", "high_ns=1"], "graph: low_ns is above high_ns; swap them"),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_a_mistake_is_named(arguments: list[str], sentence: str, program: Path) -> None:
    found = refusal(program, *arguments)
    assert found.startswith("numasim-runtime: ")
    assert sentence in found


def test_nothing_is_left_of_a_graph_that_cannot_be_written(program: Path, tmp_path: Path) -> None:
    (tmp_path / "g.json").mkdir()
    refusal(program, *SERIAL, "--record", tmp_path / "g.json")
    assert [path.name for path in tmp_path.iterdir()] == ["g.json"]


def test_repeats_have_the_seeds_of_sweeps(program: Path) -> None:
    from numasim.draws import repeat_seed

    arguments = [program, *SERIAL, "--set", "n=3", "--seed", "7", "--repeat", "3", "--json"]
    found = json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
    assert [run["seed"] for run in found["runs"]] == [repeat_seed(7, repeat) for repeat in range(3)]
    assert found["correct"] is True
    assert found["seed"] == 7


def test_people_get_a_table(program: Path) -> None:
    done = subprocess.run([program, *SERIAL, "--set", "n=3"], capture_output=True, text=True, check=True)
    head, names, row = done.stdout.splitlines()
    assert head == "fib, mode serial, costs model, 1 workers"
    assert names.split() == ["makespan", "serial", "twin", "result", "tasks", "attempts", "steals"]
    assert row.split()[4:] == ["correct", "5", "0", "0"]
    assert "usage" not in done.stderr


def test_kernels_and_help_are_listed(program: Path) -> None:
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    assert "    construct=parallel  what is repeated: parallel for parallel-for" in listed
    assert "--record" in subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    assert subprocess.run([program], capture_output=True, check=False).returncode == 2
