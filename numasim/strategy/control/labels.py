"""The labels of tasks: for which unit each is meant, by functions that are registered here (model 4.14).

A function of labels is given what is known of the program and how many units there are. It returns a number for each
task, of the unit that it is meant for, from 0 to ``units - 1``, or -1 for none; it depends on nothing else. What
deals the items of ranges by their data is in `numasim.strategy.distribution`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.parts.models.distribution_model import DISTRIBUTIONS, DistributionSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.strategy.control.controller import I32, Program
from numasim.strategy.control.slices import slices

Labelling = Callable[[Program, int], npt.NDArray[np.integer]]
LABELLINGS: dict[str, Labelling] = {"slices": slices}
NO_LABELS: I32 = np.zeros(0, np.int32)
NOT_FUNCTIONS = ("none", "tune")  # words that are allowed as labels


def labels_of(spec: StrategySpec, program: Program) -> I32:
    """[tasks] the label of each task before the first iteration; empty where none has one.

    Raises InputError for a name that is not registered, be it in this process alone.
    """
    if isinstance(spec.labels, DistributionSpec):
        return _frozen(np.full(program.tasks, -1, np.int32))
    check_labels(spec.labels)
    if spec.labels == "none":
        return NO_LABELS
    if spec.labels == "tune" or spec.distribution:
        return _frozen(np.full(program.tasks, -1, np.int32))
    found = np.ascontiguousarray(LABELLINGS[spec.labels](program, program.units), np.int32)
    assert found.shape == (program.tasks,)
    assert not program.tasks or (found.min() >= -1 and found.max() < program.units)
    return _frozen(found)


def _frozen(labels: I32) -> I32:
    labels.setflags(write=False)
    return labels


def check_labels(name: str) -> None:
    """InputError, with the nearest name, for labels that are no word of the grammar and no registered function."""
    known = (*LABELLINGS, *DISTRIBUTIONS.meanings, *NOT_FUNCTIONS)
    if name not in known:
        raise InputError(
            f"there is no function of labels {name!r}",
            path=("labels",),
            expected=", ".join(known),
            value=name,
            known=known,
        )
