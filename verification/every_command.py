"""Runs every command and every code block that the project shows, in full, and writes a page of results.

    python verification/every_command.py --jobs 2
    python verification/every_command.py --list
    python verification/every_command.py validate   # of each source, all entries up to the last one with that word
    python verification/every_command.py --after 0123456789   # entries that worked on that commit are not run again

The list is that of `command_list.py`. Each source (a page, the examples of all help texts, what ships) has a folder of
its own below build/every_command/COMMIT, in which its entries run one after the other; the output of each entry is kept
there. Up to --jobs sources run at once. Sources that measure time run after them, one by one. An entry that worked on
this commit is not run again, so that a list that was stopped can be continued. With uncommitted changes of files that
git knows, the results go to another folder, named by the commit and a digest of the changes. After a change that mends
some entries, --after names the commit on which the others worked; changed entries run anew, whatever it names.

The page verification/every_command.md is written anew whenever an entry ends. The page says when the list ran, on which
commit, the status and seconds of each entry, and which entries cannot run here, with the reason. Exit status 1 if an
entry fails.

No study is simulated twice in full. The first entry that reproduces a study in full leaves a copy of its runs, and a
later one starts from the copy, as a reproduction that was stopped continues from its own runs.
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
from numasim.files.owned_folder import owned_folder
from numasim.reproduce.load import study_names
from numasim.reproduce.reproduce import STUDIES

sys.path.insert(0, str(Path(__file__).parent))

from command_list import ROOT, Entry, entries  # isort: skip

PAGE = Path(__file__).with_suffix(".md")
PRODUCTS = ("numasim/engine/native/_engine*.so", "numasim/runtime/numasim-runtime", "numasim/runtime/libnumasim*.a")
RECORDER = ("numasim/runtime/record/tool/numasim-recorder.so", "numasim/runtime/record/numasim-openmp-probe")
FULL = re.compile(r"numasim reproduce (\w+) -o (\S+)\n")


@dataclass
class Folder:
    """What is kept of a commit: results by entry, outputs, and a folder for each source."""

    path: Path
    every: Sequence[Entry]
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Read what was kept."""
        self.path.mkdir(parents=True, exist_ok=True)
        if self.file.is_file():
            self.results = json.loads(self.file.read_text())

    @property
    def file(self) -> Path:
        """The file of all results."""
        return self.path / "results.json"

    def keep(self, entry: Entry, **result: Any) -> None:
        """Keep the result of an entry, at once."""
        with self.lock:
            self.results[key_of(entry)] = {"commit": self.path.name, **result}
            part = self.file.with_suffix(".part")
            part.write_text(json.dumps(self.results, indent=1))
            part.replace(self.file)
            self.write_page()

    def take_over(self, earlier: Folder, every: Iterable[Entry]) -> None:
        """Take the studies of an earlier commit, and the results of entries that worked there and have none here."""
        if (kept := earlier.path / "studies").is_dir() and not (self.path / "studies").exists():
            shutil.copytree(kept, self.path / "studies")
        for entry in every:
            if entry.runs and earlier.is_done(entry) and not self.is_done(entry):
                self.results[key_of(entry)] = {"commit": earlier.path.name, **earlier.results[key_of(entry)]}

    def write_page(self) -> None:
        """Write the page of what has run so far."""
        PAGE.write_text(page(self.every, self))

    def result(self, entry: Entry) -> dict[str, Any] | None:
        """The result of an entry, None if it has not run."""
        return self.results.get(key_of(entry))

    def is_done(self, entry: Entry) -> bool:
        """Whether the entry has worked."""
        found = self.result(entry)
        return found is not None and found["status"] in entry.statuses


def key_of(entry: Entry) -> str:
    """What names an entry among the results: not the line, which any change of a page moves."""
    digest = hashlib.blake2b(f"{entry.source} {entry.text}".encode(), digest_size=8).hexdigest()
    return f"{entry.source} {digest}"


def git(*arguments: str) -> str:
    """What git prints in the folder of the sources."""
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


def commit() -> str:
    """The commit in ten digits, with a digest of what is not committed, if anything is."""
    changes = git("diff", "HEAD", "--", ".", f":!{PAGE.relative_to(ROOT)}")
    changed = f"-{hashlib.blake2b(changes.encode(), digest_size=4).hexdigest()}" if changes else ""
    return git("rev-parse", "HEAD")[:10] + changed


# ---- running ---------------------------------------------------------------------------------------------------------


def environment(path: Path) -> dict[str, str]:
    """The environment of all entries: `numasim` is that of this interpreter, and a browser shows nothing."""
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
    """The commit with what was compiled, and this environment as its own."""
    copy = path / "sources"
    if not copy.is_dir():
        subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(copy)], check=True)
        for pattern in (*PRODUCTS, *RECORDER):
            for product in ROOT.glob(pattern):
                shutil.copy2(product, copy / product.relative_to(ROOT))
        (copy / ".venv").symlink_to(sys.prefix)
    return copy


def run_source(some: Sequence[Entry], folder: Folder) -> None:
    """Run the entries of a source in its folder, one after the other; a block of Python begins with those before it."""
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
    taken = _take_over(entry, here, folder.path)
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
        status = 2  # no bound is missed: the command ended before it compared anything
    folder.keep(entry, status=status, seconds=round(seconds, 1), at=at, output=output.name, taken=taken)
    worked = "ok  " if status in entry.statuses else "FAIL"
    print(f"{worked} {status:3} {seconds:8.1f} s  {entry.place}: {entry.title}", flush=True)
    if done.returncode == 0:
        _give(entry, here, folder.path)


