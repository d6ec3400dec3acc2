"""Programs that the benchmark builds: what is missing, cannot be built or goes wrong is one sentence each."""

from __future__ import annotations

from pathlib import Path

import pytest
from installed_scripts import only_installed, script

from numasim.benchmark.compared import Comparisons, MissingError, joined
from numasim.benchmark.comparisons.built_programs import (
    CPP,
    C,
    build,
    compiler_of,
    package_options,
    package_variable,
    printed_numbers,
)
from numasim.benchmark.ratios import pair_probe
from numasim.errors import CheckError

SOURCE = "fib_numasim.c.txt"  # a file that is there; no real compiler reads it here
BUILDS_A_PROGRAM = (  # a compiler whose programs run whatever $TEXT says
    'while [ $# -gt 0 ]; do [ "$1" = -o ] && made=$2; shift; done; printf \'#!/bin/sh\\n%s\\n\' "$TEXT" > "$made"; '
    '/bin/chmod 755 "$made"'
)


@pytest.mark.parametrize(("language", "name"), [(C, "C"), (CPP, r"C\+\+")])
def test_a_missing_compiler_is_named(
    language: object, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {})
    with pytest.raises(MissingError, match=f"^there is no {name} compiler$"):
        compiler_of(language)  # type: ignore[arg-type]


def test_a_compiler_that_the_environment_names_is_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {"cc": "", "mine": ""})
    assert compiler_of(C) == str(tmp_path / "bin" / "cc")
    monkeypatch.setenv("CC", "mine")
    assert compiler_of(C) == str(tmp_path / "bin" / "mine")
    monkeypatch.setenv("CC", "theirs")
    with pytest.raises(MissingError, match=r"^there is no C compiler theirs$"):
        compiler_of(C)


def test_the_first_of_several_compilers_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {"c++": ""})
    assert compiler_of(CPP) == str(tmp_path / "bin" / "c++")
    script(tmp_path / "bin" / "clang++", "")
    assert compiler_of(CPP) == str(tmp_path / "bin" / "clang++")


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {})
    with pytest.raises(MissingError, match=r"^there is no pkg-config$"):
        package_options("lace")
    script(tmp_path / "bin" / "pkg-config", "exit 1")
    with pytest.raises(MissingError, match=r"^pkg-config finds no lace$"):
        package_options("lace")


def test_programs_find_the_library_where_its_package_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = (
        'case "$1" in --variable=libdir) echo /far/lib;; --variable=*) echo;; *) echo "-I/far -L/far/lib -lit";; esac'
    )
    only_installed(monkeypatch, tmp_path / "bin", {"pkg-config": answers})
    assert package_options("it") == ["-I/far", "-L/far/lib", "-lit", "-Wl,-rpath,/far/lib"]
    assert package_variable("it", "counters") == ""
    script(tmp_path / "bin" / "pkg-config", 'case "$1" in --variable=*) echo;; *) echo "-lit";; esac')
    assert package_options("it") == ["-lit"]


def test_what_cannot_be_built_is_a_sentence_with_the_first_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = "echo 'In file included from a.c:1:' >&2; echo 'a.c:3: error: no such type' >&2; echo more >&2; exit 1"
    only_installed(monkeypatch, tmp_path / "bin", {"cc": says})
    with pytest.raises(MissingError) as missing:
        build(tmp_path / "made", C, SOURCE, [], [])
    assert str(missing.value) == f"{SOURCE} cannot be built: a.c:3: error: no such type"


def test_what_cannot_be_run_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {"cc": BUILDS_A_PROGRAM})
    monkeypatch.setenv("TEXT", "echo 'libit.so.0 is not there' >&2; exit 127")
    with pytest.raises(MissingError, match=rf"^{SOURCE} cannot be run: libit.so.0 is not there$"):
        build(tmp_path / "made", C, SOURCE, [], [])
    monkeypatch.setenv("TEXT", "exit 3")
    with pytest.raises(MissingError, match=rf"^{SOURCE} cannot be run$"):
        build(tmp_path / "made", C, SOURCE, [], [])


def test_a_trial_has_the_arguments_that_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {"cc": BUILDS_A_PROGRAM})
    monkeypatch.setenv("TEXT", '[ "$*" = "4 1" ]')
    build(tmp_path / "made", C, SOURCE, [], ["4", "1"])
    with pytest.raises(MissingError):
        build(tmp_path / "made", C, SOURCE, [], ["4", "2"])


def test_numbers_are_read_and_anything_else_is_reported(tmp_path: Path) -> None:
    assert printed_numbers(script(tmp_path / "good", 'echo "$2" 7'), "5", "6") == [6, 7]
    with pytest.raises(CheckError, match=r"^words 5 printed 'no numbers'; whole numbers are expected$"):
        printed_numbers(script(tmp_path / "words", "echo no numbers"), "5")
    with pytest.raises(CheckError, match=r"^wrong 5 failed with status 1: the result is 3, not 4$"):
        printed_numbers(script(tmp_path / "wrong", "echo 'the result is 3, not 4' >&2; exit 1"), "5")


def test_comparisons_are_joined_in_order() -> None:
    probes = [pair_probe(name, "at most", None, "s", (lambda: 1.0, lambda: 1.0)) for name in "ab"]
    parts = [Comparisons((probes[0],), ("no c",)), Comparisons((), ("no d",)), Comparisons((probes[1],), ())]
    assert joined(parts) == Comparisons((probes[0], probes[1]), ("no c", "no d"))
