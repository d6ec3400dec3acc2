"""The controllers that are shipped, by the names that ``tune: {what: NAME}`` has for them.

Each entry makes a `Controller` from the fields of ``tune``. A new one is a module of this package, its entry here, and
its word and fields in `numasim.parts.models.tune_model`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from numasim.parts.models.tune_model import TuneSpec
from numasim.strategy.control.controller import Controller
from numasim.strategy.control.fastest import fastest
from numasim.strategy.control.tune_packing import packing_tuner

BUILT_IN: Mapping[str, Callable[[TuneSpec], Controller]] = {"fastest": fastest, "packing": packing_tuner}
