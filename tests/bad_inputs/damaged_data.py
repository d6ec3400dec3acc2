"""Damaged files: task graphs in JSON, published tables of a study, results of a sweep and records of their origin."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

from bad_input_type import BadInput, Repeated, Text
from places_of_files import ALL, GRAPH, at

MANY = 60_000
SEGMENT = (
    '{"compute_ps":1000000,"kernel":"k","accesses":[{"region":"a","offset":64,"row_bytes":64,"rows":1,"stride":0,'
    '"mode":"read","pattern":"sequential"}]},'
)
ONE_WRONG = '"segments": [{"compute_ps": -1}]}'
GRAPH_TEXTS: dict[str, tuple[Text, tuple[str, ...]]] = {
    "cut off": ('{"tasks": [', (":1:12: ", "this is not JSON", "numasim workload import reads other forms")),
    "nested lists": ("[" * 100_000, ("nested deeper than 100 levels", "a flatter document")),
    "nested objects": ('{"parameters": ' * 500 + "1" + "}" * 500, ("nested deeper than 100 levels",)),
    "nested below the limit": ('{"tasks": ' + "[" * 99 + "]" * 99 + "}", ("tasks[0]: ",)),
    "key twice": ('{"name": "a", "name": "b"}', ("the key 'name' is given twice", "every key once")),
    "many keys twice": (
        '{"facts": {' + ",".join(f'"{i}": 0' for i in range(MANY)) + f', "{MANY - 1}": 0}}}}',
        (f"the key '{MANY - 1}' is given twice",),
    ),
    "many unknown keys": (
        "{" + ",".join(f'"{i}": 0' for i in range(MANY)) + "}",
        ("there is no key '0'", "expected one of format, name"),
    ),
    "40 MB of empty lists": (Repeated('{"tasks": [', "[],", 14_000_000, "[]]}"), ("tasks[0]: ", "not an empty list")),
    "40 MB of empty lists in one": (Repeated("[", "[],", 14_000_000, "[]]"), ("valid dictionary", "not a list")),
    "40 MB of ops, all wrong": (
        Repeated('{"tasks": [{"ops": [', "{},", 14_000_000, "{}]}]}"),
        ("tasks[0].ops[0]: ", "an op is"),
    ),
    "40 MB of parameters": (
        Repeated('{"parameters": {"a": [', "{},", 14_000_000, "{}]}}"),
        ("parameters: ", "a value is longer than 8 MiB"),
    ),
    "12 MB of empty tasks before the first wrong one": (
        Repeated('{"tasks": [', "{},", 4_000_000, '{"kind": 3}]}'),
        ("tasks[4000000].kind: ", "not 3"),
    ),
    "40 MB of tasks and a wrong segment": (
        Repeated('{"tasks": [', '{"kind":"task","ops":[["run",0],["wait"]],"then":[]},', 770_000, "{}]," + ONE_WRONG),
        ("segments[0].compute_ps: ", "greater than or equal to 0"),
    ),
    "40 MB of segments, and the last one is wrong": (
        Repeated('{"segments": [', SEGMENT, 270_000, '{"compute_ps": -1}]}'),
        ("segments[270000].compute_ps: ", "greater than or equal to 0"),
    ),
    "40 MB of ops, and the last one is wrong": (
        Repeated('{"tasks": [{"ops": [', '["run",0],', 4_000_000, "[]]}]}"),
        ("tasks[0].ops[4000000]: ", "an op is"),
    ),
    "40 MB of regions": (
        Repeated('{"regions": [', '{"name":"a","bytes":1},', 1_800_000, '{"name":"a","bytes":1}]}'),
        ("regions: there are more than 100,000", "fewer"),
    ),
    "40 MB cut off": (Repeated('{"tasks": [', "{},", 14_000_000, ""), (":1:42000012: ", "2 of its brackets are open")),
    "4 MB, and the last character is wrong": (
        '{"name": "' + "x" * 2**22 + '", "tasks": [], "facts": {}, "kernels": [],}',
        (":1:", "this is not JSON"),
    ),
    "not a number": ('{"facts": {"a": NaN}}', ("NaN is not allowed", "a finite number")),
    "infinity": ('{"parameters": {"a": -Infinity}}', ("-Infinity is not allowed", "a finite number")),
    "10^400": ('{"parameters": {"a": 1e400}}', ("1e400 is out of range", "a finite number of moderate size")),
    "5,000 digits": ('{"facts": {"a": ' + "9" * 5000 + "}}", ("thousands of digits", "at most 4,300")),
    "half a character": ('{"name": "\\ud800"}', ("half a surrogate pair", "the character itself")),
    "list": ("[]", ("valid dictionary", "not an empty list")),
    "text": ('"' + "x" * 100_000 + '"', ("valid dictionary", "not 'xxx", "...")),
    "null": ("null", ("valid dictionary", "not nothing (null)")),
    "two values": ("{} {}", (":1:4: ", "Extra data")),
    "comment": ("// no\n{}", (":1:1: ", "this is not JSON")),
    "single quotes": ("{'tasks': []}", (":1:2: ", "this is not JSON")),
    "trailing comma": ('{"tasks": [],}', (":1:", "this is not JSON")),
    "unescaped line end": ('{"name": "a\nb"}', (":1:12: ", "Invalid control character")),
    "tasks is a number": ('{"tasks": 3}', ("tasks: ", "valid list", "not 3")),
    "task is a text": ('{"tasks": ["one"]}', ("tasks[0]: ", "not 'one'")),
    "op is a mapping": ('{"tasks": [{"ops": [{}]}]}', ("tasks[0].ops[0]: ", 'an op is ["run", segment]')),
    "op number is true": ('{"tasks": [{"ops": [["run", true]]}]}', ("tasks[0].ops[0]: ", "an op is")),
    "op number of 2^32": ('{"tasks": [{"ops": [["run", 4294967296]]}]}', ("tasks[0].ops[0]: ", "an op is")),
    "time of 2^62": ('{"segments": [{"compute_ps": 4611686018427387904}]}', ("segments[0].compute_ps: ", "less than")),
    "time is text": ('{"segments": [{"compute_ps": "1"}]}', ("segments[0].compute_ps: ", "a whole number")),
    "negative time": ('{"segments": [{"compute_ps": -1}]}', ("segments[0].compute_ps: ", "greater than or equal to 0")),
    "region of 2^62 bytes": ('{"regions": [{"name": "a", "bytes": 4611686018427387904}]}', ("regions[0].bytes: ",)),
    "repeats of 2^62": (
        '{"tasks": [{}], "phases": [{"roots": [0], "repeat": 4611686018427387904}]}',
        ("phases[0].repeat: ", "less than"),
    ),
    "key under another name": (
        '{"segments": [{"compute_ps": 1, "accesses": [{"region": "a", "offset": 0, "bytes": 8}]}]}',
        ("segments[0].accesses[0].bytes: there is no key 'bytes'", "row_bytes"),
    ),
    "key that is missing": (
        '{"regions": [{"name": "a"}]}',
        ("regions[0].bytes: this key is missing", "a value for it"),
    ),
    "XML": ("<graph/>", (":1:1: ", "this is not JSON")),
    "YAML": ("tasks: []\n", (":1:1: ", "this is not JSON")),
    "npz cut off": (b"PK\x03\x04" + bytes(30), ("the archive has no end", "numpy.savez")),
    "npz of 100,000 members": (
        b"PK\x03\x04" + bytes(40) + b"PK\x05\x06" + bytes(4) + b"\xff" * 8 + bytes(6),
        ("the archive has too many members", "at most 4,096 arrays"),
    ),
    "packed": (gzip.compress(b'{"tasks": []}', mtime=0), ("not text in UTF-8",)),
}


def bad_graphs() -> Iterator[BadInput]:
    """Yield each damaged graph for the command that checks graphs, and some damaged graphs for other commands."""
    for name, (text, says) in GRAPH_TEXTS.items():
        yield at("workload import", name, text, "given.json", *says)
    for place in ALL:
        if place.kind == GRAPH and place.name != "workload import":
            for name in ("nested lists", "5,000 digits", "10^400", "half a character", "task is a text"):
                text, says = GRAPH_TEXTS[name]
                yield at(place.name, name, text, "given.json", *says)


HEADER = "program,plain_s,domains_s\n"
CSV_TEXTS = {
    "header alone": (HEADER, "is no table"),
    "column twice": ("program,plain_s,plain_s\nsmall,4,2\n", "is no table"),
    "short row": (HEADER + "small,4\n", ":2: this row has 2 values, the header 3"),
    "long row": (HEADER + "small,4,2,1\n", ":2: this row has 4 values, the header 3"),
    "number is text": (HEADER + "small,four,2\nlarge,9,3\n", ":2: plain_s: got 'four'; expected a finite number"),
    "not a number": (HEADER + "small,nan,2\nlarge,9,3\n", ":2: plain_s: got 'nan'; expected a finite number"),
    "10^400": (HEADER + "small,1e400,2\nlarge,9,3\n", ":2: plain_s: got '1e400'; expected a finite number"),
    "underscore": (HEADER + "small,4_0,2\nlarge,9,3\n", ":2: plain_s: got '4_0'; expected a finite number"),
    "unfinished quote": (HEADER + 'small,"4,2\n', "no CSV: unexpected end of data"),
    "value of 200,000 letters": (HEADER + f"small,{'4' * 200_000},2\n", ":2: no CSV: field larger than field limit"),
}
BAD_CSV = [at("published table", name, text, "times.csv", says) for name, (text, says) in CSV_TEXTS.items()]
PROVENANCES = {
    "cut off": ('{"spec_hash"', ":1:"),
    "list": ("[]", "is damaged"),
    "no hash": ('{"history": []}', "is damaged"),
    "history is a number": ('{"spec_hash": "x", "history": 3}', "is damaged"),
    "another hash": ('{"spec_hash": "x", "history": []}', "results of another specification"),
    "nested": ("[" * 5000, "nested deeper than 100 levels"),
    "hash twice": ('{"spec_hash": "x", "spec_hash": "y"}', "'spec_hash' is given twice"),
}
BAD_PROVENANCES = [at("provenance of a sweep", name, text, "out", says) for name, (text, says) in PROVENANCES.items()]
RESULTS = {"cut off": b"PAR1", "magic alone": b"PAR1PAR1", "length too large": b"PAR1\xff\xff\xff\x7fPAR1"}
BAD_RESULTS = [at("plot", name, data, "res/results.parquet: is damaged or not") for name, data in RESULTS.items()]
