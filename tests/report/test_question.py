"""Questions about a sweep: effects worked out by hand, the words for effects, and refused questions.

A question compares the values of one axis in every setting of the other axes. Two runs that share a seed are a pair. A
difference is sure if its p-value, corrected for the number of settings, is below 0.05. A cause is one or more parts of
the workers' time.
"""

from __future__ import annotations

import math

import pandas as pd
import pytest
from hand_made import REPEATS, always, busy, cell, table
from hypothesis import given, settings
from hypothesis import strategies as st

import numasim as ns
from numasim.engine.result import TIME
from numasim.errors import InputError

compare = ns.compare


def two_strategies(first, other, **shared):
    return table(cell(first, strategy="randomized", **shared), cell(other, strategy="steal-half", **shared))


def only(comparison):
    assert len(comparison.table) == 1
    return comparison.table.iloc[0]


def test_a_paired_difference_has_its_interval_and_p_value():
    found = compare(two_strategies(busy(200, 220, 180, 200, 240, 160), busy(160, 176, 144, 160, 204, 120)))
    row = only(found)
    assert (found.axis, found.baseline, found.column) == ("strategy", "randomized", "makespan_ps")
    assert (row.strategy, row.baseline, row.workers, row.pairs) == ("steal-half", "randomized", 2, 6)
    assert (row.baseline_median, row["median"], row.difference) == (100, 80, -20)
    assert (row.difference_low, row.difference_high) == (
        -22,
        -18,
    )  # the interval of six pairs is their range; the differences are -20, -22, -18, -20, -18, -20
    assert (row.percent, row.percent_low, row.percent_high) == pytest.approx((-20, -25, -15))
    assert row.p == row.holm_p == 2 / 2**6  # all signs of six agree
    assert row.correlation == pytest.approx(1)
    assert row.sure
    assert found.sentences == (
        "steal-half is 20.0 % faster than randomized on fib with 2 workers (15.0 to 25.0).",
    )  # p = 0.03 is small enough to claim a difference, but not to name its cause


def test_causes_are_pooled_and_add_up():
    before = always(100, idle_steal_ps=40, idle_backoff_ps=20, overhead_ps=40)
    after = always(100, idle_steal_ps=50, parked_ps=2, overhead_ps=22, inflation_numa_ps=6)
    for each in before:
        each["lock_wait_ps"] = 20
    found = compare(two_strategies(before, after))  # the time of two workers falls from 200 to 180
    row = only(found)
    assert row.percent == pytest.approx(-10)
    parts = {name: row[f"part_{name}"] for name in ("work", "remote_memory", "lock_waits", "overhead", "waiting")}
    expected = {"work": 0, "remote_memory": 6, "lock_waits": -20, "overhead": 2, "waiting": -8}
    assert parts == pytest.approx({name: 100 * change / 200 for name, change in expected.items()})
    assert row.because == (
        "waiting for locks falls by 10.0 % and waiting for work by 4.0 % (mostly in back-off),"
        " while all else rises by 4.0 %"
    )
    assert found.sentences[0].endswith(f"(10.0 to 10.0), because {row.because}.")


def test_no_cause_without_a_sure_difference():
    row = only(compare(two_strategies(busy(200, 220, 180), busy(190, 240, 172))))
    assert not row.sure
    assert row.because == ""
    equal = compare(two_strategies(busy(200, 220), busy(200, 220)))
    assert equal.sentences[0].endswith(": no pair of runs differs.")
    same = only(equal)
    assert (same.percent, same.sure, same.because) == (0, False, "")
    six = only(compare(two_strategies(busy(*[200] * 6), busy(*[200] * 6))))
    assert (six.p, six.sure) == (1, False)


def test_a_part_is_named_only_if_its_own_sign_is_sure():
    before = [{"work_local_ps": 100, "idle_steal_ps": idle, "overhead_ps": 100 - idle} for idle in (20, 60) * 6]
    after = [{"work_local_ps": 60, "idle_steal_ps": idle, "overhead_ps": 100 - idle} for idle in (60, 20) * 6]
    row = only(compare(two_strategies(before, after)))
    assert row.because == "work falls by 20.0 %"


