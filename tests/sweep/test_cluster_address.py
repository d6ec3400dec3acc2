from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim.errors import InputError
from numasim.sweep.handshake import parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("local:3", 3),
        ("head:8786", "tcp://head:8786"),
        ("tls://10.0.0.1:1", "tls://10.0.0.1:1"),
        ("[::1]:65535", "tcp://[::1]:65535"),
        ("tcp://[::1]:80", "tcp://[::1]:80"),
    ],
)
def test_an_address_is_read(text: str, address: int | str) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("local", "local:2"),
        ("local:", "local:2"),
        ("local:0", "local:2"),
        ("local:two", "local:2"),
        ("head-node", "head-node:8786"),
        ("tcp://head-node", "tcp://head-node:8786"),
        ("head-node:65536", "head-node:8786"),
        ("head-node:²", "head-node:8786"),
        ("tpc://head-node:8786", "tcp://head-node:8786"),
        ("tcp://:8786", "tcp://localhost:8786"),
        ("", None),
        (":5", None),
    ],
)
def test_another_text_is_refused_with_the_nearest_address(text: str, nearest: str | None) -> None:
    with pytest.raises(InputError, match="expected the address of a Dask scheduler") as caught:
        parse_address(text)
    assert caught.value.nearest == nearest
    assert repr(text) in str(caught.value)


@given(st.text(max_size=20))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        address = parse_address(text)
    except InputError:
        return
    assert isinstance(address, int) or parse_address(address) == address
