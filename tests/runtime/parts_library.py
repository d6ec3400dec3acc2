"""The C reader of plan files behind ctypes: the reader's sources, compiled to a shared library.

To compile with sanitizers, start Python with the sanitizers' runtime:

    NUMASIM_TEST_SANITIZED=1 ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$(gcc -print-file-name=libasan.so)" \\
        python -m pytest tests/runtime/test_plan_file.py
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Mapping
from ctypes import POINTER, byref, c_int, c_int32, c_int64, c_uint32, c_void_p
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from compiling import compile_library, core_sources
from runtime_sources import HERE, sources

from numasim.plan.plan import Plan
from numasim.runtime.fields_file import plan_fields, write_fields

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))  # machines and graphs of the engine's tests are used here

PARTS = ("fields", "plan_file")


class Toucher(ctypes.Structure):
    _fields_ = [("node", c_int32), ("now_ps", c_int64)]


class SegmentTime(ctypes.Structure):
    _fields_ = [("total_ps", c_int64), ("local_ps", c_int64), ("owed_ps", c_int64)]


SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "ns_fields_read": (c_int, [POINTER(c_void_p), ctypes.c_char_p]),
    "ns_fields_destroy": (None, [c_void_p]),
    "ns_plan_file_start": (SegmentTime, [c_void_p, c_void_p, c_uint32, Toucher, c_int64]),
    "probe_pages": (c_void_p, [c_void_p]),
    "probe_pages_destroy": (None, [c_void_p]),
    "probe_faults": (c_int64, [c_void_p]),
    "probe_node_bytes": (POINTER(c_int64), [c_void_p]),
    "probe_read": (c_void_p, [c_void_p, POINTER(c_int)]),
    "probe_problem": (ctypes.c_char_p, [c_void_p]),
    "probe_destroy": (None, [c_void_p]),
}


@cache
def library() -> ctypes.CDLL:
    """Return the reader as a shared library. Skip the test if there is no compiler."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        pytest.skip("no C compiler: set CC, or install one as cc")
    parts = [path for part in PARTS for path in sources(f"{part}.c")]
    files = [*parts, *core_sources(), HERE / "virtual" / "core_probe.c"]
    loaded = ctypes.CDLL(str(compile_library(compiler, "libparts", files)))
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


class PlanFile:
    """A plan that C has read from a file. ``fields`` are the written fields, with ``changes`` applied."""

    def __init__(self, plan: Plan, changes: Mapping[str, Any] | None = None) -> None:
        self.fields = {**plan_fields(plan, seed=1), **(changes or {})}
        with TemporaryDirectory() as folder:
            path = Path(folder) / "plan"
            write_fields(self.fields, path)
            handle = c_void_p()
            assert library().ns_fields_read(byref(handle), str(path).encode()) == 0
        self.fields_handle, error = handle, c_int()
        self.handle = c_void_p(library().probe_read(handle, byref(error)))
        self.error = error.value

    @property
    def problem(self) -> str:
        """Return the sentence of the error."""
        return str(library().probe_problem(self.handle).decode())

    def close(self) -> None:
        """Free the memory of C."""
        library().probe_destroy(self.handle)
        library().ns_fields_destroy(self.fields_handle)
