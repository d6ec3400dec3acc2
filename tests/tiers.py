"""The tier of each module of tests, and the list of slow tests.

unit      One module, compared with values worked out by hand. No builds, no processes, no figures.
equality  Two ways to the same result: one engine and another, a shortcut and its plain definition, C and Python.
theory    The model compared with published closed forms, bounds and tables.
system    All that a user runs, installs or looks at: commands, processes, threads, clusters, figures, pages, wheels.

Pytest runs slow tests only if it is called with `-m slow`. A test is slow for one of two reasons. Either the test takes
seconds, and a faster test checks the same rule on fewer cases. Or the test needs a build, a browser, a cluster or
processes that are killed.
"""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
TIERS = ("unit", "equality", "theory", "system")

FOLDERS = {  # the tier of a module that is not named below
    ".": "unit",
    "bad_inputs": "system",
    "benchmark": "system",
    "docs": "unit",
    "engine": "unit",
    "files": "system",
    "machine": "unit",
    "native": "equality",
    "objects": "unit",
    "package": "system",
    "record": "unit",
    "report": "unit",
    "reproduce": "system",
    "runtime": "system",
    "spec": "unit",
    "schema": "unit",
    "strategy": "unit",
    "strategy/control": "unit",
    "sweep": "system",
    "theory": "theory",
    "validate": "system",
    "workload": "unit",
    "workload/imports": "unit",
}

MODULES = {
    "docs/test_site.py": "system",
    "engine/test_background.py": "equality",
    "engine/test_engines_agree.py": "equality",
    "engine/test_every_value.py": "equality",
    "engine/test_objects.py": "equality",
    "engine/test_pages.py": "equality",
    "engine/test_ragged_ranges.py": "equality",
    "engine/test_serial_alone.py": "equality",
    "engine/test_share_against_lru.py": "equality",
    "engine/test_sharing.py": "equality",
    "engine/test_shortcuts.py": "equality",
    "engine/test_skippable.py": "equality",
    "engine/test_unlike_nodes.py": "equality",
    "engine/test_watch.py": "equality",
    "machine/test_draft.py": "system",
    "machine/test_drawing.py": "system",
    "machine/test_hwloc_topologies.py": "system",
    "machine/test_import.py": "system",
    "machine/test_import_to_run.py": "system",
    "native/test_binding_fuzz.py": "system",
    "native/test_event_tree.py": "unit",
    "native/test_extension.py": "system",
    "package/test_imports.py": "unit",
    "package/test_files_in_one_place.py": "unit",
    "record/test_recorded_programs.py": "system",
    "report/test_compare_command.py": "system",
    "report/test_contrasts.py": "system",
    "report/test_figures.py": "system",
    "report/test_perfetto.py": "system",
    "report/test_run_figures.py": "system",
    "report/test_sweep_page.py": "system",
    "report/test_sweep_page_in_chromium.py": "system",
    "report/test_statistics.py": "equality",
    "report/test_trace.py": "equality",
    "reproduce/test_calibration.py": "unit",
    "reproduce/test_ceilings_of_the_thesis.py": "unit",
    "reproduce/test_metrics.py": "unit",
    "reproduce/test_printed_twice.py": "unit",
    "reproduce/test_reproduction_text.py": "unit",
    "reproduce/test_scores.py": "unit",
    "runtime/test_compiled_strategies.py": "equality",
    "runtime/test_kernels_against_generators.py": "equality",
    "runtime/test_kernels_in_virtual_time.py": "equality",
    "runtime/test_virtual_against_native.py": "equality",
    "spec/test_schema.py": "equality",
    "strategy/test_compile_strategy.py": "equality",
    "strategy/test_interpreter.py": "equality",
    "strategy/test_placement.py": "equality",
    "strategy/test_similarity.py": "equality",
    "workload/test_folded.py": "equality",
    "workload/test_forest_layout.py": "equality",
    "workload/test_published_counts.py": "theory",
    "workload/test_synchronisation_programs.py": "theory",
}

