"""Comments, docstrings and pages name only files that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("numasim", "lib", "tests", "verification", "experiments", "notebooks", "docs", "configs")
WRITTEN_IN = (".py", ".c", ".h", ".cpp", ".hpp", ".md", ".txt", ".toml", ".sh")
FOLDERS = ("engine", "plan", "runtime", "strategy", "workload", "machine", "report", "spec", "schema")
NAMED = re.compile(
    rf"(?<![\w./<-])((?:{'|'.join((*PARTS, *FOLDERS))})/[A-Za-z0-9_./-]*\.(?:py|c|h|hpp|cpp|sh|md))(?![\w.])"
)


def sources() -> list[Path]:
    """Return the texts of the repository, without files of builds and tests."""
    found = [path for part in PARTS for path in (ROOT / part).rglob("*") if path.suffix in WRITTEN_IN]
    return [*found, *ROOT.glob("*.md")]


def named_files(text: str) -> list[str]:
    """Return the paths that a text names, without includes of the compiler and placeholders such as NAME.py."""
    lines = [line for line in text.splitlines() if "#include" not in line]
    return [name for name in NAMED.findall("\n".join(lines)) if "NAME" not in name]


def test_every_named_file_exists() -> None:
    paths = [path.relative_to(ROOT).as_posix() for path in sources()]
    known = {"/" + path for path in paths}
    ends = {path[at:] for path in known for at in range(len(path)) if path[at] == "/"}
    missing = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in sources()
        if path != Path(__file__)
        for name in named_files(path.read_text())
        if "/" + name not in ends
    }
    assert missing == set()
