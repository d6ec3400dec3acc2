"""Checks that a Dask scheduler answers at an address, before a client connects to it.

A client that cannot connect gives little information and leaves threads behind; a single request distinguishes a
refused connection, an unknown host, no answer, and a listener of another kind.
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from numasim.errors import InputError

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
