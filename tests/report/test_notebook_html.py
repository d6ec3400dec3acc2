"""Runs, sweeps and comparisons in a notebook: numbers with units, sentences, and escaped text."""

import html
import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import numasim as ns
from numasim import html as pieces
from numasim.engine.columns import DESCRIBED
from numasim.engine.result import LOCKS, MEMORY, OUTCOME, STEALS, TIME, TRANSACTIONS, Result
from numasim.engine.unit_text import time_text
from numasim.html import Html, Part, Shown, show_as
from numasim.report.answers.question import compare
from numasim.report.components import COMPONENTS
from numasim.report.notebooks.result_html import result_html
from numasim.report.notebooks.sweep_html import sweep_html

PLACE = Path("results/here")
SMALL = {"machine": "xeon-e5-2620-2s", "runtime": "own", "strategy": "randomized", "workers": 4}
HOSTILE = "<script>x</script>"


@pytest.fixture(scope="module")
def result():
    return ns.run({**SMALL, "workload": {"name": "strassen", "n": 256}})


@pytest.fixture
def small(frame_maker):
    return frame_maker(workers=(2, 8), repeats=3)


def words(page):
    return html.unescape(re.sub("<[^>]*>", "\n", page))


# ---- a run -----------------------------------------------------------------------------------------------------------


def made_up(split, moved):
    """Return a run with components ``split`` and the bytes ``moved`` between nodes; the last worker is a producer."""
    workers = len(split[0])
    columns = {c.column: np.array(row) for c, row in zip(COMPONENTS, split, strict=True)}
    columns |= {"role": np.array(["worker"] * (workers - 1) + ["producer"]), "node": np.arange(workers) % 2}
    counters = dict.fromkeys(OUTCOME + STEALS + MEMORY + LOCKS + TRANSACTIONS, 0)
    counters |= {"makespan_ps": 1_500_000, "serial_ps": 4_500_000, "line_owner_ps": 0, "line_thief_ps": 0}
    none, no_objects = np.zeros((2, 2), np.int64), np.zeros(0, np.int64)
    return Result(counters, columns, np.array(moved), none, none, np.zeros(2, np.int64), none, no_objects)


def test_the_split_leaves_producers_out_and_is_as_wide_as_its_shares():
    """Each of the two workers has 60 + 20 ps of work and 20 ps in the barrier; the producer's 999 ps do not count."""
    times = {"work_local_ps": [60, 20, 999], "idle_barrier_ps": [0, 20, 999]}
    split = [times.get(component.column, [0, 0, 0]) for component in COMPONENTS]
    page = result_html(made_up(split, [[3 * 2**20, 0], [2**20, 0]]))
    assert "2 workers" in page
    first = page.split("node 0, 1 worker")[0]
    assert re.findall(r"width: ([\d.]+)%; height: 20px; background-color: (#\w+)", first) == [
        ("80.000", "#009E73"),
        ("20.000", "#8C8C8C"),
    ]
    assert "work 80.0%" in first
    assert "barrier 20.0%" in first
    assert re.findall(r"width: ([\d.]+)%; height: 8px", page) == ["100.000", "50.000", "50.000"]


def test_traffic_is_told_by_node():
    page = result_html(made_up([[1, 1, 0]] * len(TIME), [[3 * 2**20, 0], [2**20, 0]]))
    assert "3 MiB on the own node, 1 MiB (25.0%) from other nodes" in page
    assert page.count("1 MiB</td>") == 1  # from node 1 to node 0; the made-up counters are zero


def test_a_run_has_every_counter_and_the_same_bytes_every_time(result):
    page = result._repr_html_()
    for name in (*OUTCOME, *STEALS, *MEMORY, *LOCKS, *TRANSACTIONS):
        assert f">{DESCRIBED[name].label}</td>" in page
    speedup = Fraction(result.counters["serial_ps"], result.counters["makespan_ps"])
    assert f"<b>{float(speedup):.3f}</b>" in page
    assert "strassen, xeon-e5-2620-2s, randomized, 4 workers" in page
    assert page == ns.run({**SMALL, "workload": {"name": "strassen", "n": 256}})._repr_html_()


def test_names_and_remarks_of_a_run_are_escaped(result, monkeypatch):
    monkeypatch.setattr(Result, "remarks", ["nobody < stole"])
    page = Result(**{**vars(result), "identity": {**result.identity, "machine": HOSTILE}})._repr_html_()
    assert "<script" not in page
    assert HOSTILE in words(page)
    assert "nobody &lt; stole" in page


# ---- a sweep ---------------------------------------------------------------------------------------------------------


def test_a_sweep_has_its_axes_its_sentences_and_its_medians(small):
    page = sweep_html(small, PLACE)
    text = words(page)
    assert "Sweep of 36 runs: xeon-e5-2620-2s" in text  # 2 programs, 3 strategies, 2 numbers of workers, 3 repeats
    for part in ("matmul n=256, strassen n=1024", "randomized, threshold, topology-aware", "2, 8", "results/here"):
        assert part in text
    assert all(sentence in text for sentence in compare(small).sentences)
    medians = small.groupby(["workload", "workers", "strategy"], sort=False)["makespan_ps"].median()
    assert all(time_text(value) in text for value in medians)
    assert "<b>" not in page  # three repeats are too few to mark a best strategy


