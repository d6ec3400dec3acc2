"""Damaged published tables, results and provenance."""

from __future__ import annotations

from places_of_files import at

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