def _studies_of(entry: Entry, here: Path) -> dict[str, Path]:
    """The studies that an entry reproduces in full, with their folders."""
    found = FULL.fullmatch(entry.text)
    if found and found[1] == "all":
        return {study: here / found[2] / study for study in study_names()}
    return {found[1]: here / found[2]} if found else {}


def _take_over(entry: Entry, here: Path, path: Path) -> list[str]:
    """Copy the runs of studies that another entry has reproduced in full. Returns these studies."""
    taken = []
    for study, results in _studies_of(entry, here).items():
        if (kept := path / "studies" / study).is_dir() and not results.exists():
            if entry.text.startswith("numasim reproduce all"):
                with owned_folder(results.parent, STUDIES):
                    pass  # the folder of all studies is the command's, as after a reproduction that was stopped
            shutil.copytree(kept, results)
            taken.append(study)
    return taken


def _give(entry: Entry, here: Path, path: Path) -> None:
    for study, results in _studies_of(entry, here).items():
        if not (kept := path / "studies" / study).exists():
            shutil.copytree(results, kept)


# ---- the page --------------------------------------------------------------------------------------------------------


def page(every: Sequence[Entry], folder: Folder) -> str:
    """The page of results."""
    ran = [(entry, found) for entry in every if entry.runs and (found := folder.result(entry))]
    failed = [entry for entry, found in ran if found["status"] not in entry.statuses]
    missing = [entry for entry in every if entry.runs and folder.result(entry) is None]
    days = sorted({found["at"] for _, found in ran}) or ["never"]
    total = sum(found["seconds"] for _, found in ran)
    commits = list(dict.fromkeys(found["commit"] for _, found in ran)) or [folder.path.name]
    lines = [
        "# Every command",
        "",
        f"Written by `python verification/every_command.py` on {_commits(commits)}, from {days[0]} to {days[-1]}",
        f"(local time), on {os.cpu_count()} processors. Of {len(ran) + len(missing)} commands and blocks of code"
        f" {len(ran)} were run,",
        f"each in full, in {total / 60:.0f} minutes, summed over them. {len(failed)} failed.",
        "",
        f"| source | command | status | seconds |{' commit |' * (len(commits) > 1)}",
        f"|---|---|---|---|{'---|' * (len(commits) > 1)}",
        *(_row(entry, found) + f" `{found['commit']}` |" * (len(commits) > 1) for entry, found in ran),
    ]
    if missing:
        lines += ["", "## Not run yet", "", *(f"- {entry.place}: `{_cell(entry.title)}`" for entry in missing)]
    lines += ["", "## What cannot run here", ""]
    lines += [f"- {entry.place}: `{_cell(entry.title)}`: it needs {entry.need}" for entry in every if entry.need]
    return "\n".join([*lines, ""])


def _commits(names: Sequence[str]) -> str:
    return f"commit{'s' * (len(names) > 1)} {', '.join(f'`{name}`' for name in names)}"


def _row(entry: Entry, found: dict[str, Any]) -> str:
    status = str(found["status"])
    if found["status"] not in entry.statuses:
        status = f"**{status}**"
    elif found["status"]:
        status += ": a bound is missed, which is a result of the machine"
    if found["taken"]:
        status += f" (runs of {', '.join(found['taken'])} are those of another entry)"
    places = ", ".join((entry.place, *entry.also))
    return f"| {places} | `{_cell(entry.title)}` | {status} | {found['seconds']:.1f} |"


def _cell(title: str) -> str:
    """A title within a table."""
    short = title if len(title) <= 120 else f"{title[:117]}..."
    return short.replace("`", "'").replace("|", "\\|")


# ---- the command -----------------------------------------------------------------------------------------------------


def asked(every: Iterable[Entry], words: Sequence[str]) -> list[list[Entry]]:
    """The entries of each source, up to the last that has all words in its place or its text."""
    found = []
    for _, group in groupby(every, key=lambda entry: entry.source):
        some = list(group)
        last = [
            number for number, one in enumerate(some) if one.runs and all(w in f"{one.place} {one.text}" for w in words)
        ]
        if last:
            found.append(some[: last[-1] + 1])
    return found


def commits_in(folder: Path) -> list[str]:
    """The commits that have results."""
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only sources with an entry that has all of these words")
    parser.add_argument("--jobs", type=int, default=1, help="sources at a time")
    parser.add_argument("--after", metavar="COMMIT", help="do not run again what worked on that commit")
    parser.add_argument("--list", action="store_true", help="print the list and the estimate, and run nothing")
    options = parser.parse_args()
    every, name = entries(), commit()
    kept = ROOT / "build" / "every_command"
    if options.after and not (kept / options.after).is_dir():
        parser.error(f"--after {options.after}: nothing ran on that commit; there are {', '.join(commits_in(kept))}")
    folder = Folder(kept / name, every)
    if options.after:
        folder.take_over(Folder(kept / options.after, every), every)
    sources = asked(every, options.words)
    open_entries = [each for some in sources for each in some if each.runs and not folder.is_done(each)]
    if options.list:
        for entry in every:
            state = (
                f"needs {entry.need}"
                if entry.need
                else "a file"
                if entry.file
                else "done"
                if folder.is_done(entry)
                else ""
            )
            print(
                f"{entry.place}: {entry.title if entry.file is None else entry.file}{f'  [{state}]' if state else ''}"
            )
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