def test_failed_runs_are_counted_with_their_messages(small):
    small.loc[small.index[:2], "error"] = "a < b"
    text = words(sweep_html(small, PLACE))
    assert "2 of 36 runs failed:" in text
    assert "2 x a < b" in text
    text = words(sweep_html(small.assign(error="no"), PLACE))
    assert "36 of 36 runs failed:" in text
    assert "What came out" not in text


def test_if_nothing_varies_there_is_no_answer(frame_maker):
    one = frame_maker(programs=["matmul n=256"], strategies=["randomized"], workers=(2,), repeats=3)
    text = words(sweep_html(one, PLACE))
    assert "Sweep of 3 runs: matmul n=256, xeon-e5-2620-2s, randomized" in text
    assert "What came out" not in text


# ---- a comparison ----------------------------------------------------------------------------------------------------


def test_a_comparison_has_its_sentences_and_every_row(small):
    found = compare(small)
    page = html.unescape(found._repr_html_())
    assert all(sentence in page for sentence in (*found.sentences, *found.notes))
    for row in found.table.to_dict("records"):
        assert f">{time_text(row['median'])}</td>" in page
        assert f"{row['percent']:+.1f} %, {'faster' if row['percent'] < 0 else 'slower'}" in page
        assert f"{row['percent_low']:+.1f} to {row['percent_high']:+.1f} %" in page
    assert page.count("<tr>") == 1 + len(found.table)


def test_ratios_have_differences_and_no_causes(small):
    page = compare(small, column="steal_remote_ratio")._repr_html_()
    assert ">-0." in page  # the negative difference of topology-aware
    assert "because" not in page


def test_long_axes_and_tables_are_cut_short_and_say_so(frame_maker):
    two = ["randomized", "threshold"]
    long = frame_maker(programs=["matmul n=256"], strategies=two, workers=range(2, 65), repeats=2)
    text = words(sweep_html(long, PLACE))
    assert "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 and 51 more" in text
    assert "51 more settings" in text
    assert "3 more rows in .table" in compare(long)._repr_html_()


@pytest.mark.parametrize(
    "shown", [lambda frame: sweep_html(frame, Path("<i>")), lambda frame: compare(frame)._repr_html_()]
)
def test_hostile_names_are_escaped_and_equal_tables_give_equal_bytes(small, shown):
    small["strategy"] = small["strategy"].replace("threshold", HOSTILE)
    page = shown(small)
    assert "<script" not in page
    assert "<i>" not in page
    assert HOSTILE in words(page)
    assert page == shown(small.copy())


# ---- pieces of HTML: every text escaped, well formed, bars as wide as their shares ----

CONTROLS = f'{HOSTILE} & "quoted" \N{RIGHT-TO-LEFT OVERRIDE}\x00'


class Walked(HTMLParser):
    """The elements and the text of a page; raises if an element is closed that is not open."""

    def __init__(self, page):
        super().__init__()
        self.open, self.seen, self.attributes, self.words = [], [], [], ""
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


MAKERS = {
    "panel": lambda word: pieces.panel(word, pieces.section(word, pieces.paragraph(word))),
    "note": pieces.note,
    "names_and_values": lambda word: pieces.names_and_values([(word, word, word)]),
    "table": lambda word: pieces.table([word, word], [[word, word]]),
    "shaded_table": lambda word: pieces.shaded_table(word, [word], [[(word, 1.0)]]),
    "bar": lambda word: pieces.bar([Part(word, 1.0, "#000000")]),
    "legend": lambda word: pieces.legend([Part(word, 1.0, "#000000")]),
    "listed": lambda word: pieces.listed([word]),
    "folded": lambda word: pieces.folded(word, word),
    "side_by_side": lambda word: pieces.side_by_side(word, word),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_hostile_words_stay_words(make):
    seen = Walked(make(CONTROLS))
    assert "script" not in seen.seen
    assert "\x00" not in seen.words
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in seen.words
    assert {name for name, _ in seen.attributes} <= {"style", "title"}
    assert any("<script>" in words for words in (seen.words, *(value for _, value in seen.attributes)))


@settings(max_examples=30)
@given(st.text())
def test_printable_text_is_read_as_it_was(word):
    readable = "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in word)
    assert Walked(pieces.paragraph(word)).words == readable


def test_html_is_not_escaped_again():
    assert pieces.joined(pieces.element("b", "a < b"), Html("<hr>")) == "<b>a &lt; b</b><hr>"


def widths(bar):
    return [
        float(style.split("width: ")[1].split("%")[0])
        for name, style in Walked(bar).attributes
        if name == "style" and "%" in style
    ]


def test_a_bar_is_as_wide_as_its_shares():
    parts = [Part("a", 0.25, "#111111"), Part("nothing", 0.0, "#222222"), Part("b", 0.75, "#333333")]
    assert widths(pieces.bar(parts)) == [25.0, 75.0]


def test_an_object_shows_what_was_entered_for_its_class():
    class Thing(Shown):
        pass

    assert Thing()._repr_html_() is None
    show_as(Thing, lambda thing: f"<b>{type(thing).__name__}</b>")
    assert Thing()._repr_html_() == "<b>Thing</b>"
