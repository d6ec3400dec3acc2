"""Run every command and every code block that the project shows, in full, and write a page of results.

    python verification/every_command.py --jobs 2
    python verification/every_command.py --list
    python verification/every_command.py validate   # each source up to its last entry with this word
    python verification/every_command.py --after 0123456789   # entries that worked on this commit keep their results

`command_list.py` makes the list. Each source (a page, the examples of all help texts, the shipped files) has a folder
of its own below build/every_command/COMMIT. The entries of a source run in this folder one after the other, and the
output of each entry is kept there. Up to --jobs sources run at once. Sources that measure time run afterwards, one by
one. An entry that worked on this commit is not run again, so a stopped command can be continued. If files that git
knows have uncommitted changes, the results go to another folder, named by the commit and a digest of the changes.

The page verification/every_command.md is rewritten whenever an entry ends. The page has the status and seconds of each
entry, and the entries that cannot run on this machine, with the reason. Exit status 1 if an entry fails.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any

import numasim

sys.path.insert(0, str(Path(__file__).parent))

from command_list import ROOT, Entry, entries  # isort: skip

PAGE = Path(__file__).with_suffix(".md")
PRODUCTS = ("numasim/engine/native/_engine*.so", "numasim/runtime/numasim-runtime", "numasim/runtime/libnumasim*.a")
RECORDER = ("numasim/runtime/record/tool/numasim-recorder.so", "numasim/runtime/record/numasim-openmp-probe")


@dataclass
class Folder:
    """The folder of a commit: results by entry, outputs, and a folder for each source."""

    path: Path
    every: Sequence[Entry]
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Read the kept results."""
        self.path.mkdir(parents=True, exist_ok=True)
        if self.file.is_file():
            self.results = json.loads(self.file.read_text())

    @property
    def file(self) -> Path:
        """Return the file of all results."""
        return self.path / "results.json"

    def keep(self, entry: Entry, **result: Any) -> None:
        """Write the result of an entry to the file of results at once."""
        with self.lock:
            self.results[key_of(entry)] = {"commit": self.path.name, **result}
            part = self.file.with_suffix(".part")
            part.write_text(json.dumps(self.results, indent=1))
            part.replace(self.file)
            self.write_page()

    def take(self, earlier: Folder) -> None:
        """Take over the results of entries that worked on an earlier commit and have not worked on this commit."""
        for entry in self.every:
            if entry.runs and earlier.is_done(entry) and not self.is_done(entry):
                self.results[key_of(entry)] = {"commit": earlier.path.name, **earlier.results[key_of(entry)]}

    def write_page(self) -> None:
        """Write the page of all results so far."""
        PAGE.write_text(page(self.every, self))

    def result(self, entry: Entry) -> dict[str, Any] | None:
        """Return the result of an entry, None if the entry has not run."""
        return self.results.get(key_of(entry))

    def is_done(self, entry: Entry) -> bool:
        """Return whether the entry has worked."""
        found = self.result(entry)
        return found is not None and found["status"] in entry.statuses


def key_of(entry: Entry) -> str:
    """Return the key of an entry among the results. The key does not contain the line of the entry, since any change of
    a page moves lines.
    """
    digest = hashlib.blake2b(f"{entry.source} {entry.text}".encode(), digest_size=8).hexdigest()
    return f"{entry.source} {digest}"


def git(*arguments: str) -> str:
    """Return what git prints in the folder of the sources."""
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


def commit() -> str:
    """Return the commit in ten digits, with a digest of uncommitted changes, if there are any."""
    changes = git("diff", "HEAD", "--", ".", f":!{PAGE.relative_to(ROOT)}")
    changed = f"-{hashlib.blake2b(changes.encode(), digest_size=4).hexdigest()}" if changes else ""
    return git("rev-parse", "HEAD")[:10] + changed


# ---- running ---------------------------------------------------------------------------------------------------------


