"""Which tier each module of tests belongs to: the only place that says so.

unit      One module against what was worked out by hand. Nothing is built, no process is started, no figure is drawn.
equality  Two ways to one result: engines against each other, a shortcut against its plain definition, C against Python.
theory    The model against what is published about it: closed forms, bounds, tables.
system    What a user runs, installs or looks at: commands, processes, threads, clusters, figures, pages, wheels.
"""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
TIERS = ("unit", "equality", "theory", "system")

FOLDERS = {  # the tier of a module that is not named below
    ".": "unit",
    "bad_inputs": "system",
    "benchmark": "system",
    "defects": "system",
    "docs": "unit",
    "engine": "unit",
    "files": "system",
    "html": "unit",
    "machine": "unit",
    "native": "equality",
    "objects": "unit",
    "package": "system",
    "record": "unit",
    "report": "unit",
    "reproduce": "system",
    "reproduce/calibration": "unit",
    "reproduce/ceilings": "unit",
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
    "benchmark/test_ratios.py": "unit",
    "benchmark/test_scale_table.py": "unit",
    "docs/test_site.py": "system",
    "engine/test_background.py": "equality",
    "engine/test_dealt_items.py": "equality",
    "engine/test_engine_properties.py": "equality",
    "engine/test_engines_agree.py": "equality",
    "engine/test_every_value.py": "equality",
    "engine/test_every_pair.py": "equality",
    "engine/test_every_placement.py": "equality",
    "engine/test_flow_properties.py": "equality",
    "engine/test_loads.py": "equality",
    "engine/test_long_times.py": "equality",
    "engine/test_objects.py": "equality",
    "engine/test_pages.py": "equality",
    "engine/test_plunder.py": "equality",
    "engine/test_ragged_ranges.py": "equality",
    "engine/test_range_effects.py": "equality",
    "engine/test_saturation.py": "theory",
    "engine/test_scarcity.py": "equality",
    "engine/test_serial_alone.py": "equality",
    "engine/test_share_against_lru.py": "equality",
    "engine/test_sharing.py": "equality",
    "engine/test_shortcuts.py": "equality",
    "engine/test_steady_production.py": "equality",
    "engine/test_skippable.py": "equality",
    "engine/test_skipping.py": "equality",
    "engine/test_unlike_nodes.py": "equality",
    "engine/test_watch.py": "equality",
    "files/test_one_writer.py": "unit",
    "machine/test_draft.py": "system",
    "machine/test_drawing.py": "system",
    "machine/test_hwloc_topologies.py": "system",
    "machine/test_import.py": "system",
    "machine/test_import_to_run.py": "system",
    "native/test_binding_fuzz.py": "system",
    "native/test_extension.py": "system",
    "objects/test_object_views.py": "system",
    "package/test_imports.py": "unit",
    "package/test_metadata.py": "unit",
    "package/test_named_files.py": "unit",
    "package/test_structure.py": "unit",
    "record/test_recorded_programs.py": "system",
    "report/test_byte_kinds.py": "system",
    "report/test_column_figure.py": "system",
    "report/test_compare_command.py": "system",
    "report/test_contrasts.py": "system",
    "report/test_figures.py": "system",
    "report/test_perfetto.py": "system",
    "report/test_run_figures.py": "system",
    "report/test_sweep_page.py": "system",
    "report/test_sweep_page_in_chromium.py": "system",
    "report/test_statistics.py": "equality",
    "report/test_trace.py": "equality",
    "reproduce/calibration/test_lowest_of_a_search.py": "equality",
    "reproduce/calibration/test_runs.py": "system",
    "reproduce/test_cells_of_tables.py": "unit",
    "reproduce/test_metrics.py": "unit",
    "reproduce/test_reproduction_text.py": "unit",
    "reproduce/test_scores.py": "unit",
    "reproduce/test_shares.py": "unit",
    "runtime/test_compiled_strategies.py": "equality",
    "runtime/test_kernels_against_generators.py": "equality",
    "runtime/test_kernels_in_virtual_time.py": "equality",
    "runtime/test_thread_words.py": "equality",
    "runtime/test_virtual_against_native.py": "equality",
    "runtime/test_virtual_pages.py": "equality",
    "runtime/test_virtual_times.py": "equality",
    "runtime/test_virtual_words.py": "equality",
    "spec/test_bad_input.py": "system",
    "spec/test_schema.py": "equality",
    "strategy/test_compile_strategy.py": "equality",
    "strategy/test_interpreter.py": "equality",
    "strategy/test_placement.py": "equality",
    "strategy/test_similarity.py": "equality",
    "sweep/test_axis_columns.py": "unit",
    "sweep/test_batch_size.py": "unit",
    "sweep/test_cluster_address.py": "unit",
    "workload/test_folded.py": "equality",
    "workload/test_forest_layout.py": "equality",
    "workload/test_kernel_rates.py": "theory",
    "workload/test_published_counts.py": "theory",
    "workload/test_search_trees.py": "equality",
    "workload/test_synchronisation_programs.py": "theory",
}

LONGEST = (  # modules that begin the tests, so that no process ends with one of them alone
    "package/test_sanitized_build.py",
    "package/test_wheel.py",
    "package/test_notebooks.py",
)


def rank_of(module: Path) -> int:
    """The place of a module among those that run before all others, or one behind them."""
    name = module.relative_to(TESTS).as_posix()
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def tier_of(module: Path) -> str:
    """The tier of a module of tests; ``KeyError`` where its folder has none."""
    name = module.relative_to(TESTS)
    return MODULES.get(name.as_posix()) or FOLDERS[name.parent.as_posix()]


def asked_for(expression: str) -> frozenset[str]:
    """The tiers that a `pytest -m` expression can select: all of them, unless it is a list of tiers joined by "or"."""
    named = {word.strip() for word in expression.split(" or ")}
    return frozenset(named if named <= set(TIERS) else TIERS)
