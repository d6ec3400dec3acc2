"""A user's controller, a function that a strategy calls between two iterations: its source is read with the strategy;
its module is executed when a run begins.

Reading never executes anything: `check_source` looks for the function in the text of the module. `loaded_controller`
says on stderr which file is executed, then executes the module, once in each process for each content of the file.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import cast

from numasim.errors import InputError
from numasim.parts.python_function import PythonFunction
from numasim.strategy.control.controller import Controller

PATH = ("tune", "python")
SIGNATURE = "a function of program, state and measures, which returns a state and Controls"


def check_source(function: PythonFunction) -> None:
    """Raise InputError unless ``function`` is in Python and has three arguments, without executing anything."""
    try:
        module = ast.parse(function.source(), str(function.file))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _failed(function.file, error) from None
    bound = dict(_bound_names(module.body))
    if function.name not in bound and "*" not in bound:
        raise _missing(function, [name for name, node in bound.items() if isinstance(node, ast.FunctionDef)])
    node = bound.get(function.name)
    if isinstance(node, ast.FunctionDef) and not node.decorator_list and not _takes_three(node.args):
        raise _of_other_arguments(function, f"({ast.unparse(node.args)})")


def loaded_controller(function: PythonFunction, source_hash: str) -> Controller:
    """Execute the module of ``function``, say so on stderr, and return the controller.

    Raise InputError for a source with another hash than ``source_hash``, for a module that cannot be executed, and for
    a module without a function of that name with three arguments.
    """
    check_unchanged(function, source_hash)
    _say(function.file, function.name)
    module = _imported(function) if function.module else _executed(function.file, function.source())
    found = getattr(module, function.name, None)
    if found is None:
        raise _missing(function, [name for name, value in vars(module).items() if inspect.isfunction(value)])
    _check_signature(function, found)
    return cast(Controller, found)


def check_unchanged(function: PythonFunction, source_hash: str) -> None:
    """Raise InputError unless the source of the module of ``function`` has the hash ``source_hash``."""
    if function.source_hash() != source_hash:
        problem = f"{function.file.name} has changed since the strategy was read"
        expected = "the controller that the run began with; begin anew"
        raise InputError(problem, path=PATH, place=str(function.file), expected=expected)


@lru_cache
def _say(file: Path, name: str) -> None:
    """Print which code is executed, once for each function; in the worker processes of a sweep print nothing."""
    from multiprocessing import parent_process

    if parent_process() is None:
        print(f"numasim: executing {file}, the controller {name} of a strategy", file=sys.stderr)


def _bound_names(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    """Yield each name that the statements of a module bind, with its node; ``*`` for ``from module import *``."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name, statement
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.FunctionDef | ast.alias):
                yield getattr(node, "asname", None) or node.name, node
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, node


def _takes_three(arguments: ast.arguments) -> bool:
    positional = len(arguments.posonlyargs) + len(arguments.args)
    needed = positional - len(arguments.defaults)
    no_more = all(default is not None for default in arguments.kw_defaults)
    return needed <= 3 and (positional >= 3 or arguments.vararg is not None) and no_more


def _missing(function: PythonFunction, functions: Sequence[str]) -> InputError:
    problem = f"{function.file.name} has no function {function.name!r}"
    expected = None if functions else SIGNATURE
    return InputError(problem, path=PATH, expected=expected, value=function.name, known=functions)


def _of_other_arguments(function: PythonFunction, arguments: object) -> InputError:
    return InputError(f"{function.name} in {function.file.name} takes {arguments}", path=PATH, expected=SIGNATURE)


def _check_signature(function: PythonFunction, found: object) -> None:
    if not callable(found):
        problem = f"{function.name} in {function.file.name} is no function"
        raise InputError(problem, path=PATH, place=str(function.file), expected=SIGNATURE)
    try:
        signature = inspect.signature(found)
        signature.bind(None, None, None)
    except TypeError:
        raise _of_other_arguments(function, signature) from None


def _imported(function: PythonFunction) -> ModuleType:
    try:
        return importlib.import_module(function.module)
    except (Exception, SystemExit) as error:
        raise _failed(function.file, error) from None


@lru_cache
def _executed(file: Path, source: bytes) -> ModuleType:
    module = ModuleType(f"numasim_controller_{abs(hash((file, source))):x}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # lets the module's classes find their module
    try:
        exec(compile(source, str(file), "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise _failed(file, error) from None
    return module


def _failed(file: Path, error: BaseException) -> InputError:
    problem = f"the controller's module cannot be executed: {said(error)}"
    return InputError(problem, path=PATH, place=raised_at(error, file), expected="a module that defines the function")


def said(error: BaseException) -> str:
    """Return the type and the message of ``error`` on one line."""
    text = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def raised_at(error: BaseException, file: Path) -> str:
    """Return the place in ``file`` at which ``error`` was raised, as ``file:line``; of several places the innermost."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"{error.filename or file}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"{file}:{frames[-1].lineno}" if frames else str(file)
