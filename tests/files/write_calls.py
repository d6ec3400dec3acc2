"""Finds what writes, makes and removes files in the sources: calls in Python, names of functions in C and C++."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

METHODS = {  # of paths, figures, tables and arrays, by whatever name they are called on
    "write_text",
    "write_bytes",
    "savefig",
    "imsave",
    "to_csv",
    "to_json",
    "to_parquet",
    "to_pickle",
    "to_excel",
    "to_hdf",
    "to_feather",
    "write_table",
    "tofile",
    "savetxt",
    "savez",
    "hardlink_to",
    "symlink_to",
    "truncate",
    "mkdir",
    "makedirs",
    "unlink",
    "rmdir",
    "removedirs",
    "rmtree",
    "chmod",
    "rename",
    "renames",
}
OF_MODULES = {  # (module, function), whose names mean other things elsewhere
    ("os", "replace"),
    ("os", "link"),
    ("os", "remove"),
    ("os", "symlink"),
    ("os", "mkfifo"),
    ("os", "mknod"),
    ("np", "save"),
    ("pickle", "dump"),
    ("json", "dump"),
    ("tempfile", "NamedTemporaryFile"),
    ("tempfile", "mkstemp"),
    *(("shutil", name) for name in ("copy", "copy2", "copyfile", "copytree", "move")),
}
OPENERS = {"open", "fdopen", "FileIO", "GzipFile", "BZ2File", "LZMAFile", "ZipFile"}
FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC"}
MODE = re.compile(r"[rwax]b?t?\+?b?t?")
C_CALLS = re.compile(
    r"\b(?:creat|mkdir|unlink|remove|rmdir|mkstemp\w*|mkostemp\w*|tmpfile|freopen|rename\w*|link|symlink|std::ofstream|std::fstream)\s*\("
    r"|\b(?:fopen|fdopen)\s*\([^;]*?,\s*\"[^\"]*[wa+][^\"]*\"\s*\)"
    r"|\bopen\w*\s*\([^;]*?\bO_(?:WRONLY|RDWR|CREAT|APPEND|TRUNC)\b",
    re.DOTALL,
)
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def python_writes(source: str) -> Iterator[str]:
    """The calls in a Python source that write, make or remove files and folders."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _writes(node):
            yield f"{node.lineno}: {ast.unparse(node)}"


def c_writes(source: str) -> list[str]:
    """The calls in a C or C++ source that open a file to write to it, or make, rename or remove one."""
    plain = C_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), source)
    return [f"{plain.count(chr(10), 0, found.start()) + 1}: {found[0]}" for found in C_CALLS.finditer(plain)]


def _writes(call: ast.Call) -> bool:
    name, owner = _name(call.func)
    if name in OPENERS:
        return _opens_to_write(call)
    if (owner, name) in OF_MODULES:
        return True
    if name == "replace" and owner is not None:  # of paths; that of texts takes two arguments
        return len(call.args) == 1 and not call.keywords
    return name in METHODS and owner is not None


def _name(function: ast.expr) -> tuple[str | None, str | None]:
    """The name of what is called, and of what it is called on: None for a plain function."""
    if isinstance(function, ast.Name):
        return function.id, None
    if isinstance(function, ast.Attribute):
        owner = function.value
        return function.attr, owner.id if isinstance(owner, ast.Name) else ""
    return None, None


def _opens_to_write(call: ast.Call) -> bool:
    """By the mode, or flags, among the arguments; of the plain function, a mode that is computed may be any."""
    if isinstance(call.func, ast.Name) and len(call.args) > 1 and not isinstance(call.args[1], ast.Constant):
        return True
    words = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    flags = {node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute)} & FLAGS
    modes = [word for word in words if MODE.fullmatch(word)]
    return bool(flags) or any(set(mode) & set("wax+") for mode in modes)
