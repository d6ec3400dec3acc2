"""Damaged YAML, and damaged machines in YAML."""

from __future__ import annotations

from collections.abc import Iterator

from bad_input_type import GOOD_MACHINE, BadInput, text_at
from places_of_files import ALL, at

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
)
SOME = ("run", "machine show", "strategy compile", "part of a validation")
YAML_TEXTS: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "bomb of aliases": (BOMB, (":5:55: ", "more than 100,000 values", "expected fewer aliases")),
    "nested lists": ("a: " + "[" * 1000, (":1:103: ", "nested deeper than 100 levels", "a flatter document")),
    "nested blocks": ("- " * 1000 + "1", (":1:201: ", "nested deeper than 100 levels", "a flatter document")),
    "nested mappings": ("{a: " * 1000, (":1:401: ", "nested deeper than 100 levels", "a flatter document")),
    "many numbers": ("a: [" + "1," * 150_000 + "1]", (":1:4: ", "more than 100,000 values", "fewer")),
    "many words": ("a: [" + "x," * 30_000 + "x]", ("more than 30,000 lines, commas and colons", "a shorter one")),
    "many lines": ("\n" * 150_000, ("more than 30,000 lines, commas and colons", "a shorter one")),
    "many keys": ("".join(f"k{i}: 1\n" for i in range(15_000)), (":1:1: ", "there is no field 'k0'")),
    "list and text": ("a: [1, 2] b\n", (":1:4: ", "text follows the list that begins here", "',' or the next line")),
    "list as a key": ("? [1, 2]\n: 3\n", (":1:3: ", "a key may not be a mapping or list", "a word")),
    "alias in itself": ("a: &a [*a]", (":1:8: ", "*a stands inside its own anchor")),
    "key twice": ("a: 1\nb: 2\na: 3\n", (":3:1: ", "'a' stands here twice, first in line 1", "each key once")),
    "tag": ("a: !!python/object/apply:os.system [ls]", (":1:4: ", "the tag", "a plain value")),
    "two documents": ("a: 1\n---\nb: 1\n", (":2:1: ", "a second document", "one document a file")),
    "tab": ("a:\n\tb: 1\n", (":2:1: ", "a tab may not indent", "expected spaces")),
    "unfinished quote": ("a: 'b\n", ("the text ends too early", "YAML 1.2")),
    "unfinished list": ("a: [1, 2\n", (":2:1: ", "expected ',' or ']'", "YAML 1.2")),
    "power of 10^400": ("a: 1e400\n", (":1:4: ", "1e400 is out of range", "a finite number of moderate size")),
    "5,000 digits": ("a: " + "9" * 5000, (":1:4: ", "out of range", "a finite number of moderate size")),
    "5,000 hexadecimal digits": ("a: 0x" + "f" * 5000, (":1:4: ", "out of range", "a finite number of moderate size")),
    "not a number": ("a: .nan\n", (":1:4: ", ".nan is not a finite number")),
    "infinity": ("a: -.inf\n", (":1:4: ", "-.inf is not a finite number")),
    "control character": ("a: \x07\n", (":1:4: ", "U+0007", "expected a YAML file")),
    "half a character": ('a: "\\ud800"\n', (":1:4: ", "half a surrogate pair", "the character itself")),
    "percent sign": ("%YAML 9.9\n---\na: 1\n", (":1:", "expected YAML 1.2")),
}


def bad_yaml() -> Iterator[BadInput]:
    """Yield each damaged text at some of the places where a command reads YAML."""
    for place in ALL:
        if place.name in SOME:
            for name, (text, says) in YAML_TEXTS.items():
                yield at(place.name, name, text, place.file, *says)


def machine(name: str, old: str, new: str, place: str, *says: str) -> BadInput:
    """Return a machine in which ``new`` stands in place of ``old``."""
    assert old in GOOD_MACHINE
    text = GOOD_MACHINE.replace(old, new, 1)
    return at("machine check", name, text, f"given.yaml:{place[:-1]} machine.", *says)


MACHINES = [
    machine("10^60 sockets", "sockets: 2", "sockets: 1" + "0" * 60, "2:10: ", "sockets: got 1000", "at most 1024"),
    machine("no name", "name: toy", "name: ''", "1:7: ", "name: got ''", "letters, digits"),
    machine("name is a path", "name: toy", "name: ../toy", "1:7: ", "name: got '../toy'", "letters, digits"),
    machine("memory of 2^70 bytes", "1GiB", "1073741824TiB", "3:27: ", "nodes.memory: ", "expected at most "),
    machine("memory in Arabic digits", "1GiB", "\u0661GiB", "3:27: ", "nodes.memory: ", "such as 32KiB"),
    machine("clock of 10^50 GHz", "base_ghz: 2.0", "base_ghz: 1e50", "8:19: ", "clock.base_ghz: ", "at most 100"),
    machine("latency of a century", "77,", "3e18,", "5:15: ", "latency_ns[0][0]: ", "at most 9000000000000"),
    machine("page of 3 bytes", "name: toy", "page: 3\nname: toy", "1:1: ", "page: 3 bytes is no power of two", "64B"),
    machine("2^40 cores", "cores: 2,", "cores: 1099511627776,", "3:16: ", "nodes.cores: ", "at most 65536"),
    machine("too many threads", "cores: 2,", "cores: 65536,", "3:1: ", "nodes: ", "131072 hardware threads", "65536"),
]
LOOPS = [
    BadInput(
        "thousands of wrong steps",
        ("strategy", "show", "./s.yaml"),
        text_at("s.yaml", "name: s\nsteal:\n" + "- {from: nowhere, tries: x}\n" * 6000),
        ("s.yaml:3:10: strategy.steal[0].from: got 'nowhere'",),
    ),
    BadInput(
        "matrix of a hundred thousand wrong latencies",
        ("machine", "check", "./m.yaml"),
        text_at("m.yaml", GOOD_MACHINE.replace("[[77, 124], ", "[" + f"[{'-1, ' * 300}-1], " * 300)),
        ("m.yaml:5:15: machine.latency_ns[0][0]: got -1", "at least 0"),
    ),
    BadInput(
        "machine like itself by another path",
        ("machine", "show", "./a/m.yaml"),
        text_at("a/m.yaml", "like: ../a/m.yaml\n"),
        ("machine.like: ", "refers to itself in a cycle: m -> m", "a chain of like that ends"),
    ),
    BadInput(
        "name of a file with a zero byte",
        ("run", "run.yaml"),
        text_at("run.yaml", 'machine: "./a\\0.yaml"\nworkload: {name: fib, n: 5}\nstrategy: ring\nworkers: 2\n'),
        ("run.yaml:1:10: ", "cannot read", "null byte"),
    ),
]
