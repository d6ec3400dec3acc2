"""Checks that a Dask scheduler answers at an address, before a client connects to it.

A client that cannot connect gives little information and leaves threads behind; a single request distinguishes a
refused connection, an unknown host, no answer, and a listener of another kind.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from numasim import __version__
from numasim.engine.simulate import require_engine
from numasim.errors import InputError
from numasim.spec.identity import MODEL_VERSION

CONNECT_S = 4.0  # time limit of all attempts
ANSWER_S = 5.0  # with the connection


def require_scheduler(address: str) -> None:
    """Raise `InputError`, after `ANSWER_S` seconds at most, unless a Dask scheduler answers at ``address``."""
    try:
        with ThreadPoolExecutor(1) as thread:  # a thread of its own, as the caller's may have a running event loop
            kind = thread.submit(asyncio.run, _kind(address)).result()
    except Exception as error:  # any error that bytes of an unknown protocol may cause
        problem = f"no Dask scheduler answers within {ANSWER_S:.0f} s ({_refusal(address) or _reason(error)})"
        raise InputError(problem, place=address, expected=_expected()) from None
    if kind != "Scheduler":
        raise InputError(f"a Dask {kind.lower()} answers, not a scheduler", place=address, expected=_expected())


def _expected() -> str:
    return "the address that `dask scheduler` prints when it starts"


async def _kind(address: str) -> str:
    return str((await asyncio.wait_for(_identity(address), ANSWER_S))["type"])


async def _identity(address: str) -> dict[str, Any]:
    from distributed.comm import connect
    from distributed.security import Security

    comm = await connect(address, timeout=CONNECT_S, **Security().get_connection_args("client"))
    try:
        await comm.write({"op": "identity", "reply": True})
        answer: dict[str, Any] = await comm.read()
        return answer
    finally:
        comm.abort()


def _refusal(address: str) -> str | None:
    """The system's message if a plain connection is refused: the last attempt may have ended by its time limit."""
    place = urlsplit(address)
    try:
        socket.create_connection((place.hostname or "", place.port or 0), timeout=1).close()
    except ConnectionError as error:
        return error.strerror
    except OSError:
        return None
    return None


def _reason(error: BaseException) -> str:
    """The system's message, from the error at the root of the chain, if there is one."""
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    words = [str(link.strerror) for link in chain if isinstance(link, OSError) and link.strerror]
    if not words and any(isinstance(link, TimeoutError) for link in chain):
        return "silence"
    return words[-1] if words else str(error) or type(error).__name__


# ---- Checks that all processes of a cluster would give the same results as this process ------------------------------
#
# A result is a function of the specification, the seed and numasim; so version and model version must be the same
# everywhere, and each worker must have the engine. Otherwise nothing is written and no batch is simulated.

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


# ---- The address of a cluster: a Dask scheduler, or a number of workers to start on this machine ---------------------

LOCAL = "local"
SCHEMES = ("tcp", "tls", "ws", "wss")
DEFAULT_PORT, HIGHEST_PORT = 8786, 2**16 - 1
EXPECTED = (
    f"the address of a Dask scheduler, such as tls://head-node:{DEFAULT_PORT}, "
    f"or {LOCAL}:N for N workers on this machine"
)


@dataclass(frozen=True)
class LocalCluster:
    """A cluster that lasts as long as the sweep."""

    count: int  # worker processes


@dataclass(frozen=True)
class SchedulerAddress:
    """A scheduler started by the user."""

    text: str  # scheme://host:port


def parse_address(text: str) -> LocalCluster | SchedulerAddress:
    """Read ``local:N``, ``HOST:PORT`` or ``SCHEME://HOST:PORT``. Raises `InputError` for anything else."""
    place, _, number = text.rpartition(":")
    if LOCAL in (place, text):
        return LocalCluster(_number(number, HIGHEST_PORT, text, f"{LOCAL}:2"))
    scheme, separator, host = place.rpartition("://")
    if separator and not (scheme in SCHEMES and host):
        raise _unreadable(text, f"{scheme if scheme in SCHEMES else SCHEMES[0]}://{host or 'localhost'}:{number}")
    usual = f"{place if host and number.isdigit() else text}:{DEFAULT_PORT}"
    port = _number(number, HIGHEST_PORT if host else 0, text, usual)
    return SchedulerAddress(f"{scheme or SCHEMES[0]}://{host}:{port}")


def _number(number: str, highest: int, text: str, nearest: str) -> int:
    if not (number.isascii() and number.isdigit() and len(number) < 6 and 0 < int(number) <= highest):
        raise _unreadable(text, nearest)
    return int(number)


def _unreadable(text: str, nearest: str) -> InputError:
    return InputError(f"cluster is {text!r}", expected=EXPECTED, value=text, known=[nearest])