def test_a_ratio_differs_by_itself_and_a_baseline_of_zero_by_an_amount():
    frame = two_strategies(always(100), always(100))
    frame["steal_miss_ratio"] = [0.5] * REPEATS + [0.4] * REPEATS
    frame["page_faults"] = [0] * REPEATS + [12] * REPEATS
    row = only(compare(frame, column="steal_miss_ratio"))
    assert row.difference == pytest.approx(-0.1)
    assert math.isnan(row.percent)
    assert compare(frame, column="steal_miss_ratio").sentences == (
        "Steal miss ratio is 0.100 lower under steal-half than under randomized on fib with 2 workers"
        " (0.100 to 0.100).",
    )
    assert compare(frame, column="page_faults").sentences == (
        "Page faults are 12 higher under steal-half than under randomized on fib with 2 workers (12 to 12).",
    )
    assert "because" not in "".join(compare(frame, column="page_faults").sentences)


def test_a_ratio_of_nothing_makes_no_pair():
    frame = two_strategies(busy(100, 100), busy(100, 100))
    frame["steal_miss_ratio"] = [0.5, None, 0.4, 0.4]
    found = compare(frame, column="steal_miss_ratio")
    assert only(found).pairs == 1
    assert found.sentences[0].endswith("-0.100, of a single pair: at least 6 are needed to be sure.")


def test_without_values_there_is_nothing_to_say():
    cells = [cell(busy(100), workers=workers, strategy=name) for workers in (2, 4) for name in ("a", "b")]
    frame = table(*cells).assign(steal_miss_ratio=math.nan)
    for runs in (frame, frame[frame.workers == 2]):
        (sentence,) = compare(runs, "strategy", column="steal_miss_ratio").sentences
        assert sentence.endswith(": no pair of runs has values.")


def test_failed_runs_make_no_pairs():
    frame = two_strategies(busy(100, 100, 100), busy(80, 80, 80))
    frame["error"] = [None, "broken", None, None, None, "broken"]
    assert only(compare(frame)).pairs == 1


def test_workers_are_compared_by_the_time_of_one_worker():
    frame = table(cell(always(80, workers=2)), cell(always(80, workers=4, idle_steal_ps=20)))
    row = only(compare(frame))
    assert row.percent == pytest.approx(-37.5)  # 40 to 25
    assert (row.part_work, row.part_waiting) == pytest.approx((-50, 12.5))
    sentence = compare(frame).sentences[0]
    assert sentence.startswith("4 workers are 37.5 % faster than 2 on fib (37.5 to 37.5), because work falls by 50.0 %")
    assert "while all else rises by 12.5 %" in sentence


def test_axes_that_move_together_are_one():
    frame = table(
        cell(busy(100), workload="fib", runtime="own", workers=2),
        cell(busy(120), workload="sort", runtime="ompi", workers=2),
        cell(busy(80), workload="fib", runtime="own", workers=1),
        cell(busy(90), workload="sort", runtime="ompi", workers=1),
    )
    for name in ("workload+runtime", "runtime+workload", "workload", "runtime", None):
        found = compare(frame, name)
        assert found.axis == "workload+runtime"
        assert found.baseline == "fib + own"
        assert list(found.table.workers) == [2, 1]
    assert compare(frame, "workload", "sort").baseline == compare(frame, "runtime", ("sort", "ompi")).baseline


@pytest.mark.parametrize(
    ("axis", "values", "given", "baseline"),
    [
        ("model.task_noise", (None, 0.5), None, "null"),
        ("model.task_noise", (None, 0.5), "null", "null"),
        ("model.task_noise", (None, 0.5), math.nan, "null"),
        ("model.task_noise", (None, 0.5), 0.5, "0.5"),
        ("model.task_noise", (None, 0.5), "0.5", "0.5"),
        ("strategy", ("cilk", "like=cilk amount=half"), {"like": "cilk", "amount": "half"}, "like=cilk amount=half"),
    ],
)
def test_a_baseline_is_given_as_a_value_of_python_or_as_text(axis, values, given, baseline):
    found = compare(table(*(cell(busy(100), **{axis: value}) for value in values)), axis, given)
    assert found.baseline == baseline
    assert len(found.table) == 1


def test_an_object_is_the_value_of_its_name():
    ring, other = ns.Machine.ring(2, name="ring"), ns.Machine.ring(2, name="other")
    frame = table(*(cell(busy(100), machine=name) for name in ("other", "ring")))
    assert compare(frame, "machine", ring).baseline == "ring"
    twice = table(*(cell(busy(100), machine=name) for name in ("other", "ring", "ring (2)")))
    assert compare(twice, "machine", other).baseline == "other"
    with pytest.raises(InputError, match=r"machine has 2 values called 'ring'; expected one of ring, ring \(2\)"):
        compare(twice, "machine", ring)
    with pytest.raises(InputError, match="does not take the value 'tilepro64'; expected one of other, ring"):
        compare(frame, "machine", ns.Machine.shipped("tilepro64"))


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match=r"got 'results/x'; expected what ns.sweep or ns.run returned"):
        compare("results/x")


