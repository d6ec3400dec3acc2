"""Checks before a sweep on a Dask cluster: the address, the scheduler at the address, and the numasim of all processes.

A client that cannot connect gives little information and leaves threads behind. A single request distinguishes a
refused connection, an unknown host, no answer, and a listener of another kind.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from numasim import __version__
from numasim.engine.simulate import require_engine
from numasim.errors import InputError
from numasim.spec.identity import MODEL_VERSION

CONNECT_S = 4.0  # time limit of all attempts
ANSWER_S = 5.0  # time limit of the answer, including the connection

LOCAL = "local"
SCHEMES = ("tcp", "tls", "ws", "wss")
DEFAULT_PORT, HIGHEST_PORT = 8786, 2**16 - 1
EXPECTED = (
    f"the address of a Dask scheduler, such as tls://head-node:{DEFAULT_PORT}, "
    f"or {LOCAL}:N for N workers on this machine"
)

Installed = tuple[str, int]  # versions of numasim and of its model


# ---- The address of a cluster ----------------------------------------------------------------------------------------


def parse_address(text: str) -> int | str:
    """Return the number of workers of ``local:N``, or the address ``SCHEME://HOST:PORT`` of a scheduler.

    An address without a scheme gets the default scheme. Raises `InputError` for any other text.
    """
    place, _, number = text.rpartition(":")
    if LOCAL in (place, text):
        return _number(number, HIGHEST_PORT, text, f"{LOCAL}:2")
    scheme, separator, host = place.rpartition("://")
    if separator and not (scheme in SCHEMES and host):
        raise _unreadable(text, f"{scheme if scheme in SCHEMES else SCHEMES[0]}://{host or 'localhost'}:{number}")
    usual = f"{place if host and number.isdigit() else text}:{DEFAULT_PORT}"
    port = _number(number, HIGHEST_PORT if host else 0, text, usual)
    return f"{scheme or SCHEMES[0]}://{host}:{port}"


def _number(number: str, highest: int, text: str, nearest: str) -> int:
    if not (number.isascii() and number.isdigit() and len(number) < 6 and 0 < int(number) <= highest):
        raise _unreadable(text, nearest)
    return int(number)


def _unreadable(text: str, nearest: str) -> InputError:
    return InputError(f"cluster is {text!r}", expected=EXPECTED, value=text, known=[nearest])


# ---- The scheduler at an address -------------------------------------------------------------------------------------


def require_scheduler(address: str) -> None:
    """Raise `InputError`, after `ANSWER_S` seconds at most, unless a Dask scheduler answers at ``address``."""
    expected = "the address that `dask scheduler` prints when it starts"
    try:
        with ThreadPoolExecutor(1) as thread:  # a thread of its own, because the caller's may have a running event loop
            kind = thread.submit(asyncio.run, _kind(address)).result()
    except Exception as error:  # any error that bytes of an unknown protocol may cause
        problem = f"no Dask scheduler answers within {ANSWER_S:.0f} s ({_refusal(address) or _reason(error)})"
        raise InputError(problem, place=address, expected=expected) from None
    if kind != "Scheduler":
        raise InputError(f"a Dask {kind.lower()} answers, not a scheduler", place=address, expected=expected)


async def _kind(address: str) -> str:
    """Return the type of the process of Dask that answers at ``address``."""
    from distributed.comm import connect
    from distributed.security import Security

    async with asyncio.timeout(ANSWER_S):
        comm = await connect(address, timeout=CONNECT_S, **Security().get_connection_args("client"))
        try:
            await comm.write({"op": "identity", "reply": True})
            return str((await comm.read())["type"])
        finally:
            comm.abort()


def _refusal(address: str) -> str | None:
    """Return the system's message if a plain connection is refused; Dask may report only a time limit."""
    place = urlsplit(address)
    try:
        socket.create_connection((place.hostname or "", place.port or 0), timeout=1).close()
    except ConnectionError as error:
        return error.strerror
    except OSError:
        return None
    return None


def _reason(error: BaseException) -> str:
    """Return the system's message from the error nearest to the root of the chain, if any error has a message."""
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    words = [str(link.strerror) for link in chain if isinstance(link, OSError) and link.strerror]
    if not words and any(isinstance(link, TimeoutError) for link in chain):
        return "silence"
    return words[-1] if words else str(error) or type(error).__name__


# ---- The numasim of every process ------------------------------------------------------------------------------------
#
# A result is a function of the specification, the seed and numasim. Therefore all processes must have the same version
# and model version, and each worker must have the engine. Otherwise nothing is written and no batch is simulated.


def installed(engine: str | None = None) -> Installed:
    """Return the versions of this process. Raises `InputError` if the process lacks ``engine``."""
    if engine is not None:
        require_engine(engine)
    return __version__, MODEL_VERSION


def require_agreement(answers: Mapping[str, Any]) -> None:
    """Raise `InputError` for the first process, by its address, whose answer differs from the answer of this process.

    A value of ``answers`` is the return value of `installed` in a process, or the exception that `installed` raised.
    """
    for place, answer in answers.items():
        if isinstance(answer, InputError):
            raise disagreement(place, answer.problem)
        if isinstance(answer, Exception):
            raise disagreement(place, f"numasim is missing there, or is another ({answer})")
        if answer != installed():
            raise disagreement(place, "numasim {} (model version {}) is installed there".format(*answer))


def disagreement(place: str, problem: str) -> InputError:
    """Return the error for a process of the cluster that cannot be used."""
    version, model_version = installed()
    expected = f"numasim {version} (model version {model_version}) in the environment of the scheduler and every worker"
    return InputError(problem, place=place, expected=expected)
