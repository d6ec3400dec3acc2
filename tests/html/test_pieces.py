"""Pieces of HTML: every text escaped, well formed, bars as wide as their shares."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numasim import html as pieces
from numasim.html import Html, Part, Shown, show_as

HOSTILE = "<script>alert('x')</script> & \"quoted\" \N{RIGHT-TO-LEFT OVERRIDE}\x00"


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
    seen = Walked(make(HOSTILE))
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


def test_what_is_gained_is_in_the_legend_and_not_in_the_bar():
    """1.25 of work and -0.25 of distance are 1: the bar has the work alone and is full."""
    parts = [Part("work", 1.25, "#111111"), Part("distance", -0.25, "#222222")]
    assert widths(pieces.bar(parts)) == [100.0]
    assert Walked(pieces.legend(parts)).words.split() == ["work", "125.0%", "distance", "-25.0%"]


def test_an_object_shows_what_was_entered_for_its_class():
    class Thing(Shown):
        pass

    assert Thing()._repr_html_() is None
    show_as(Thing, lambda thing: f"<b>{type(thing).__name__}</b>")
    assert Thing()._repr_html_() == "<b>Thing</b>"