def environment(path: Path) -> dict[str, str]:
    """Return the environment of all entries. In this environment `numasim` is the package of the running interpreter,
    and a browser shows nothing.
    """
    programs = path / "bin"
    programs.mkdir(exist_ok=True)
    for name, module in {"numasim": "numasim", "numasim-runtime": "numasim.runtime"}.items():
        program = programs / name
        call = f"-m {module}" if name == "numasim" else "-c 'from numasim.runtime.runtime_program import main; main()'"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {call} "$@"\n')
        program.chmod(0o755)
    search = [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
    sources = Path(numasim.__file__).parents[1]
    return {
        **os.environ,
        "PATH": os.pathsep.join(search),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(sources), os.environ.get("PYTHONPATH", "")])),
        "PYTHONSAFEPATH": "1",
        "MPLBACKEND": "agg",
        "COLUMNS": "120",
        "BROWSER": "true",
    }


def copy_of_sources(path: Path) -> Path:
    """Copy the commit with its compiled products, as installed in the entries' environment. Return the folder."""
    copy = path / "sources"
    if not copy.is_dir():
        subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(copy)], check=True)
        for pattern in (*PRODUCTS, *RECORDER):
            for product in ROOT.glob(pattern):
                copied = copy / product.relative_to(ROOT)
                copied.parent.mkdir(exist_ok=True)
                shutil.copy2(product, copied)
        (copy / ".venv").symlink_to(sys.prefix)
    return copy


def run_source(some: Sequence[Entry], folder: Folder) -> None:
    """Run the entries of a source in its folder, one after the other. A Python block first repeats the blocks before
    it.
    """
    here = folder.path / "folders" / re.sub(r"\W+", "-", some[0].source).strip("-")
    here.mkdir(parents=True, exist_ok=True)
    before = ""
    for entry in some:
        if entry.file:
            (here / entry.file).parent.mkdir(parents=True, exist_ok=True)
            (here / entry.file).write_text(entry.text)
        elif entry.runs and not folder.is_done(entry):
            _run(entry, before + entry.text if entry.language == "python" else entry.text, here, folder)
        if entry.runs and entry.language == "python":
            before += entry.text


def _run(entry: Entry, text: str, here: Path, folder: Folder) -> None:
    where = copy_of_sources(folder.path) if entry.in_sources else here
    command = [sys.executable, "-c", text] if entry.language == "python" else ["bash", "-euo", "pipefail", "-c", text]
    said = environment(folder.path)
    if entry.in_sources:
        said["PYTHONPATH"] = str(where)
    output = folder.path / "outputs" / f"{re.sub(r'[^A-Za-z0-9]+', '-', key_of(entry))}.txt"
    output.parent.mkdir(exist_ok=True)
    began, at = time.monotonic(), time.strftime("%Y-%m-%d %H:%M")
    with output.open("w") as file:
        done = subprocess.run(
            command, cwd=where, env=said, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, check=False
        )
    seconds = time.monotonic() - began
    status = done.returncode
    if status == 1 and status in entry.statuses and "cells within" not in output.read_text():
        status = 2  # not a missed bound: the command ended before it compared anything
    folder.keep(entry, status=status, seconds=round(seconds, 1), at=at, output=output.name)
    worked = "ok  " if status in entry.statuses else "FAIL"
    print(f"{worked} {status:3} {seconds:8.1f} s  {entry.place}: {entry.title}", flush=True)


# ---- the page --------------------------------------------------------------------------------------------------------