SLOW = (  # modules, tests, or tests with some parameters; a test is slow if its name begins with an entry
    "bad_inputs/test_bad_inputs.py::test_the_others",
    "docs/test_site.py",
    "engine/test_engines_agree.py::test_engines_agree_on_every_second_strategy",
    "engine/test_engines_agree.py::test_engines_agree_on_the_strategies_between",
    "engine/test_every_value.py",
    "engine/test_shortcuts.py::test_random_production",
    "engine/test_unlike_nodes.py::test_engines_agree_on_random_runs_on_unlike_nodes[1]",
    "engine/test_unlike_nodes.py::test_engines_agree_on_random_runs_on_unlike_nodes[2]",
    "engine/test_unlike_nodes.py::test_engines_agree_on_random_runs_on_unlike_nodes[3]",
    "files/test_folders_of_commands.py",
    "files/test_killed_commands.py",
    "files/test_one_rule.py",
    "files/test_standard_streams.py::test_a_",
    "files/test_standard_streams.py::test_paths",
    "files/test_standard_streams.py::test_standard",
    "files/test_standard_streams.py::test_what",
    "machine/test_import_to_run.py::test_every_kind_of_machine",
    "native/test_binding_fuzz.py",
    "package/test_notebooks.py::test_a_long_one_runs_with_less_to_do",
    "package/test_notebooks.py::test_a_quick_one_prints_and_draws_what_is_kept",
    "package/test_python_interface.py::test_every_name_works_whatever_came_before",
    "package/test_sanitized_build.py::test_no_sanitizer_objects_to_the_engine",
    "package/test_startup.py",
    "package/test_wheel.py",
    "package/test_without_compiler.py",
    "record/test_recorded_loops.py::test_loops",
    "record/test_recorded_loops.py::test_t",
    "report/test_figures.py::test_a_figure_is_drawn_once_for_each_file",
    "report/test_run_figures.py",
    "report/test_sweep_page_in_chromium.py",
    "reproduce/test_page_in_chromium.py",
    "reproduce/test_questions.py",
    "reproduce/test_reproduction_figures.py",
    "reproduce/test_thesis_calibration.py",
    "runtime/test_compiled_programs.py",
    "runtime/test_contract.py::test_every_case",
    "runtime/test_contract.py::test_sanitizers",
    "runtime/test_interleavings.py",
    "runtime/test_kernels_in_virtual_time.py::test_a_kernel_counts_what_the_simulator_counts",
    "runtime/test_refused_pools.py",
    "runtime/test_resting_threads.py::test_the_thread_sanitizer_reports_nothing",
    "runtime/test_serial_mode.py::test_newest_first",
    "runtime/test_serial_mode.py::test_stolen",
    "runtime/test_serial_mode.py::test_what_is_recorded",
    "runtime/test_tasks_told_apart.py",
    "runtime/test_threads.py::test_no_sanitizer",
    "runtime/test_threads.py::test_a_probe_fails",
    "runtime/test_threads.py::test_every_strategy_runs_every_task_once",
    "runtime/test_threads.py::test_joins_that_can_be_stuck_say_so",
    "runtime/test_threads.py::test_promises_to_programs_are_kept[lanes",
    "runtime/test_threads.py::test_ten_thousand_random_graphs_lose_and_repeat_no_task",
    "runtime/test_threads_in_turns.py::test_a_lost_wake_up_is_found_and_its_seed_repeats_it",
    "runtime/test_threads_in_turns.py::test_no_seed_loses_or_repeats_a_task",
    "runtime/test_threads_in_turns.py::test_threads_steal_as_the_simulator_says[nanos-bf",
    "runtime/test_threads_in_turns.py::test_threads_steal_as_the_simulator_says[p",
    "runtime/test_threads_in_turns.py::test_threads_steal_as_the_simulator_says[skelaff",
    "runtime/test_threads_in_turns.py::test_threads_steal_as_the_simulator_says[w",
    "runtime/test_threads_in_turns.py::test_threads_steal_as_the_simulator_says[x",
    "runtime/test_virtual_against_native.py::test_every_family_under_every_shipped_strategy",
    "sweep/test_cluster_sweep.py::test_a_",
    "sweep/test_cluster_sweep.py::test_an",
    "sweep/test_cluster_sweep.py::test_nobody",
    "sweep/test_cluster_sweep.py::test_the_bytes",
    "sweep/test_failing_files.py",
    "sweep/test_killed_sweep.py::test_an_interrupt",
    "sweep/test_run_sweep.py::test_a_failed_run_has_its_message_and_the_others_their_results",
    "sweep/test_run_sweep.py::test_fail_fast",
    "sweep/test_run_sweep.py::test_runs_for_which",
    "validate/test_reports.py::test_rows",
    "validate/test_validation_page.py",
    "workload/test_limits.py::test_no_program_has_more_than_its_totals",
    "workload/test_limits.py::test_the_value_that_is_proposed_fits_and_no_larger_one_does",
    "workload/test_published_counts.py::test_sort_at_the_published_size",
    "workload/test_random_ranks.py",
    "workload/test_synchronisation_programs.py::test_affinity_makes_every_construct_of_table_6_4_cheaper",
    "workload/test_synchronisation_programs.py::test_what_the_runtime_does_for_a_construct_adds_to_its_overhead",
)
LONG_SECONDS = 15  # a run names each module whose fast tests together take longer

LONGEST = (  # modules that run first, so that no process runs one of them at the end, when all other processes are done
    "package/test_sanitized_build.py",
    "package/test_wheel.py",
    "package/test_notebooks.py",
)


def rank_of(module: Path) -> int:
    """Return the position of a module in `LONGEST`, or the position behind all of them."""
    name = module.relative_to(TESTS).as_posix()
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def tier_of(module: Path) -> str:
    """Return the tier of a module of tests; KeyError for a folder without a tier."""
    name = module.relative_to(TESTS)
    return MODULES.get(name.as_posix()) or FOLDERS[name.parent.as_posix()]


def is_slow(module: Path, test: str) -> bool:
    """Return whether a test of a module, by its name with parameters, is slow."""
    return f"{module.relative_to(TESTS).as_posix()}::{test}".startswith(SLOW)


def asked_for(module: Path, expression: str) -> bool:
    """Return whether ``pytest -m expression`` may select a test of the module; True for an unusual form of expression.

    The usual forms are "slow", "not slow" and tiers with "or" between them, in parentheses where more follows by "and".
    """
    name = module.relative_to(TESTS).as_posix()
    parts = expression.split(" and ")
    if len(parts) > 1 and any(" or " in part and not part.startswith("(") for part in parts):
        return True
    for part in parts:
        words = {word.strip(" ()") for word in part.split(" or ")}
        if words <= set(TIERS) and tier_of(module) not in words:
            return False
        if words == {"slow"} and not any(entry.startswith(name) for entry in SLOW):
            return False
        if words == {"not slow"} and name in SLOW:
            return False
    return True
