"""The import statements of a source, wherever they stand in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache


@cache
def import_statements(source: str) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Those at the top, inside functions and classes, and for type checking alike."""
    return tuple(_in(ast.parse(source).body))


def _in(statements: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        yield from _in(_inside(statement))


def _inside(statement: ast.AST) -> list[ast.stmt]:
    """The statements one level below; expressions have none."""
    parts = [part for name in statement._fields if isinstance(part := getattr(statement, name), list)]
    every = [node for part in parts for node in part]
    blocks = [node for node in every if isinstance(node, ast.ExceptHandler | ast.match_case)]
    found = [node for node in every if isinstance(node, ast.stmt)]
    return found + [node for block in blocks for node in block.body]
