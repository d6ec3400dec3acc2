"""What is wrong with traces, plain and packed."""

from __future__ import annotations

import gzip
import json
import zlib

from places_of_files import at

HEAD = '{"displayTimeUnit":"ns","traceEvents":[\n'
TAIL = "\n]}\n"


def event(**fields: object) -> str:
    """A trace of one event, in line 2."""
    whole = {"ph": "B", "pid": 1, "tid": 1, "ts": 0, "name": "x", **fields}
    return HEAD + json.dumps({key: value for key, value in whole.items() if value is not None}) + TAIL


def bomb(first: bytes, fill: bytes, size: int) -> bytes:
    """A packed file that unpacks to ``first`` and ``size`` bytes of ``fill``."""
    piece = fill * (2**20 // len(fill))
    packed = gzip.compress(piece, mtime=0)  # once: what members of a packed file unpack to follows each other
    return gzip.compress(first, mtime=0) + packed * (size // len(piece))


TRACE_TEXTS: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "no head": ("{}\n", (":1: ", "does not open a list of events")),
    "head alone": (HEAD, ("the list of events does not end",)),
    "cut off": (event()[: len(HEAD) + 20], (":2:", "this is not JSON")),
    "cut between lines": (event()[: -len(TAIL)] + ",\n", ("the list of events does not end",)),
    "event is a list": (HEAD + "[]" + TAIL, (":2: ", "holds no event")),
    "event is a number": (HEAD + "7" + TAIL, (":2: ", "holds no event")),
    "no kind": (event(ph=None), (":2: ph: this field is missing", "a text")),
    "kind is a number": (event(ph=3), (":2: ph: got 3", "a text")),
    "kind is a list": (event(ph=["B"]), (":2: ph: got a list", "a text")),
    "no process": (event(pid=None), (":2: pid: this field is missing", "a whole number")),
    "process is text": (event(pid="1"), (":2: pid: got '1'", "a whole number")),
    "process is a list": (event(pid=[1]), (":2: pid: got a list", "a whole number")),
    "process is true": (event(pid=True), (":2: pid: got true", "a whole number")),
    "no thread": (event(tid=None), (":2: tid: this field is missing", "a whole number")),
    "no time": (event(ts=None), (":2: ts: this field is missing", "a number")),
    "time is text": (event(ts="0"), (":2: ts: got '0'", "a number")),
    "time is null": (event().replace('"ts": 0', '"ts": null'), (":2: ts: got nothing (null)", "a number")),
    "negative time": (event(ts=-1), (":2: ts: got -1", "from 0 on")),
    "time of 2^63": (event(ts=2**63), (":2: ts: got 9223372036854775808", "in 63 bits")),
    "time of 10^400": (event().replace('"ts": 0', '"ts": 1e400'), (":2: ", "'1e400' is out of range")),
    "time of 10^999999999": (event().replace('"ts": 0', '"ts": 1e999999999'), (":2: ", "out of range")),
    "time of 5,000 digits": (event().replace('"ts": 0', f'"ts": {"9" * 5000}'), (":2: ", "thousands of digits")),
    "time is not a number": (event().replace('"ts": 0', '"ts": NaN'), (":2: ", "NaN is not allowed")),
    "no name": (event(name=None), (":2: name: this field is missing", "a text")),
    "name is a mapping": (event(name={}), (":2: name: got an empty mapping", "a text")),
    "key twice": (event().replace('"pid": 1', '"pid": 1, "pid": 2'), (":2: ", "'pid' is given twice")),
    "nested": (HEAD + "[" * 5000 + TAIL, (":2: ", "nested deeper than 100 levels")),
    "half a character": (event(name="\ud800"), (":2: ", "half a surrogate pair")),
    "half a character and a fraction": (event(name="\ud800", ts=1.5), (":2: ", "half a surrogate pair")),
    "name without arguments": (event(ph="M", name="thread_name"), (":2: args: this field is missing", "a mapping")),
    "name of a number": (event(ph="M", name="thread_name", args={"name": 3}), (":2: name: got 3", "a text")),
    "counter without values": (event(ph="C"), (":2: args: this field is missing", "a mapping")),
    "counter of text": (event(ph="C", args={"a": "many"}), (":2: a: got 'many'", "a number")),
    "arrow without number": (event(ph="s"), (":2: id: this field is missing", "a whole number")),
    "something behind": (HEAD + "]}\n{}\n", (":3: ", "something follows the list of events")),
    "long line": (HEAD + " " * 2_000_000, (":2: ", "longer than 1 MiB")),
    "task graph": ('{"tasks": []}\n', (":1: ", "does not open a list of events")),
}
SOUND = event().encode()
PACKED: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "plain text": (SOUND, (":1: ", "cannot be read from here on: Not a gzipped file")),
    "bomb of zeros": (bomb(b"", b"\0", 2**30), (":1: ", "longer than 1 MiB")),
    "bomb of blanks": (bomb(HEAD.encode(), b" ", 2**28), (":2: ", "longer than 1 MiB")),
    "bomb of lines": (bomb(HEAD.encode(), b"\n", 2**28), (":2:1: ", "this is not JSON")),
    "packed twice": (gzip.compress(gzip.compress(SOUND, mtime=0), mtime=0), (":1", "expected a file from numasim run")),
    "cut off": (gzip.compress(SOUND, mtime=0)[:-9], ("cannot be read from here on", "end-of-stream")),
    "cut in the head": (gzip.compress(SOUND, mtime=0)[:6], ("cannot be read from here on", "end-of-stream")),
    "wrong checksum": (gzip.compress(SOUND, mtime=0)[:-8] + b"\0" * 8, ("cannot be read from here on", "CRC")),
    "damaged stream": (
        gzip.compress(SOUND, mtime=0)[:12] + b"\xff" * 40 + gzip.compress(SOUND, mtime=0)[52:],
        ("cannot be read from here on",),
    ),
    "rubbish behind": (gzip.compress(HEAD.encode(), mtime=0) + b"rubbish", ("cannot be read from here on",)),
    "of zlib": (zlib.compress(SOUND), ("cannot be read from here on: Not a gzipped file",)),
}
BAD_TRACES = [at("trace check", name, text, "given.json", *says) for name, (text, says) in TRACE_TEXTS.items()]
BAD_TRACES += [at("trace check, packed", name, text, "given.json.gz", *says) for name, (text, says) in PACKED.items()]