def test_seeds_pair_by_repeat():
    frame = table(cell(always(100), seed=1), cell(always(110), seed=2))
    found = compare(frame, "seed")
    assert only(found).pairs == REPEATS
    assert "share the repeat" in found.notes[0]


def test_many_settings_are_summed_up():
    cells = [
        cell(always(100, idle_steal_ps=steal), strategy=name, workers=workers)
        for workers, steals in {1: (40, 80), 2: (40, 20), 4: (40, 20), 5: (0, 0)}.items()
        for name, steal in zip(("randomized", "steal-half"), steals, strict=True)
    ]
    (sentence,) = compare(table(*cells)).sentences
    assert sentence == (
        "steal-half is surely faster than randomized in 2 of 4 settings, by 14.3 % to 14.3 %: most on fib with 2"
        " workers (14.3 to 14.3), because waiting for work falls by 14.3 % (mostly in probes); slower in 1 of 4"
        " settings, by 28.6 % on fib with 1 worker (28.6 to 28.6), because waiting for work rises by 28.6 % (mostly in"
        " probes); in 1 no difference is sure."
    )


def test_the_default_axis_is_the_strategy_else_what_varies_beside_the_workers():
    both = [
        cell(busy(100), strategy=name, workers=count, **{"runtime.poll_ns": poll})
        for poll in (1, 2)
        for count in (1, 2)
        for name in ("a", "b")
    ]
    frame = table(*both)
    assert compare(frame).axis == "strategy"
    assert compare(frame[frame.strategy == "a"]).axis == "runtime.poll_ns"
    assert compare(frame[(frame.strategy == "a") & (frame["runtime.poll_ns"] == 1)]).axis == "workers"


def test_what_there_is_not_is_refused_with_the_nearest_name():
    frame = two_strategies(busy(100), busy(90))
    with pytest.raises(InputError, match=r"no axis of these runs is called 'strategies'.*did you mean 'strategy'"):
        compare(frame, "strategies")
    with pytest.raises(InputError, match=r"does not take the value 'steal-haf'.*did you mean 'steal-half'"):
        compare(frame, "strategy", "steal-haf")
    with pytest.raises(InputError, match=r"no numeric column .* 'makespan'.*did you mean 'makespan_ps'"):
        compare(frame, column="makespan")
    with pytest.raises(InputError, match="no axis has two values"):
        compare(frame[frame.strategy == "steal-half"])
    with pytest.raises(InputError, match="has no column strategy"):
        compare(pd.DataFrame({"machine": [], "workload": []}))


def test_it_is_said_what_intervals_cover():
    frame = two_strategies(busy(100, 100, 100), busy(90, 90, 90))
    assert "cover them with 75 %, as the range of 3 pairs does" in compare(frame).notes[0]  # 1 - 2 / 2**3
    assert "such as victims; tasks take the same times in all repeats; not what" in compare(frame).notes[1]
    frame["serial_ps"] = [1, 2, 3, 1, 2, 3]
    found = compare(frame)
    assert "such as victims and the tasks' times (task_noise); not what" in found.notes[1]
    assert "of 3 pairs: at least 6 are needed to be sure" in found.sentences[0]
    assert all(line in str(found) for line in (*found.sentences, *found.notes))


splits = st.lists(st.lists(st.integers(1, 10**6), min_size=len(TIME), max_size=len(TIME)), min_size=4, max_size=12)


@settings(max_examples=20)
@given(splits, st.integers(1, 3), st.integers(1, 3))
def test_parts_add_up_and_the_other_baseline_mirrors(times, few, many):
    half = len(times) // 2

    def runs(some, workers):
        return [{name: workers * time for name, time in zip(TIME, each, strict=True)} for each in some]

    frame = table(
        cell(runs(times[:half], few), strategy="a", workers=few),
        cell(runs(times[half : 2 * half], many), strategy="b", workers=many),
    )
    name = "strategy+workers" if few != many else "strategy"
    there, back = only(compare(frame, name)), only(compare(frame, name, frame.strategy.iloc[-1]))
    for row in (there, back):
        assert sum(row[each] for each in row.index if each.startswith("part_")) == pytest.approx(row.percent)
    assert back.difference == -there.difference
    assert (back.difference_low, back.difference_high) == pytest.approx((-there.difference_high, -there.difference_low))
    assert back.p == pytest.approx(there.p, nan_ok=True)


