"""The list of all commands: the commands on pages and in help texts, and a command for each shipped file of some kinds.

An entry is a code block of a page, a line of a block that consists only of commands of numasim, or a line of this file.
Entries of one source run in their order in one folder. If the tests do not run a block, a remark above the block gives
the reason: `it takes ...` if the block only takes long (this list runs the block), or `it needs ...`. `NEEDS` says
whether this machine meets a need. Code of pages that has to run in the folder of the sources runs in a copy of this
folder.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from numasim.cli.entrance import app
from numasim.cli.listing import SCHEMAS
from numasim.cli.shared import examples_of
from numasim.parts import catalog
from numasim.reproduce.study import study_names
from numasim.validate.part_files import part_names

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "docs"))

page_blocks = import_module("code_blocks")  # a module of the tests of the documentation
CONTINUED: str = page_blocks.CONTINUED

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md")))
EXAMPLES, SHIPPED = "examples of --help", "what ships"

TAKES, NEED = "it takes ", "it needs "
# need -> the programs that must be installed; None: a need that no machine meets by itself
NEEDS: dict[str, tuple[str, ...] | None] = {
    "a package index": None,
    "a cluster": None,
    "another machine": None,
    "the right to install for all users": None,
    "another version of numasim": None,
    "an editable build": None,
    "the tests, which .ci/run runs": None,
    "a checkout with its hooks installed": None,
    "SLURM": ("sbatch",),
    "HTCondor": ("condor_submit",),
    "Snakemake": ("snakemake", "sbatch"),
    "a compiler with OpenMP": ("gcc",),
}
UNMARKED = {  # the needs of blocks of README.md and CONTRIBUTING.md that no test runs and that have no remark
    r"pip install|release/": "a package index",
    r"/path/to/": "another version of numasim",
    r"cmake --build": "an editable build",
    r"pytest": "the tests, which .ci/run runs",
    r"pre-commit": "a checkout with its hooks installed",
}
NAMED = re.compile(r"# (\S+\.yaml):")  # the first line of a block of README.md that shows a file
IN_SOURCES = re.compile(r"^\.venv/bin/|python (verification|notebooks|experiments)/", re.MULTILINE)
TIMED = re.compile(r"numasim (bench|calibrate|validate native)|verification/speed")
ONCE = re.compile(r"numasim (bench|validate|reproduce) ")  # commands that take long and leave nothing for later entries
OUTPUT = re.compile(r" (-o|--plot) \S+| --json")
MAY_MISS = re.compile(r"numasim validate native(?!.*--quick)")

MINUTES = {  # minutes on two idle cores; all other commands take seconds
    "numasim reproduce all": 45,
    "numasim reproduce thesis -o": 8,
    "numasim validate native --machine ./machine.yaml": 30,
    "numasim bench --plot": 5,
    "numasim bench --scale": 10,
    "numasim validate -o": 4,
    "long_equality.py": 8,
    "notebooks/keep.py": 4,
    "numasim reproduce": 1,
    "numasim sweep": 0.3,
    "calibrate": 1,
}


@dataclass(frozen=True)
class Entry:
    """A command, or a block of code.

    With ``file`` the text is not run, but written to a file of this name. ``need`` names a need of the entry that this
    machine does not meet. A command that several places show is run only once; ``also`` has the other places.
    """

    source: str
    line: int
    language: str
    text: str
    file: str | None = None
    need: str | None = None
    also: tuple[str, ...] = ()

    @property
    def runs(self) -> bool:
        """Return whether the entry is run here."""
        return self.file is None and self.need is None

    @property
    def title(self) -> str:
        """Return the command, or the first lines of a block, as one line."""
        lines = [line for line in self.text.replace(CONTINUED, " ").splitlines() if line.strip()]
        return re.sub(r"\s+", " ", "; ".join(lines[:2])) + (" ..." if len(lines) > 2 else "")

    @property
    def place(self) -> str:
        """Return the page with the line of the block, or the source that has no lines."""
        return f"{self.source}:{self.line}" if self.line else self.source

    @property
    def in_sources(self) -> bool:
        """Return whether the folder of the sources has to be the working folder."""
        return self.language == "sh" and bool(IN_SOURCES.search(self.text) or "-S lib/" in self.text)

    @property
    def timed(self) -> bool:
        """Return whether the entry measures time, and therefore runs alone."""
        return bool(TIMED.search(self.text))

    @property
    def statuses(self) -> tuple[int, ...]:
        """Return the exit statuses of success. For commands that measure threads, status 1 (a missed bound) is a
        success, since the bound depends on the machine.
        """
        return (0, 1) if MAY_MISS.search(self.text) else (0,)

    @property
    def minutes(self) -> float:
        """Return about how many minutes the entry takes on two idle cores."""
        return next((minutes for text, minutes in MINUTES.items() if text in self.text), 0.05)


def entries() -> list[Entry]:
    """Return all entries. Of equal entries that take long, only the entry of the first source is returned."""
    every = [entry for page in PAGES for entry in page_entries(page, (ROOT / page).read_text())]
    every += [*_examples(), *_shipped()]
    kept: dict[object, Entry] = {}
    for number, entry in enumerate(every):
        once = entry.runs and ONCE.search(entry.text) and "\n" not in entry.text.strip()
        key: object = OUTPUT.sub("", entry.text.strip()) if once else number
        kept[key] = replace(kept[key], also=(*kept[key].also, entry.place)) if key in kept else entry
    return list(kept.values())


def page_entries(page: str, text: str) -> Iterator[Entry]:
    """Yield the entries of a page. Blocks that are neither run nor a file have no entry."""
    for block in page_blocks.code_blocks(text):
        named = NAMED.match(block.text)
        if block.file or named:
            yield Entry(page, block.line, block.language, block.text, block.file or (named and named[1]))
        elif block.language in page_blocks.RUN:
            entry = Entry(page, block.line, block.language, block.text, None, missing(block.not_run, block.text))
            plain = block.text.replace(CONTINUED, " ")
            split = block.language == "sh" and page_blocks.COMMANDS.fullmatch(plain)
            yield from (replace(entry, text=f"{line}\n") for line in plain.splitlines()) if split else (entry,)


def missing(remark: str | None, text: str) -> str | None:
    """Return the need of a block that this machine does not meet, by the remark above the block or by `UNMARKED`; None
    if there is no such need.
    """
    marked = remark is not None and remark.startswith((TAKES, NEED))
    unmarked = next((need for what, need in UNMARKED.items() if re.search(what, text)), None)
    need = need_of(remark) if remark and marked else unmarked
    if need is None:
        return None
    programs = NEEDS[need]
    return None if programs and all(map(shutil.which, programs)) else need


def need_of(remark: str) -> str | None:
    """Return the need that a remark names; None if the block only takes long. Raise KeyError for any other remark."""
    if remark.startswith(TAKES):
        return None
    return {f"{NEED}{need}": need for need in NEEDS}[re.split(r"[,;]", remark)[0]]


def commands(command: Any = None, path: str = "numasim") -> Iterator[tuple[str, Any]]:
    """Yield every command of numasim, with the words that call the command."""
    command = command or typer.main.get_command(app)
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}")


def _examples() -> Iterator[Entry]:
    """Yield the examples of all help texts, one after the other, preceded by the files that the examples need."""
    compiler = missing(f"{NEED}a compiler with OpenMP", "")
    page = page_blocks.code_blocks((ROOT / "docs" / "how-to" / "my-program.md").read_text())
    yield next(Entry(EXAMPLES, 0, block.language, block.text, block.file) for block in page if block.file == "fib.c")
    yield Entry(EXAMPLES, 0, "sh", "gcc -O2 -fopenmp fib.c -o fib\n", None, compiler)
    for line in dict.fromkeys(line for _, command in commands() for line in examples_of(command.epilog)):
        yield Entry(EXAMPLES, 0, "sh", f"{line}\n", None, compiler if "./fib" in line else None)


def _shipped() -> Iterator[Entry]:
    """Yield the shipped files with a command of their own: sweeps, parts of the validation, studies, kinds of files."""
    lines = [f"numasim sweep {name} -o results/{name}" for name in catalog.names("sweeps")]
    lines += [f"numasim reproduce {name} --quick -o results/{name}" for name in study_names()]
    lines += [f"numasim schema {kind}" for kind in SCHEMAS]
    lines += ["numasim calibrate --quick -o machine.yaml --runtime runtime.yaml"]
    machine = {"native": " --machine ./machine.yaml --runtime ./runtime.yaml"}
    lines += [
        f"numasim validate {name} --quick{machine.get(name, '')} -o results/{name}-quick" for name in part_names()
    ]
    yield from (Entry(SHIPPED, 0, "sh", f"{line}\n") for line in lines)
