"""The site is built without a warning and without a network, its links have targets, and its code runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from code_blocks import COMMANDS, CONTINUED, CodeBlock, code_blocks
from shared_builds import built_once

from numasim.cli import entrance, main
from numasim.engine.result import COLUMNS
from numasim.parts.models.search_model import DispatchSpec, LevelSpec
from numasim.parts.models.strategy_model import QueueSpec, StrategySpec
from numasim.parts.models.strategy_terms import ChanceSpec

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_extensions" not in path.parts)
BLOCKS = {path.relative_to(DOCS).as_posix(): code_blocks(path.read_text()) for path in PAGES}
RUNNING = [name for name, blocks in BLOCKS.items() if any(block.language == "sh" for block in blocks)]
READ = [name for name, blocks in BLOCKS.items() if any(block.language == "python" for block in blocks)]

GRAMMAR = (StrategySpec, QueueSpec, LevelSpec, DispatchSpec, ChanceSpec)

OFFLINE = """
import gc, runpy, sys

def refuse(event, arguments):
    address = arguments[1] if event == "socket.connect" else arguments[:1] if event == "socket.getaddrinfo" else ()
    if isinstance(address, tuple) and address and address[0] not in ("127.0.0.1", "localhost", "::1", None):
        raise PermissionError(f"the build asks the network for {address}")

sys.addaudithook(refuse)
gc.set_threshold(100_000)  # a quarter of the time of the build goes to garbage collection otherwise
runpy.run_module("sphinx", run_name="__main__")
"""


class Links(HTMLParser):
    """The anchors of one page, the targets of its links, and the addresses of the files that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value}
        self.places |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif "src" in found or (tag == "link" and "href" in found):
            self.loads.append(found.get("src") or found["href"])


def build(folder: Path) -> None:
    folder.mkdir()
    options = ["-W", "--keep-going", "-n", "-q", "-d", str(folder / "read")]
    command = [sys.executable, "-c", OFFLINE, *options, str(DOCS), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def site() -> dict[str, Links]:
    """Return the pages of the built site by their paths."""
    html = built_once("site", build) / "html"
    return {
        path.relative_to(html).as_posix(): Links(path.read_text())
        for path in html.rglob("*.html")
        if "_static" not in path.parts
    }


def test_every_page_of_the_folder_is_on_the_site(site: dict[str, Links]) -> None:
    assert {path.relative_to(DOCS).with_suffix(".html").as_posix() for path in PAGES} <= set(site)


def test_every_link_inside_the_site_leads_somewhere(site: dict[str, Links]) -> None:
    html = built_once("site", build) / "html"
    lost = set()
    for name, page in site.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(name), unquote(parts.path))) if parts.path else name
            known = site[target].places if target in site else None
            if not (html / target).exists() or (
                parts.fragment and known is not None and unquote(parts.fragment) not in known
            ):
                lost.add((name, link))
    assert lost == set()


def test_readers_need_no_network(site: dict[str, Links]) -> None:
    assert {(name, load) for name, page in site.items() for load in page.loads if urlsplit(load).netloc} == set()


def test_whatever_pages_load_is_on_the_site(site: dict[str, Links]) -> None:
    html = built_once("site", build) / "html"
    loads = {(name, urlsplit(load).path) for name, page in site.items() for load in page.loads}
    assert {(name, load) for name, load in loads if load and not (html / name).parent.joinpath(load).exists()} == set()


def test_the_reference_has_every_command_column_and_field() -> None:
    html = built_once("site", build) / "html" / "reference"
    shown = {
        page: re.sub(r"<[^>]+>", "", (html / f"{page}.html").read_text())
        for page in ("columns", "commands", "strategy")
    }
    assert [name for name in COLUMNS if name not in shown["columns"]] == []
    assert [name for name in entrance.COMMANDS if f"numasim {name}" not in shown["commands"]] == []
    fields = (info.alias or name for model in GRAMMAR for name, info in model.model_fields.items())
    assert [field for field in fields if field not in shown["strategy"]] == []


# ---- code blocks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BLOCKS)
def test_every_block_is_a_file_or_run_or_has_a_reason(name: str) -> None:
    assert [block.problem for block in BLOCKS[name] if block.problem] == []


def run_commands(block: CodeBlock) -> None:
    """Run the lines of a block of numasim commands in this process, sweeps with one job."""
    for line in block.text.replace(CONTINUED, " ").splitlines():
        words = shlex.split(line)[1:]
        one = ["--jobs", "1"] if words[0] == "sweep" else []
        assert main([*words, *one]) == 0, f"line {block.line}: {line}"


def run_shell(block: CodeBlock, folder: Path) -> None:
    programs = folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    command = programs / "numasim"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m numasim "$@"\n')
    command.chmod(0o755)
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text],
        cwd=folder,
        env={**os.environ, "PATH": path, "MPLBACKEND": "agg", "COLUMNS": "120"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"line {block.line}:\n{block.text}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("name", sorted({*RUNNING, *READ}))
def test_the_blocks_of_a_page_run_one_after_the_other(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCKS[name]:
        if block.file:
            (folder / block.file).write_text(block.text)
        elif block.not_run:
            continue
        elif block.language == "sh" and COMMANDS.fullmatch(block.text.replace(CONTINUED, " ")):
            run_commands(block)
        elif block.language == "sh":
            run_shell(block, folder)
        elif block.language == "python":
            exec(compile("\n" * block.line + block.text, name, "exec"), names)


def test_every_kept_picture_is_on_a_page_and_has_its_lines() -> None:
    pictures = DOCS / "pictures"
    shown = {
        Path(found).name for path in PAGES for found in re.findall(r"\]\(([^)]*pictures/[^)]+)\)", path.read_text())
    }
    kept = {path.name for path in pictures.iterdir() if path.suffix in {".svg", ".png"}}
    assert kept <= shown
    scripts = "\n".join(path.read_text() for path in pictures.glob("draw*.py"))
    drawn = set(re.findall(r"^def (\w+)\(\) -> Figure:", scripts, re.MULTILINE))
    assert {Path(name).stem for name in kept if name.endswith(".svg")} == drawn
