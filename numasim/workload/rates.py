"""Compute rates of the BOTS kernels, as calibrated from the serial times of the thesis (Table 3.4).

``experiments/thesis/kernel_rates.yaml`` holds them; ``experiments/thesis/calibrate_serial.py`` writes it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError

RATES_FILE = Path("experiments", "thesis", "kernel_rates.yaml")


@cache
def kernel_rates() -> dict[str, int]:
    """Picoseconds per 1000 units of work (flops or comparisons) of every calibrated kernel, by ``program.kernel``."""
    from ruamel.yaml import YAML

    document: dict[str, Any] = YAML(typ="safe", pure=True).load(rates_path())
    return {name: int(entry["ps_per_1000"]) for name, entry in document["kernels"].items()}


def rates_path() -> Path:
    """Where the calibrated rates are: inside an installed package, or beside the package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for root in (package, package.parent):
        if (root / RATES_FILE).is_file():
            return root / RATES_FILE
    raise InputError(f"the calibrated rates {RATES_FILE} are missing", expected="a complete installation of numasim")


def compute_ps(units: npt.NDArray[Any] | int, ps_per_1000: int) -> Any:
    """Integer picoseconds of ``units`` of work, rounded to the nearest."""
    return (np.asarray(units, np.int64) * ps_per_1000 + 500) // 1000
