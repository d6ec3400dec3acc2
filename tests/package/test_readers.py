"""Files that a user names are read by `numasim.files` alone; what reads past it is listed here, with its reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "numasim"
READS = {"read_text", "read_bytes", "read_table", "ParquetFile", "loadtxt", "genfromtxt", "fromfile", "memmap"}
OPENS = {"open", "fdopen", "GzipFile"}
MODULES = {
    "json.load",
    "pickle.load",
    "np.load",
    "numpy.load",
    "ElementTree.parse",
    "expat.ParserCreate",
    "tomllib.load",
}
OTHERS = {
    ("cli/plotting.py", "open"): "a browser, not a file",
    ("runtime/record/recorded_data.py", "read_bytes"): "the program that is recorded, which is run as well",
    (
        "runtime/record/event_files.py",
        "read_text",
    ): "a list of the recorder, in the folder of the recording",
    ("runtime/record/openmp_library.py", "read_bytes"): "the OpenMP runtime, which is loaded as well",
    ("schema/generate_c.py", "read_text"): "its own output, when the package is built",
    ("validate/run_store.py", "read_bytes"): "the compiled program, for its digest",
    ("sweep/store/frame.py", "ParquetFile"): "Parquet, after the reader has found a regular file",
    ("sweep/store/shard.py", "ParquetFile"): "Parquet whose bytes have the hash in its name",
}


def called(node: ast.Call) -> str:
    """The name of what is called, with that of the module or object before it."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return f"{ast.unparse(function.value)}.{function.attr}"
    return function.id if isinstance(function, ast.Name) else ""


def writes(node: ast.Call) -> bool:
    """Whether a call opens something to write, as a mode among its arguments says."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return any(isinstance(each, ast.Constant) and each.value in {"w", "wb", "x", "xb"} for each in given)


def reads(source: str) -> Iterator[str]:
    """The names of calls that may read a file."""
    ours = {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numasim.files")
        for alias in node.names
    }
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or (name := called(node)) in ours:
            continue
        last = name.rpartition(".")[2]
        if last in READS or name in MODULES or (last in OPENS and not writes(node)):
            yield last


def test_nothing_reads_a_users_file_past_the_reader() -> None:
    found = {
        (module.relative_to(PACKAGE).as_posix(), name)
        for module in PACKAGE.rglob("*.py")
        if module.parent.name != "files"
        for name in reads(module.read_text())
    }
    assert found == set(OTHERS)