def page(every: Sequence[Entry], folder: Folder) -> str:
    """Return the page of results."""
    ran = [(entry, found) for entry in every if entry.runs and (found := folder.result(entry))]
    failed = [entry for entry, found in ran if found["status"] not in entry.statuses]
    missing = [entry for entry in every if entry.runs and folder.result(entry) is None]
    days = sorted({found["at"] for _, found in ran}) or ["never"]
    total = sum(found["seconds"] for _, found in ran)
    lines = [
        "# Every command",
        "",
        f"Written by `python verification/every_command.py` from {days[0]} to {days[-1]}",
        f"(local time), on {os.cpu_count()} processors. Of {len(ran) + len(missing)} commands and blocks of code"
        f" {len(ran)} were run,",
        f"each in full, in {total / 60:.0f} minutes, summed over them. {len(failed)} failed.",
        "",
        "| source | command | status | seconds | commit |",
        "|---|---|---|---|---|",
        *(_row(entry, found) for entry, found in ran),
    ]
    if missing:
        lines += ["", "## Not run yet", "", *(f"- {entry.place}: `{_cell(entry.title)}`" for entry in missing)]
    lines += ["", "## What cannot run here", ""]
    lines += [f"- {entry.place}: `{_cell(entry.title)}`: it needs {entry.need}" for entry in every if entry.need]
    return "\n".join([*lines, ""])


def _row(entry: Entry, found: dict[str, Any]) -> str:
    status = str(found["status"])
    if found["status"] not in entry.statuses:
        status = f"**{status}**"
    elif found["status"]:
        status += ": a bound is missed, which is a result of the machine"
    places = ", ".join((entry.place, *entry.also))
    return f"| {places} | `{_cell(entry.title)}` | {status} | {found['seconds']:.1f} | `{found['commit']}` |"


def _cell(title: str) -> str:
    """Return a title as the text of a table cell."""
    short = title if len(title) <= 120 else f"{title[:117]}..."
    return short.replace("`", "'").replace("|", "\\|")


# ---- the command -----------------------------------------------------------------------------------------------------


def asked(every: Iterable[Entry], words: Sequence[str]) -> list[list[Entry]]:
    """Return the entries of each source, up to the last entry that has all words in its place or its text."""
    found = []
    for _, group in groupby(every, key=lambda entry: entry.source):
        some = list(group)
        last = [
            number for number, one in enumerate(some) if one.runs and all(w in f"{one.place} {one.text}" for w in words)
        ]
        if last:
            found.append(some[: last[-1] + 1])
    return found


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only sources with an entry that has all of these words")
    parser.add_argument("--jobs", type=int, default=1, help="sources at a time")
    parser.add_argument("--after", metavar="COMMIT", help="entries that worked on this commit keep their results")
    parser.add_argument("--list", action="store_true", help="print the list and the estimate, and run nothing")
    options = parser.parse_args()
    every, name = entries(), commit()
    folder = Folder(ROOT / "build" / "every_command" / name, every)
    if options.after:
        folder.take(Folder(folder.path.with_name(options.after), every))
    sources = asked(every, options.words)
    open_entries = [each for some in sources for each in some if each.runs and not folder.is_done(each)]
    if options.list:
        for entry in every:
            states = (entry.need and f"needs {entry.need}", entry.file and "a file", folder.is_done(entry) and "done")
            print(f"{entry.place}: {entry.file or entry.title}", *(f"[{state}]" for state in states if state))
    alone = [some for some in sources if any(entry.timed and entry.runs for entry in some)]
    beside = [some for some in sources if some not in alone]
    beside.sort(key=lambda some: -sum(entry.minutes for entry in some if entry.runs))
    together = sum(each.minutes for some in beside for each in some if each in open_entries)
    timed = sum(each.minutes for some in alone for each in some if each in open_entries)
    print(
        f"commit {name}: {len(open_entries)} entries to run, about {together + timed:.0f} minutes on two idle cores,"
        f" {timed:.0f} of them in sources that measure time and run alone",
        flush=True,
    )
    if options.list:
        return 0
    environment(folder.path)
    if any(entry.in_sources for entry in open_entries):
        copy_of_sources(folder.path)
    for some, jobs in ((beside, options.jobs), (alone, 1)):
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda source: run_source(source, folder), some))
    folder.write_page()
    failed = [each for some in sources for each in some if each.runs and not folder.is_done(each)]
    for entry in failed:
        print(f"failed: {entry.place}: {entry.title}")
    print(f"{len(failed)} failed; {PAGE.relative_to(ROOT)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
