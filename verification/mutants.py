"""Make small random changes of the engines' sources, one at a time in a copy, and list the changes that no test of the
engines notices.

    python verification/mutants.py [--native] [--count 50] [--seed 1] [WORDS]    # in all sources, or paths with WORDS

A change turns a comparison, a sum, a minimum or a condition into a similar one, or removes a statement. Without
--native the reference engine is changed, and only the reference engine is tested. With --native C and C++ are changed:
after each change the compiled engine is rebuilt without optimisation, and the same tests run on it. Slow tests are left
out.

A change that no test notices is printed with its line. A reader has to decide whether a rule lacks a test, or whether
the change has no effect, such as another order of two sums. The working tree is never touched.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from tiers import SLOW  # isort: skip

REPOSITORY = Path(__file__).resolve().parents[1]
COPIED = ("numasim", "lib", "configs", "tests/engine", "tests/workload", "pyproject.toml")
PYTHON = ("numasim/engine/reference/**/*.py", "numasim/strategy/p*.py", "numasim/plan/segment_times.py")
NATIVE = ("lib/core/**/*.c", "lib/core/**/thief.h", "lib/engine/**/*.cpp", "lib/engine/**/*.hpp")
# seconds for the tests, far above their usual time: this limit finds changes after which an engine never ends
LONGEST_S = 1200
FAILURE = re.compile(r"^(?:FAILED|ERROR) \S*?(\w+\.py\S*)", re.MULTILINE)
NOT_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|^[ \t]*#[^\n]*", re.DOTALL | re.MULTILINE
)
EDITS = (  # text in the code, and its replacement
    *((r" <= ", " < "), (r" < ", " <= "), (r" >= ", " > "), (r" > ", " >= "), (r" == ", " != "), (r" != ", " == ")),
    *((r" \+ 1\b", ""), (r" - 1\b", ""), (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + ")),
    *((r"\bmin\(", "max("), (r"\bmax\(", "min("), (r"\bTrue\b", "False"), (r"\bFalse\b", "True")),
    *((r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r" and ", " or "), (r" or ", " and "), (r"\bif not ", "if ")),
    *((r" && ", " || "), (r" \|\| ", " && "), (r"\bif \(!", "if ("), (r"\bcontinue\b", "break")),
    (r"(?m)(?<=^)([ ]+)[\w.\->\[\]]+ [+-]= [^\n;()]+;?$", r"\1;"),
    (r"(?m)(?<=^)([ ]+)(?!return|assert|yield|raise)[\w.\->]+\([^\n()]*\);?$", r"\1;"),
)


class SandboxError(Exception):
    """Raised if the tests of the copy fail before any change, or if a test did not run at all."""


class Mutant(NamedTuple):
    """A changed source: ``file`` with the contents ``text``. ``told`` describes the place and the change."""

    file: str
    text: str
    told: str


def blanked(text: str, python: bool) -> str:
    """Return ``text`` with blanks in place of comments and strings."""
    if not python:
        return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    lines = [list(line) for line in text.splitlines(keepends=True)]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            for row in range(token.start[0], token.end[0] + 1):
                begin = token.start[1] if row == token.start[0] else 0
                end = token.end[1] if row == token.end[0] else len(lines[row - 1]) - 1
                lines[row - 1][begin:end] = " " * (end - begin)
    return "".join("".join(line) for line in lines)


def mutants_of(file: Path) -> Iterator[Mutant]:
    """Yield all changes of a source that can still be compiled, as far as Python can tell."""
    text, python = file.read_text(), file.suffix == ".py"
    code = blanked(text, python)
    name = file.relative_to(REPOSITORY).as_posix()
    for pattern, instead in EDITS:
        for found in re.finditer(pattern, code):
            new = found.expand(instead)
            new = new.replace(";", "pass") if python else new
            changed = text[: found.start()] + new + text[found.end() :]
            if python:
                try:
                    compile(changed, name, "exec")
                except SyntaxError:
                    continue
            line = text.count("\n", 0, found.start()) + 1
            yield Mutant(name, changed, f"{name}:{line}: {found[0].strip()!r} -> {new.strip()!r}")


def copy_to(folder: Path) -> None:
    """Copy the files that the engines' tests need, without the compiled engine, which would hide a changed engine."""
    for name in COPIED:
        source, target = REPOSITORY / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "_engine*.so"))
        else:
            shutil.copy2(source, target)


