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

RUNTIME = Path(__file__).resolve().parents[2] / "numasim" / "runtime"
EVERYWHERE = "node:8 l3:1 core:1 pu:1"


def topology(program: Path, **environment: str) -> Any:
    answer = subprocess.run(
        [program, "topology"], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return json.loads(answer.stdout)


@pytest.fixture(scope="module")
def with_hwloc(tmp_path_factory: pytest.TempPathFactory, c_compiler: str) -> Path:
    """The program, built with hwloc."""
    tool = shutil.which("pkg-config")
    if tool is None or subprocess.run([tool, "--exists", "hwloc >= 2.1"], check=False).returncode:
        pytest.skip("no hwloc 2 here (Debian: libhwloc-dev): the build with it cannot be tested")
    build = tmp_path_factory.mktemp("hwloc")
    environment = {**os.environ, "CC": c_compiler, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for arguments in (
        ["-G", "Ninja", "-S", str(RUNTIME), "-B", str(build), "-DNUMASIM_TOPOLOGY=hwloc", "-DNUMASIM_WERROR=ON"],
        ["--build", str(build), "--target", "numasim-runtime", "--", "--quiet"],
    ):
        subprocess.run(["cmake", *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)
    return build / "numasim-runtime"


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
