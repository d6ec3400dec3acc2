"""The address of a cluster: a Dask scheduler, or a number of workers to start on this machine."""

from __future__ import annotations

from dataclasses import dataclass

from numasim.errors import InputError

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
