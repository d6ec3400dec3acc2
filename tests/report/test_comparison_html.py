"""A comparison in a notebook: its sentences, and the numbers of its table in their units."""

import html

import pytest

from numasim.engine.unit_text import time_text
from numasim.report.answers.question import compare


@pytest.fixture
def small(frame_maker):
    return frame_maker(workers=(2, 8), repeats=3)


def test_it_says_the_sentences_and_every_row(small):
    found = compare(small)
    page = html.unescape(found._repr_html_())
    assert all(sentence in page for sentence in (*found.sentences, *found.notes))
    for row in found.table.to_dict("records"):
        assert f">{time_text(row['median'])}</td>" in page
        assert f"{row['percent']:+.1f} %, {'faster' if row['percent'] < 0 else 'slower'}" in page
        assert f"{row['percent_low']:+.1f} % to {row['percent_high']:+.1f} %" in page
    assert page.count("<tr>") == 1 + len(found.table)


def test_ratios_have_differences_and_nothing_explains_them(small):
    page = compare(small, column="steal_remote_ratio")._repr_html_()
    assert ">-0." in page  # of topology-aware
    assert "because" not in page


def test_names_are_escaped_and_equal_tables_give_equal_bytes(small):
    small["strategy"] = small["strategy"].replace("threshold", "<script>x</script>")
    page = compare(small)._repr_html_()
    assert "<script>" not in page
    assert page == compare(small.copy())._repr_html_()


def test_long_tables_are_cut_short_and_say_so(frame_maker):
    long = frame_maker(
        programs=["matmul n=256"], strategies=["randomized", "threshold"], workers=range(2, 65), repeats=2
    )
    assert "3 more rows in .table" in compare(long)._repr_html_()