def contended(link, bytes_remote, contention):
    same = {"work_local_ps": 100, "inflation_contention_ps": contention, "bytes_remote": bytes_remote}
    return [{**same, "link_busy_max": link + step} for step in (0, 0.01, -0.01, 0.02, -0.02, 0) * 2]


def test_the_link_that_got_busier_is_named_beside_contention():
    frame = two_strategies(contended(0.3, 2**20, 20), contended(0.6, 2**20 + 2**10, 60))
    frame["imc_busy_max"] = [0.5] * REPEATS + [0.4] * REPEATS  # a load that falls is no cause of a rise in time
    assert only(compare(frame)).because == "contention rises by 33.3 % (busiest link 0.600 instead of 0.300)"


def test_the_kind_of_idleness_that_makes_half_of_the_change_is_named():
    frame = two_strategies(always(100), always(100, idle_barrier_ps=60, idle_steal_ps=40))
    assert only(compare(frame)).because == "waiting for work rises by 100.0 % (mostly at barriers)"
    frame = two_strategies(always(100), always(100, idle_barrier_ps=40, idle_steal_ps=30, idle_backoff_ps=30))
    assert only(compare(frame)).because == "waiting for work rises by 100.0 %"


def test_waits_for_lines_are_called_an_upper_bound_only_where_they_are_a_cause():
    served = compare(two_strategies(always(100, line_thief_ps=50), always(100, line_thief_ps=10)))
    assert "waiting for cache lines of queues falls by" in served.sentences[0]
    assert [note for note in served.notes if "an upper bound" in note and "A-81" in note]
    searching = compare(two_strategies(always(100, idle_steal_ps=50), always(100, idle_steal_ps=10)))
    assert not [note for note in searching.notes if "upper bound" in note]


def test_long_values_are_cut_in_sentences_alone():
    frame = table(cell(always(100), strategy="a"), cell(always(90), strategy="b" * 100))
    found = compare(frame)
    assert found.sentences[0].startswith("b" * 57 + "... is 10.0 % faster than a on fib")
    assert found.values == ("b" * 100,)


def test_a_setting_names_what_varies():
    cells = [
        cell(always(works), machine=machine, strategy=name, **{"model.task_noise": noise})
        for machine, noise, after in (("ring", 0.5, 200), ("ring", 0.1, 198), ("mesh", 0.5, 196), ("mesh", 0.1, 194))
        for name, works in (("a", 200), ("b", after))
    ]
    (sentence,) = compare(table(*cells)).sentences
    assert sentence.startswith("b is surely faster than a in 3 of 4 settings, by 1.0 % to 3.0 %: most on fib with 2")
    assert " workers of mesh, model.task_noise=0.1 (3.0 to 3.0), because" in sentence
    assert sentence.endswith("in 1 no difference is sure.")


def test_a_column_that_was_added_is_compared_and_is_no_axis():
    frame = two_strategies(always(100), always(50))
    frame["elapsed"] = frame["makespan_ps"] / 8
    frame["noted"] = range(2 * REPEATS)
    assert (
        compare(frame, column="elapsed").sentences[0].startswith("Elapsed is 50.0 % lower under steal-half than under")
    )
    assert compare(frame).axis == "strategy"
    with pytest.raises(InputError, match=r"did you mean 'elapsed'"):
        compare(frame, column="elapse")
    with pytest.raises(InputError, match="has no column idle_steal_ps"):
        compare(frame.drop(columns="idle_steal_ps"))


def test_axes_begin_with_fields_of_a_specification():
    from numasim.report.comparison_cells import FIELDS
    from numasim.spec.run_spec import FIELDS as OF_RUNS

    assert {*OF_RUNS} - {"repeat", "sweep"} | {"iteration"} == FIELDS


def test_what_few_pairs_cannot_say_is_said():
    """If all pairs have the same sign, p is 2 / 2**pairs. For three settings, 3 p is below 0.05 from seven pairs on."""
    five = compare(two_strategies(busy(*[100] * 5), busy(*[80] * 5)))
    assert (only(five).sure, math.isnan(only(five).p)) == (False, True)
    assert five.sentences[0].endswith("-20.0 % (-20.0 to -20.0), of 5 pairs: at least 6 are needed to be sure.")

    def three(pairs):
        works = {"a": [200] * pairs, "b": [180] * pairs}
        return compare(table(*(cell(busy(*works[name]), strategy=name, workers=w) for w in (1, 2, 4) for name in "ab")))

    assert three(6).sentences[0].endswith("-10.0 to -10.0 %, of 6 pairs: at least 7 are needed to be sure.")
    assert not three(6).table.sure.any()  # 3 x 2 / 2**6 = 0.09
    assert three(7).table.sure.all()  # 3 x 2 / 2**7 = 0.047


