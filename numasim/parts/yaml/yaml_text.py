"""A part of a specification as the text of a YAML file, which depends on the contents alone.

Mappings and lists stand on one line unless their dotted path is named as a block; a comment may follow any line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import Any

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_NOT_TEXT = re.compile(r"[-+.0-9].*|true|false|null|yes|no|on|off", re.IGNORECASE)
_SIZE = re.compile(r"\d+[KMGT]?i?B")


def yaml_text(
    document: Mapping[str, Any], *, heading: str = "", blocks: Collection[str] = (), comments: Mapping[str, str] = {}
) -> str:
    """``document`` below the comment ``heading``; ``blocks`` and ``comments`` are by dotted path."""
    lines = [f"# {line}".rstrip() for line in heading.splitlines()]
    return "\n".join([*lines, *_lines(document, "", "", blocks, comments), ""])


def _lines(
    mapping: Mapping[str, Any], above: str, indent: str, blocks: Collection[str], comments: Mapping[str, str]
) -> Iterator[str]:
    for key, value in mapping.items():
        path = f"{above}{key}"
        remark = f"  # {comments[path]}" if path in comments else ""
        head = f"{indent}{_key(key)}:"
        if path not in blocks:
            yield f"{head} {flow_text(value)}{remark}"
        elif isinstance(value, Mapping):
            yield head + remark
            yield from _lines(value, f"{path}.", indent + "  ", blocks, comments)
        else:
            yield head + remark
            yield from (f"{indent}  - {flow_text(item)}" for item in value)


def flow_text(value: Any) -> str:
    """``value`` on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {flow_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow_text(item) for item in value) + "]"
    return _scalar(value)


def _key(key: Any) -> str:
    return str(key) if isinstance(key, int) else _scalar(str(key))


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if not isinstance(value, str):
        return str(value)
    plain = _PLAIN.fullmatch(value) and (_SIZE.fullmatch(value) or not _NOT_TEXT.fullmatch(value))
    return value if plain else json.dumps(value, ensure_ascii=False)
