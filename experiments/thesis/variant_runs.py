"""Single runs of a study's variants with all their tables, for figures of more than one quantity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from numasim.draws import repeat_seed
from numasim.engine.result import Result, node_pairs
from numasim.engine.simulate import DEFAULT_ENGINE, simulate_spec
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.reproduce.programs import Wanted, check_known
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study
from numasim.spec.identity import identity

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class VariantRuns:
    """Runs of one row under several variants on ``machine``. In tables the variant is the strategy."""

    machine: Machine
    results: Mapping[str, Result]

    def frame(self) -> pd.DataFrame:
        """Return a row for each variant, like the results table of a sweep."""
        import pandas as pd

        return pd.DataFrame([result.row() | {"error": None} for result in self.results.values()])

    def node_pairs(self) -> pd.DataFrame:
        """Return a row for each variant and ordered pair of nodes, like the node-pair table of a sweep."""
        import pandas as pd

        tables = (
            pd.DataFrame({name: pairs.ravel() for name, pairs in node_pairs(result).items()}).assign(
                run_id=result.identity["run_id"]
            )
            for result in self.results.values()
        )
        return pd.concat(list(tables), ignore_index=True)


def variant_runs(
    study: Study, program: str, row: str, variants: Sequence[str], *, engine: str = DEFAULT_ENGINE
) -> VariantRuns:
    """Simulate ``row`` of a program with the study's first seed. Raise InputError for an unknown name."""
    check_known("program", [program], study.programs)
    chosen = study.programs[program]
    check_known("row", [row], chosen.rows)
    check_known("variant", variants, chosen.variants)
    setting = Setting(study)
    specs = {variant: setting.spec(Wanted(chosen, row, variant)) for variant in variants}
    results = {}
    for variant, spec in specs.items():
        seed = repeat_seed(spec.seed, 0)
        result = simulate_spec(spec, seed, engine)
        result.identity = identity(spec, seed, engine) | {"workload": row, "strategy": variant}
        results[variant] = result
    return VariantRuns(build(next(iter(specs.values())).machine), results)