def test_pairs_are_said_to_sharpen_only_where_they_do():
    """The pairs' ranks are 1 to 6 in one strategy and 3, 5, 1, 6, 2, 4 in the other: their squared differences add up
    to 34, and the rank correlation is 1 - 6 x 34 / (6 x 35) = 0.03.
    """
    first = busy(10, 20, 30, 40, 50, 60)
    alike = compare(two_strategies(first, busy(12, 22, 32, 42, 52, 62)))
    assert "pairs: rank correlation 1.00: differences within pairs are sharper than between runs" in alike.notes
    unlike = compare(two_strategies(first, busy(30, 50, 10, 60, 20, 40)))
    assert "pairs: rank correlation 0.03: pairs sharpen little" in unlike.notes


def test_a_field_is_asked_about_before_programs_with_their_runtimes():
    cells = [
        cell(busy(100), workload=name, runtime=runtime, **{"runtime.poll_ns": poll})
        for name, runtime in (("fib", "own"), ("sort", "ompi"))
        for poll in (1, 2)
    ]
    assert compare(table(*cells)).axis == "runtime.poll_ns"


def on_machines(**columns):
    """Return runs on machines `a` and `b`; runs on `b` are shorter by a fifth. ``columns`` have a value by machine."""
    cells = []
    for at, (machine, works) in enumerate((("a", (200, 220, 180) * 2), ("b", (160, 176, 144) * 2))):
        rows = cell(busy(*works), machine=machine)
        cells.append([{**row, **{name: values[at] for name, values in columns.items()}} for row in rows])
    return table(*cells)


def test_no_machine_is_called_faster_by_assumption():
    """A recorded task computes for the same time on every machine, so an answer must not call one machine `faster`."""
    found = compare(on_machines(), "machine")
    assert found.sentences == (
        "With cores taken to be equally fast, makespan is 20.0 % lower on b than on a on fib with 2 workers "
        "(20.0 to 20.0).",
    )
    assert found.notes[0] == "no machine is called faster: cores of all machines are taken to be equally fast"
    assert "-20.0 %, lower" in found._repr_html_()
    assert "difference (+: higher)" in str(found)
    unsure = compare(table(cell(busy(200, 220), machine="a"), cell(busy(200, 220), machine="b")), "machine")
    assert unsure.sentences[0].startswith(
        "With cores taken to be equally fast, makespan is not surely lower or higher on b than on a"
    )
    other = compare(on_machines(), "machine", column="steal_attempts")
    assert other.sentences[0].startswith("With cores taken to be equally fast, steal attempts are not surely")


def test_a_machine_on_which_times_are_scaled_is_called_faster():
    text = "fib was recorded on somewhere"
    found = compare(on_machines(time_factor=(0.5, 0.25), recording=(text, text)), "machine")
    assert found.sentences[0].startswith("b is 20.0 % faster than a on fib")
    assert "-20.0 %, faster" in found._repr_html_()
    assert found.notes[:2] == (
        text,
        "compute times of fib are multiplied by 0.5 on a and 0.25 on b: by the rates of cores (core_steps_per_s)",
    )
    assert not any("equally fast" in note for note in found.notes)


def test_machines_with_and_without_scaled_times_say_which():
    found = compare(on_machines(time_factor=(math.nan, 0.25), recording=("r", "r")), "machine")
    assert found.sentences[0].startswith(
        "With cores of a taken to be as fast as those of the recording, makespan is 20.0 % lower on b than on a"
    )
    assert "are not scaled on a: cores are taken to be as fast as those of the recording" in found.notes[2]
    assert found.notes[3].startswith("no machine is called faster than one on which times are not scaled")


def test_answers_to_other_questions_say_it_where_machines_stand_side_by_side():
    frame = pd.concat([on_machines(), on_machines().assign(strategy="steal-half")], ignore_index=True)
    found = compare(frame, "strategy")
    assert "faster" in found.sentences[0]  # `faster` refers to a strategy
    assert found.notes[0] == "no machine is called faster: cores of all machines are taken to be equally fast"
