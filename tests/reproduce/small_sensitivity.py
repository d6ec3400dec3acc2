"""What the small study leaves open, and what was fitted in it."""

from __future__ import annotations

from pathlib import Path

SENSITIVITY = """\
tables: ["1.1"]
fitted:
  - {name: polling, parameters: poll interval, low: 0.5, high: 2, source: a guess}
changes:
  - {name: leaf, kind: vendor, low: {workload.leaf_ns: 700}, high: {workload.leaf_ns: 2000}, source: a data sheet}
  - name: domains of small trees
    kind: reading
    rows: small
    variants: domains
    low: {strategy: randomized}
    labels: {low: none}
    source: the paper does not say
  - {name: size of matrices, kind: reading, programs: grid, high: {workload.n: 32}, source: the paper does not say}
"""
CALIBRATED = """\
parameters:
  - {name: poll interval, set: runtime.poll_ns, programs: [trees], value: 400, unit: ns}
"""


def write_sensitivity(folder: Path, old: str = "", new: str = "") -> Path:
    """Write both files to the folder of a study; ``new`` takes the place of ``old``."""
    assert old in SENSITIVITY
    (folder / "sensitivity.yaml").write_text(SENSITIVITY.replace(old, new, 1) if old else SENSITIVITY)
    (folder / "calibrated.yaml").write_text(CALIBRATED)
    return folder
