"""Checks a Paje trace as any reader of the format would: by the definitions of events at its own head.

Times do not go back; types, containers and values are defined before they are used; states belong to the type of their
container and follow each other from its creation to its end; every link has both its ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from numasim.report.trace.trace_lint import MOST_PROBLEMS, Lint

PS_PER_S = 10**12
FIELD = re.compile(r'"([^"]*)"|(\S+)')
DATE = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,12})?")
ROOT = "0"


@dataclass
class _Container:
    """A container that was created: its type, name, the state it is in and since when."""

    kind: str
    name: str
    track: int
    since_ps: int
    state: str | None = None


class PajeError(Exception):
    """What is wrong with a line."""


@dataclass
class PajeChecker:
    """What is known of the trace so far."""

    lint: Lint = field(default_factory=Lint)
    _now_ps: int = 0
    _definition: tuple[str, str] | None = None  # number and name of the event that is being defined
    _events: dict[str, tuple[str, list[tuple[str, str]]]] = field(default_factory=dict)  # by number: name, fields
    _kinds: dict[str, tuple[str, str]] = field(default_factory=dict)  # by alias: what it is, type of its container
    _values: dict[tuple[str, str], str] = field(default_factory=dict)  # by type and alias: name
    _containers: dict[str, _Container] = field(default_factory=dict)
    _links: dict[tuple[str, str], int] = field(default_factory=dict)  # by type and key: when it began

    def check(self, lines: Iterable[tuple[int, str]]) -> Lint:
        """Read all lines, up to the problem number `MOST_PROBLEMS`."""
        for number, line in lines:
            try:
                if line.startswith("%"):
                    self._define(line[1:].split())
                elif line.strip() and not line.startswith("#"):
                    self._event([quoted or plain for quoted, plain in FIELD.findall(line)])
            except PajeError as problem:
                self.lint.problems.append(f"line {number}: {problem}")
            if len(self.lint.problems) == MOST_PROBLEMS:
                return self.lint
        for alias in self._containers:
            self.lint.problems.append(f"the container {alias} does not end")
        for _, key in self._links:
            self.lint.problems.append(f"the link {key} has no end")
        del self.lint.problems[MOST_PROBLEMS:]
        return self.lint

    def _define(self, words: list[str]) -> None:
        match words:
            case ["EventDef", name, number]:
                self._definition = number, name
                self._events[number] = name, []
            case ["EndEventDef"]:
                self._definition = None
            case [name, kind] if self._definition:
                self._events[self._definition[0]][1].append((name, kind))
            case _:
                raise PajeError("this is no definition of an event")

    def _event(self, words: list[str]) -> None:
        name, fields = self._events.get(words[0], ("", []))
        if not name or len(fields) != len(words) - 1:
            raise PajeError(f"there is no event {words[0]} with {len(words) - 1} fields")
        given = {key: word for (key, _), word in zip(fields, words[1:], strict=True)}
        for key, kind in fields:
            if kind == "date":
                self._advance(given[key])
        method = getattr(self, f"_{name.removeprefix('Paje').lower()}", None)
        if method is None:
            raise PajeError(f"the event {name} is unknown")
        try:
            method(given)
        except KeyError as missing:
            raise PajeError(f"{missing.args[0]!r} is not defined") from None

    def _advance(self, text: str) -> None:
        if not DATE.fullmatch(text):
            raise PajeError(f"{text!r} is no time")
        time_ps = int(Decimal(text) * PS_PER_S)
        if time_ps < self._now_ps:
            raise PajeError(f"the time {text} goes back")
        self._now_ps = time_ps

    def _definecontainertype(self, given: dict[str, str]) -> None:
        if given["Type"] != ROOT:
            self._of_kind(given["Type"], "container")
        self._kinds[given["Alias"]] = "container", given["Type"]

    def _definestatetype(self, given: dict[str, str]) -> None:
        self._of_kind(given["Type"], "container")
        self._kinds[given["Alias"]] = "state", given["Type"]

    def _definelinktype(self, given: dict[str, str]) -> None:
        for key in ("Type", "StartContainerType", "EndContainerType"):
            self._of_kind(given[key], "container")
        self._kinds[given["Alias"]] = "link", given["Type"]

    def _defineentityvalue(self, given: dict[str, str]) -> None:
        self._of_kind(given["Type"], "state")
        self._values[given["Type"], given["Alias"]] = given["Name"]

    def _of_kind(self, alias: str, kind: str) -> str:
        """The type of the container that the type ``alias`` belongs to."""
        if self._kinds[alias][0] != kind:
            raise PajeError(f"{alias!r} is no type of a {kind}")
        return self._kinds[alias][1]

    def _createcontainer(self, given: dict[str, str]) -> None:
        inside = self._of_kind(given["Type"], "container")
        if inside != ROOT and self._containers[given["Container"]].kind != inside:
            raise PajeError(f"a container of type {given['Type']} is in one of another type than {inside}")
        if given["Alias"] in self._containers:
            raise PajeError(f"the container {given['Alias']} exists")
        track = len(self.lint.names)
        self.lint.names[0, track] = given["Name"]
        self._containers[given["Alias"]] = _Container(given["Type"], given["Name"], track, self._now_ps)

    def _destroycontainer(self, given: dict[str, str]) -> None:
        self._end_state(self._containers.pop(given["Name"]))

    def _setstate(self, given: dict[str, str]) -> None:
        container = self._containers[given["Container"]]
        if self._of_kind(given["Type"], "state") != container.kind:
            raise PajeError(f"a container of type {container.kind} has no state of type {given['Type']}")
        self._end_state(container)
        container.state, container.since_ps = self._values[given["Type"], given["Value"]], self._now_ps
        self.lint.slices += 1

    def _end_state(self, container: _Container) -> None:
        """The state of the container has lasted until now."""
        lasted_ps = self._now_ps - container.since_ps
        if container.state is not None:
            self.lint.time_ps[(0, container.track), container.state] += lasted_ps
        elif lasted_ps and any(kind == ("state", container.kind) for kind in self._kinds.values()):
            raise PajeError(f"{container.name!r} has no state at first")

    def _startlink(self, given: dict[str, str]) -> None:
        self._link(given, "StartContainer")
        self._links[given["Type"], given["Key"]] = self._now_ps

    def _endlink(self, given: dict[str, str]) -> None:
        self._link(given, "EndContainer")
        del self._links[given["Type"], given["Key"]]
        self.lint.arrows += 1

    def _link(self, given: dict[str, str], end: str) -> None:
        kind = self._of_kind(given["Type"], "link")
        for key in ("Container", end):
            if given[key] not in self._containers:
                raise PajeError(f"there is no container {given[key]!r}")
        if self._containers[given["Container"]].kind != kind:
            raise PajeError(f"the link belongs to a container of another type than {kind}")
