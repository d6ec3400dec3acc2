"""Checks that all processes of a cluster would give the same results as this process.

A result is a function of the specification, the seed and numasim; so version and model version must be the same
everywhere, and each worker must have the engine. Otherwise nothing is written and no batch is simulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numasim import __version__
from numasim.engine.simulate import require_engine
from numasim.errors import InputError
from numasim.spec.identity import MODEL_VERSION

Installed = tuple[str, int]  # versions of numasim and of its model


def installed() -> Installed:
    """Return the versions of this process."""
    return __version__, MODEL_VERSION


def installed_with(engine: str) -> Installed:
    """Return the versions of this process. Raises `InputError` if it lacks ``engine``."""
    require_engine(engine)
    return installed()


def require_agreement(answers: Mapping[str, Any]) -> None:
    """Raise `InputError` for the first process, by its address, whose answer differs from that of this process.

    A value of ``answers`` is what `installed_with` returned there, or the exception that it raised.
    """
    for place, answer in answers.items():
        if answer != installed():
            raise disagreement(place, _objection(answer))


def disagreement(place: str, problem: str) -> InputError:
    """Make the error that a process of the cluster cannot be used."""
    version, model_version = installed()
    expected = f"numasim {version} (model version {model_version}) in the environment of the scheduler and every worker"
    return InputError(problem, place=place, expected=expected)


def _objection(answer: Any) -> str:
    if isinstance(answer, InputError):
        return answer.problem
    if isinstance(answer, Exception):
        return f"numasim is missing there, or is another ({answer})"
    version, model_version = answer
    return f"numasim {version} (model version {model_version}) is installed there"
