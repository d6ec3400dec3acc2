"""A user's controller made callable: its module is executed, and what is wrong with it is said in one sentence.

A module is executed once a process for each content of its source; who changes the file gets another controller.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import cast

from numasim.errors import InputError
from numasim.parts.python_function import PythonFunction
from numasim.strategy.control.controller import Controller

PATH = ("tune", "python")
SIGNATURE = "a function of program, state and measures, which returns a state and Controls"


def loaded_controller(function: PythonFunction) -> Controller:
    """The function that ``function`` names.

    InputError where its module cannot be executed, has no such function, or the function takes other arguments.
    """
    module = _imported(function) if function.module else _executed(function.file, function.source())
    found = getattr(module, function.name, None)
    if found is None:
        functions = [name for name, value in vars(module).items() if inspect.isfunction(value)]
        raise InputError(
            f"{function.file.name} has no function {function.name!r}",
            path=PATH,
            expected=f"one of {', '.join(functions)}" if functions else SIGNATURE,
            value=function.name,
            known=functions,
        )
    _check_signature(function, found)
    return cast(Controller, found)


def _check_signature(function: PythonFunction, found: object) -> None:
    if not callable(found):
        raise InputError(f"{function.name} in {function.file.name} is no function", path=PATH, expected=SIGNATURE)
    try:
        signature = inspect.signature(found)
        signature.bind(None, None, None)
    except TypeError:
        problem = f"{function.name} in {function.file.name} takes {signature}"
        raise InputError(problem, path=PATH, expected=SIGNATURE) from None


def _imported(function: PythonFunction) -> ModuleType:
    try:
        return importlib.import_module(function.module)
    except (Exception, SystemExit) as error:
        raise _failed(function.file, error) from None


@lru_cache
def _executed(file: Path, source: bytes) -> ModuleType:
    module = ModuleType(f"numasim_controller_{abs(hash((file, source))):x}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # where the classes of the module look for it
    try:
        exec(compile(source, str(file), "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise _failed(file, error) from None
    return module


def _failed(file: Path, error: BaseException) -> InputError:
    return InputError(
        f"the controller's module cannot be executed: {said(error)}",
        path=PATH,
        place=raised_at(error, file),
        expected="a module that defines the function",
    )


def said(error: BaseException) -> str:
    """The kind of the error and what it says, on one line."""
    text = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def raised_at(error: BaseException, file: Path) -> str:
    """Where in ``file`` the error was raised: the innermost line of it that was at work, as ``file:line``."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"{error.filename or file}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"{file}:{frames[-1].lineno}" if frames else str(file)
