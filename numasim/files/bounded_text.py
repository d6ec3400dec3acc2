"""Text files: UTF-8, with or without a byte order mark, and without zero bytes."""

from __future__ import annotations

from pathlib import Path

from numasim.errors import InputError
from numasim.files.bounded_bytes import read_bytes
from numasim.files.file_kinds import FileKind


def read_text(path: Path, kind: FileKind, place: str | None = None) -> str:
    """The text in the file ``path``; InputError as for `read_bytes`, and with the place of the first byte that is not
    text.
    """
    return text_of(read_bytes(path, kind, place), str(path), kind.name)


def text_of(data: bytes, name: str, expected: str) -> str:
    """``data`` as text; errors call it ``name``."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place(data, error.start, name)
        raise InputError("this file is not text in UTF-8", place=place, expected=expected) from None
    if "\0" in text:
        place = _place(data, data.index(b"\0"), name)
        raise InputError("the character U+0000 shows that this is a binary file", place=place, expected=expected)
    return text


def _place(data: bytes, at: int, name: str) -> str:
    begin = data.rfind(b"\n", 0, at) + 1
    column = len(data[begin:at].decode("utf-8-sig", "replace")) + 1
    line = data.count(b"\n", 0, at) + 1
    return f"{name}:{line}:{column}"
