"""Only `numasim.files` and the writer in C read and write files; every call that bypasses both is listed here.

Comments, docstrings and pages name only files that exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
C_WRITER = "lib/runtime/source/record/output_file.c"
METHODS = (  # methods of paths, figures, tables and arrays
    *("read_text", "read_bytes", "read_table", "ParquetFile", "loadtxt", "fromfile", "memmap"),
    *("write_text", "write_bytes", "savefig", "to_csv", "to_json", "to_parquet", "write_table", "tofile", "savetxt"),
    *("mkdir", "makedirs", "unlink", "rmdir", "rmtree", "chmod", "rename", "symlink_to", "hardlink_to", "truncate"),
)
FUNCTIONS = (
    r"os\.(?:replace|link|remove|symlink)|np\.(?:load|save\w*)|(?:json|pickle)\.(?:load|dump)"
    r"|tempfile\.(?:Named|mkstemp)|shutil\.(?:copy\w*|move)|ElementTree\.parse"
)
PYTHON = re.compile(rf"\.(?:{'|'.join(METHODS)})\(|\b(?:{FUNCTIONS})\(|(?<![.\w])open\(|\.open\(")
C = re.compile(
    r"\b(?:creat|mkdir|unlink|remove|rmdir|mkstemp\w*|tmpfile|freopen|rename\w*|link|symlink|std::o?fstream)\s*\("
    r"|\bf(?:d?)open\s*\([^;]*?,\s*\"[^\"]*[wa+][^\"]*\"\s*\)|\bopen\w*\s*\([^;]*?\bO_(?:WRONLY|RDWR|CREAT)\b"
)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
ELSEWHERE = {  # calls that bypass both, with the reason
    "numasim/cli/runs.py: open": "a browser, not a file",
    "numasim/report/figures/plots.py: savefig": "into memory",
    "numasim/report/notebooks/result_html.py: savefig": "into memory",
    "numasim/runtime/record/event_files.py: read_text": "a list in the temporary folder of the recording",
    "numasim/runtime/record/program_runs.py: read_bytes": "the OpenMP runtime, which is loaded as well",
    "numasim/runtime/record/recorded_data.py: read_bytes": "the recorded program, which is run as well",
    "numasim/schema/generate_c.py: read_text": "the generated sources, when the package is built",
    "numasim/sweep/store/results_tables.py: ParquetFile": "Parquet, after the reader has found a regular file",
    "numasim/sweep/store/parquet.py: write_table": "into memory, or a file of the writer",
    "numasim/sweep/store/shards.py: ParquetFile": "Parquet whose bytes have the hash in its name",
    "numasim/validate/cell_runs.py: unlink": "a file of a temporary folder",
    "numasim/validate/run_store.py: read_bytes": "the compiled program, for its digest",
    "lib/recorder/event_log.c: open": "a file of a temporary folder",
    "lib/runtime/driver/main.c: open": "/dev/null",
}


def calls(path: Path) -> Iterator[str]:
    """Yield the calls in a source that read, write, make or remove files, without functions of `numasim.files`."""
    text = path.read_text()
    if path.suffix == ".py":
        yield from (found.strip(".(") for found in PYTHON.findall(text))
    else:
        yield from (found.split("(")[0].strip() for found in C.findall(COMMENT.sub("", text)))


def test_files_are_read_and_written_in_one_place() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {call}"
        for folder, suffixes in (("numasim", {".py"}), ("lib", {".c", ".h", ".cpp", ".hpp"}))
        for path in (ROOT / folder).rglob("*")
        if path.suffix in suffixes and path.parent != ROOT / "numasim" / "files" and path != ROOT / C_WRITER
        for call in calls(path)
    }
    assert found == set(ELSEWHERE)


# ---- named files -----------------------------------------------------------------------------------------------------

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
