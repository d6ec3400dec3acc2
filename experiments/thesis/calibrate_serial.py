"""Calibrate the compute rates of the BOTS kernels from the serial column of the thesis' Table 3.4, and nothing else.

    python experiments/thesis/calibrate_serial.py          writes kernel_rates.yaml beside this file

The serial time of a program is the sum over its segments of max(compute, memory): one worker, every byte local at
77.3 ns (Table 4.1), no overhead. Segments of one sort are alike, so a program is a short list of parts. Each program
gets one rate, the least squares of the relative errors over its sizes. Kernels that the column cannot tell apart are
tied:

- strassen: the additions wait for memory at every size, so that their rate does not show; they share the rate of the
  products. Two free rates would turn the 1 % of timing noise between three sizes into products faster than the
  processor's peak.
- sort: one published value; quicksort and merge share a time per comparison.
- sparselu: one published value per version, of the same arithmetic; lu0, fwd, bdiv and bmod share a time per operation.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).resolve().parent
TABLE = HERE / "published" / "thesis_table_3_4_execution_times_randomized_vs_threshold.csv"
RATES = HERE / "kernel_rates.yaml"
LOCAL_LATENCY_PS = 77_300  # thesis Table 4.1, node 0 to itself
LINE_BYTES = 64
SEQUENTIAL_MLP = 10  # lines under way at once


@dataclass(frozen=True)
class Part:
    """``count`` like segments of ``units`` units of work that wait ``wait_ps`` for memory."""

    count: int
    units: int
    wait_ps: int


@dataclass(frozen=True)
class Program:
    """What one rate is fitted to: kernels that share it, and the parts of every published size."""

    name: str
    unit: str
    kernels: dict[str, str]  # kernel -> what identifies it
    parts: dict[str, list[Part]]  # row of the table -> parts


def wait_ps(*traffic_bytes: int) -> int:
    """Memory time of accesses that move these many bytes each, all local and sequential."""
    lines = [-(-moved // LINE_BYTES) for moved in traffic_bytes]
    return sum(-(-count * LOCAL_LATENCY_PS // SEQUENTIAL_MLP) for count in lines)


def strassen_parts(n: int, cutoff: int = 64) -> list[Part]:
    """Leaves read A and B and write C; a split of size n streams 48 n^2 bytes before and 22 n^2 after its products."""
    parts, tasks = [], 1
    while n > cutoff:
        area = (n // 2) ** 2
        before = wait_ps(32 * area, 32 * area, 2 * 64 * area)
        after = wait_ps(24 * area, 2 * 32 * area)
        parts += [Part(tasks, 8 * area, before), Part(tasks, 7 * area, after)]
        n, tasks = n // 2, tasks * 7
    matrix = 8 * n * n
    return [*parts, Part(tasks, 2 * n**3, wait_ps(matrix, matrix, 2 * matrix))]


def sort_parts(n: int, leaf: int = 512) -> list[Part]:
    """Leaves of 512 elements cost 9 comparisons an element; then 16 merging passes of one comparison an element."""
    passes = (n // leaf).bit_length() - 1
    quicksort = Part(n // leaf, leaf * 9, wait_ps(2 * 8 * leaf))
    merge = Part(passes * n // leaf, leaf, wait_ps(8 * leaf, 2 * 8 * leaf))
    return [quicksort, merge]


def sparselu_parts(blocks: int = 128, size: int = 64) -> list[Part]:
    """Counts for an even number of blocks; every kernel reads its operands and updates one block of floats."""
    half, block = blocks // 2, 4 * size**2
    divide, update = size * (size - 1) // 2, size * (size - 1) * (2 * size - 1) // 3
    panels = half**2
    inner = panels + half * (half - 1) * (2 * half - 1) // 3
    return [
        Part(blocks, divide + update, wait_ps(2 * block)),
        Part(panels, size**2 * (size - 1), wait_ps(block, 2 * block)),
        Part(panels, size**3, wait_ps(block, 2 * block)),
        Part(inner, 2 * size**3, wait_ps(block, block, 2 * block)),
    ]


def programs() -> list[Program]:
    """The three programs with published serial times."""
    tied = "tied to {}"
    lu = dict.fromkeys(("lu0", "fwd", "bdiv"), tied.format("bmod")) | {"bmod": "fitted"}
    return [
        Program(
            "strassen",
            "flops",
            {"multiply": "fitted", "add": tied.format("multiply")},
            {f"Strassen-{n}": strassen_parts(n) for n in (2048, 4096, 8192)},
        ),
        Program(
            "sort",
            "comparisons",
            {"quicksort": "fitted", "merge": tied.format("quicksort")},
            {"Sort-33554432": sort_parts(33554432)},
        ),
        Program("sparselu", "flops", lu, {f"SparseLU-{version}": sparselu_parts() for version in ("single", "for")}),
    ]


def published_serial_ps(table: Path = TABLE) -> dict[str, int]:
    """The serial column: benchmark -> picoseconds."""
    with table.open(newline="") as lines:
        return {
            row["benchmark"]: int(Fraction(row["serial_execution_time_s"]) * 10**12) for row in csv.DictReader(lines)
        }


def serial_ps(parts: list[Part], ps_per_1000: int) -> int:
    """Serial time of a program at a rate."""
    return sum(part.count * max((part.units * ps_per_1000 + 500) // 1000, part.wait_ps) for part in parts)


def fit(parts: list[list[Part]], published_ps: list[int]) -> int:
    """The rate, in ps per 1000 units, that minimises the sum of squared relative errors.

    The time is fixed + slope x rate as long as the same parts compute for longer than they wait; start with all of them
    computing and drop those that turn out to wait until none changes.
    """
    rate = Fraction(10**12)
    while True:
        lines = [(_fixed_ps(p, rate), _slope(p, rate)) for p in parts]
        terms = [(Fraction(s, t), 1 - Fraction(f, t)) for (f, s), t in zip(lines, published_ps, strict=True)]
        better = Fraction(1000 * sum(s * rest for s, rest in terms), sum(s * s for s, _ in terms))
        if better >= rate or _slopes(parts, better) == _slopes(parts, rate):
            return round(better)
        rate = better


def _computes(part: Part, rate: Fraction) -> bool:
    return part.units * rate / 1000 > part.wait_ps


def _fixed_ps(parts: list[Part], rate: Fraction) -> int:
    return sum(part.count * part.wait_ps for part in parts if not _computes(part, rate))


def _slope(parts: list[Part], rate: Fraction) -> int:
    return sum(part.count * part.units for part in parts if _computes(part, rate))


def _slopes(parts: list[list[Part]], rate: Fraction) -> list[int]:
    return [_slope(p, rate) for p in parts]


def calibrate(
    serial_column_ps: Callable[[], dict[str, int]] = published_serial_ps,
) -> dict[str, dict[str, dict[str, object]]]:
    """The content of kernel_rates.yaml: rates by kernel, residuals by row of the table."""
    published = serial_column_ps()
    kernels: dict[str, dict[str, object]] = {}
    residuals: dict[str, dict[str, object]] = {}
    for program in programs():
        times = [published[row] for row in program.parts]
        rate = fit(list(program.parts.values()), times)
        data = ", ".join(program.parts)
        for kernel, basis in program.kernels.items():
            kernels[f"{program.name}.{kernel}"] = {
                "ps_per_1000": rate, "unit": program.unit, "basis": basis, "data": data,
            }  # fmt: skip
        for (row, parts), time in zip(program.parts.items(), times, strict=True):
            model = serial_ps(parts, rate)
            error = round(Fraction(model - time, time) * 10**6)
            residuals[row] = {"published_ps": time, "model_ps": model, "error_ppm": error}
    return {"kernels": kernels, "residuals": residuals}


def as_yaml(result: dict[str, dict[str, dict[str, object]]]) -> str:
    """The result as YAML text."""
    lines = [
        "# Written by calibrate_serial.py from the serial column of the thesis' Table 3.4; do not edit.",
        "# ps_per_1000: picoseconds per 1000 units of work. error_ppm: (model - published) / published.",
    ]
    for section, entries in result.items():
        lines.append(f"{section}:")
        for name, entry in entries.items():
            fields = ", ".join(f"{key}: {_scalar(value)}" for key, value in entry.items())
            lines.append(f"  {name}: {{{fields}}}")
    return "\n".join(lines) + "\n"


def _scalar(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


if __name__ == "__main__":
    RATES.write_text(as_yaml(calibrate()), encoding="utf-8")
