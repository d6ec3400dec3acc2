"""All outcomes of small programs on atomic words, by enumeration of all states, for comparison with the explorer.

A program is a tuple of threads. A thread is a tuple of steps (kind, word, order, whether the step forgets), with the
letters of tests/runtime/explorer/main.c. Memory is sequential; or buffered, with one queue of stores for each thread
(x86: Sewell et al., "x86-TSO", 2010); or reordered: stores to different words leave a thread's buffer in any order,
except that a release store leaves after all earlier stores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

Step = tuple[str, int, str, str]
Program = tuple[tuple[Step, ...], ...]
WORDS = 3
Entry = TypeVar("Entry")
MOST_PENDING = 3  # the most stores of a thread that have not reached memory


class Store(NamedTuple):
    """A store that has not reached memory."""

    word: int
    value: int
    release: bool


class State(NamedTuple):
    """A state: for each thread, the results so far and the pending stores, the oldest first; and the memory."""

    found: tuple[tuple[int, ...], ...]
    stores: tuple[tuple[Store, ...], ...]
    memory: tuple[int, ...]


def outcomes(program: Program, memory: str) -> set[tuple[int, ...]]:
    """Return the results of all steps, thread by thread (0 for a store), followed by the final words."""
    todo = [State(((),) * len(program), ((),) * len(program), (0,) * WORDS)]
    seen, ends = set(todo), set()
    while todo:
        state = todo.pop()
        following = set(_following(program, memory, state))
        if not following:
            ends.add(sum(state.found, ()) + state.memory)
        todo += following - seen
        seen |= following
    return ends


def _following(program: Program, memory: str, state: State) -> Iterator[State]:
    for thread, steps in enumerate(program):
        pending = state.stores[thread]
        for place, store in enumerate(pending):
            if _may_leave(memory, pending[:place], store):
                left = pending[:place] + pending[place + 1 :]
                yield State(state.found, _put(state.stores, thread, left), _put(state.memory, store.word, store.value))
        if len(state.found[thread]) < len(steps):
            yield from _step(memory, state, thread, steps[len(state.found[thread])])


def _may_leave(memory: str, older: tuple[Store, ...], store: Store) -> bool:
    in_order = memory == "buffered" or store.release
    return not any(in_order or other.word == store.word for other in older)


def _step(memory: str, state: State, thread: int, step: Step) -> Iterator[State]:
    kind, word, order, keeps = step
    pending, found = state.stores[thread], state.found[thread]
    value = 10 * thread + len(found) + 1

    def then(told: int) -> tuple[tuple[int, ...], ...]:
        return _put(state.found, thread, (*found, told) if keeps == "k" else (0,) * (len(found) + 1))

    own = [store.value for store in pending if store.word == word]
    if kind == "l":
        yield state._replace(found=then(own[-1] if own else state.memory[word]))
    elif kind == "s" and memory != "sequential" and order != "c":
        if len(pending) < MOST_PENDING:
            after = (*pending, Store(word, value, order == "o"))
            yield State(then(0), _put(state.stores, thread, after), state.memory)
    elif not (own if memory == "reordered" and order == "r" else pending):
        before = state.memory[word]
        told, written = (before, before + value) if kind == "a" else (0, value)
        yield State(then(told), state.stores, _put(state.memory, word, written))


def _put(entries: tuple[Entry, ...], place: int, entry: Entry) -> tuple[Entry, ...]:
    return (*entries[:place], entry, *entries[place + 1 :])
