"""Built with hwloc, the runtime sees the same machine as it does by itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from compiling import RUNTIME

EVERYWHERE = "node:8 l3:1 core:1 pu:1"


def topology(program: Path, **environment: str) -> Any:
    answer = subprocess.run(
        [program, "topology"], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return json.loads(answer.stdout)


@pytest.fixture(scope="module")
def with_hwloc(prefix: Path) -> Path:
    """The installed program, which is built with hwloc where that is found."""
    tool = shutil.which("pkg-config")
    if tool is None or subprocess.run([tool, "--exists", "hwloc >= 2.1"], check=False).returncode:
        pytest.skip("no hwloc 2 here (Debian: libhwloc-dev): the build with it cannot be tested")
    return next(prefix.rglob("numasim-runtime"))


@pytest.mark.parametrize(("asked", "built"), [("hwloc", True), ("sysfs", False)])
def test_it_is_built_in_where_it_is_asked_for(with_hwloc: Path, tmp_path: Path, asked: str, built: bool) -> None:
    tools = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = ["cmake", "-G", "Ninja", "-S", str(RUNTIME), "-B", str(tmp_path), f"-DNUMASIM_TOPOLOGY={asked}"]
    subprocess.run(command, check=True, env=tools, stdout=subprocess.DEVNULL)
    assert ("-DNUMASIM_HWLOC" in (tmp_path / "build.ninja").read_text()) == built


def test_it_sees_what_sysfs_shows(with_hwloc: Path, program: Path) -> None:
    seen, shown = topology(with_hwloc), topology(program)
    assert seen.pop("source") == "hwloc"
    assert shown.pop("source") == "sysfs"
    assert seen == shown


def test_it_sees_a_made_up_machine_as_far_as_it_may_use_it(with_hwloc: Path) -> None:
    usable = [cpu for cpu in sorted(os.sched_getaffinity(0)) if cpu < 8]
    seen = topology(with_hwloc, HWLOC_SYNTHETIC=EVERYWHERE, HWLOC_THISSYSTEM="1")
    assert [(cpu["id"], cpu["node"]) for cpu in seen["cpus"]] == [(cpu, cpu) for cpu in usable]
    assert [node["cpus"] for node in seen["nodes"]] == [int(node in usable) for node in range(8)]
    assert [len(row) for row in seen["distance"]] == [8] * 8
