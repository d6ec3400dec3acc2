"""Whatever numasim writes, makes and removes goes through its writer, in Python and in C."""

from __future__ import annotations

from pathlib import Path

from write_calls import c_writes, python_writes

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "numasim"
WRITER, C_WRITER = "numasim/files/", "lib/runtime/source/record/output_file.c"
IN_MEMORY = {  # files that draw or pack into memory
    "numasim/report/figures/embedded.py": "savefig",
    "numasim/report/figures/plots.py": "savefig",
    "numasim/report/notebooks/result_html.py": "savefig",
    "numasim/report/trace/perfetto.py": "GzipFile",
    "numasim/sweep/store/parquet.py": "write_table",
}
ELSEWHERE = {  # what is opened to write, and is no file of the user's
    "lib/recorder/event_log.c": "open(path, O_WRONLY",  # in a temporary folder
    "lib/runtime/driver/standard_streams.c": "/dev/null",
    "numasim/validate/cell_runs.py": "recording.graph.unlink",  # in a temporary folder
}


def found_in(suffixes: tuple[str, ...]) -> dict[str, list[str]]:
    found = {}
    for path in sorted(path for folder in (PACKAGE, ROOT / "lib", ROOT / "experiments") for path in folder.rglob("*")):
        if path.suffix in suffixes and "__pycache__" not in path.parts:
            text = path.read_text()
            calls = list(python_writes(text)) if path.suffix == ".py" else c_writes(text)
            name = path.relative_to(ROOT).as_posix()
            known = IN_MEMORY.get(name) or ELSEWHERE.get(name)
            found[name] = [call for call in calls if not (known and known in call)]
    return {name: calls for name, calls in found.items() if calls}


def test_python_writes_files_in_its_writer_alone() -> None:
    assert {name: calls for name, calls in found_in((".py",)).items() if not name.startswith(WRITER)} == {}


def test_c_writes_files_in_its_writer_alone() -> None:
    found = found_in((".c", ".h", ".cpp", ".hpp"))
    assert C_WRITER in found
    assert {name: calls for name, calls in found.items() if name != C_WRITER} == {}
