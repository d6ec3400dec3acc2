"""A sweep in a notebook: what was swept, what came out, what failed; nothing that is not escaped."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from numasim.engine.unit_text import time_text
from numasim.report.answers.question import compare
from numasim.report.notebooks.sweep_html import sweep_html

PLACE = Path("results/here")


class Words(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.cells, self.words, self.bold = [], "", []
        self.tags = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self._now = tag

    def handle_data(self, data):
        self.words += f"{data}\n"
        if self._now == "b":
            self.bold.append(data)


@pytest.fixture
def small(frame_maker):
    return frame_maker(workers=(2, 8), repeats=3)


def test_it_says_what_was_swept(small):
    page = Words(sweep_html(small, PLACE)).words
    assert "Sweep of 36 runs: xeon-e5-2620-2s" in page  # 2 programs, 3 strategies, 2 numbers of workers, 3 repeats
    assert "matmul n=256, strassen n=1024" in page
    assert "randomized, threshold, topology-aware" in page
    assert "2, 8" in page
    assert "results/here" in page


def test_it_has_the_sentences_of_the_comparison(small):
    page = Words(sweep_html(small, PLACE)).words
    assert all(sentence in page for sentence in compare(small).sentences)


def test_no_median_stands_out(small):
    """The least in bold would say more than three repeats can: nothing of them is sure."""
    medians = small.groupby(["workload", "workers", "strategy"], sort=False)["makespan_ps"].median()
    page = Words(sweep_html(small, PLACE))
    assert not page.bold
    assert all(time_text(value) in page.words for value in medians)


def test_failed_runs_are_counted_with_their_messages(small):
    small.loc[small.index[:2], "error"] = "a < b"
    page = Words(sweep_html(small, PLACE)).words
    assert "2 of 36 runs failed:" in page
    assert "2 x a < b" in page


def test_where_all_runs_failed_there_is_no_answer(small):
    small["error"] = "no"
    page = Words(sweep_html(small, PLACE)).words
    assert "36 of 36 runs failed:" in page
    assert "What came out" not in page


def test_where_nothing_varies_there_is_no_answer(frame_maker):
    one = frame_maker(programs=["matmul n=256"], strategies=["randomized"], workers=(2,), repeats=3)
    page = Words(sweep_html(one, PLACE)).words
    assert "Sweep of 3 runs: matmul n=256, xeon-e5-2620-2s, randomized" in page
    assert "What came out" not in page


def test_long_axes_are_cut_short_and_say_so(frame_maker):
    two = ["randomized", "threshold"]
    long = frame_maker(programs=["matmul n=256"], strategies=two, workers=range(2, 32), repeats=2)
    page = Words(sweep_html(long, PLACE)).words
    assert "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 and 18 more" in page
    assert "18 more settings" in page


def test_hostile_names_are_escaped_and_equal_tables_give_equal_bytes(small):
    small["strategy"] = small["strategy"].replace("threshold", "<script>x</script>")
    page = sweep_html(small, Path("<i>"))
    assert not {"script", "i"} & Words(page).tags
    assert "<script>x</script>" in Words(page).words
    assert page == sweep_html(small.copy(), Path("<i>"))