def build(folder: Path) -> bool:
    """Build the compiled engine of the copy in place, incrementally. Return whether the build succeeds."""
    made, native = folder / "build", folder / "numasim" / "engine" / "native"
    options = ("-DNUMASIM_RUNTIME=OFF", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1", "-DCMAKE_C_FLAGS=-O1")
    interpreter = f"-DPython_EXECUTABLE={sys.executable}"
    commands: list[tuple[str | Path, ...]] = [("cmake", "--build", made)]
    if not made.exists():
        commands.insert(0, ("cmake", "-G", "Ninja", "-S", folder / "lib", "-B", made, interpreter, *options))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for words in commands:
        if subprocess.run(words, capture_output=True, check=False, env={**os.environ, "PATH": path}).returncode:
            return False
    for module in made.glob("_engine*.so"):
        shutil.copy2(module, native)
    return True


def failing_tests(folder: Path, *options: str) -> list[str]:
    """Return the modules and names of the engine's tests that fail in ``folder``."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=ci", *options]
    command += [f"--deselect=tests/{entry}" for entry in SLOW if entry.startswith("engine/")]
    # no byte code: Python would use outdated byte code of a source that changed twice within a second
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run([*command, "tests/engine"], cwd=folder, env=environment, capture_output=True, text=True,
                              check=False, timeout=LONGEST_S)  # fmt: skip
    except subprocess.TimeoutExpired:
        return [f"(the tests had not ended after {LONGEST_S} s)"]
    unclear = [f"(the tests ended with status {done.returncode})"] if done.returncode else []
    return FAILURE.findall(done.stdout) or unclear


def main() -> None:
    """Print one line for each unnoticed change."""
    parser = argparse.ArgumentParser(description="Change the engines at random and name what their tests miss.")
    parser.add_argument("--native", action="store_true", help="change C and C++ in place of Python")
    parser.add_argument("--count", type=int, default=50, help="how many changes are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("words", nargs="*", help="of paths")
    chosen = parser.parse_args()
    files = {file for pattern in (NATIVE if chosen.native else PYTHON) for file in REPOSITORY.glob(pattern)}
    named = [file for file in sorted(files) if all(word in str(file) for word in chosen.words)]
    every = [mutant for file in named for mutant in mutants_of(file)]
    drawn = Random(chosen.seed).sample(every, min(chosen.count, len(every)))
    with TemporaryDirectory() as name:
        folder = Path(name)
        copy_to(folder)
        if chosen.native and not build(folder):
            raise SandboxError("the engine of the copy cannot be built")
        modules = sorted({test.partition("::")[0] for test in failing_tests(folder, "--continue-on-collection-errors")})
        print(f"left out, since they need more than the copy has: {', '.join(modules) or 'none'}", flush=True)
        options = ["-x", *(f"--ignore=tests/engine/{module}" for module in modules)]
        if failed := failing_tests(folder, *options):
            raise SandboxError(f"without any change, {failed[0]} fails")
        missed = tried = 0
        for mutant in drawn:
            file = folder / mutant.file
            source = file.read_text()
            file.write_text(mutant.text)
            if chosen.native and not build(folder):
                print(f"cannot be built: {mutant.told}", flush=True)
                file.write_text(source)
                continue
            caught = next(iter(failing_tests(folder, *options)), None)
            file.write_text(source)
            tried, missed = tried + 1, missed + (caught is None)
            print(f"{'caught' if caught else 'MISSED'} {mutant.told}\n       {caught or ''}".rstrip(), flush=True)
    print(f"{tried - missed} of {tried} changes caught, out of {len(every)}; {len(drawn) - tried} could not be built")


if __name__ == "__main__":
    main()
