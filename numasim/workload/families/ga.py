"""The island model of a genetic algorithm, a CPU-bound program of LAWS (Chen and Guo 2015, Table III).

Every island has a population of individuals in memory of its own. An iteration has two phases. In the first phase every
island evolves for a number of generations. In the second phase, after all islands have evolved, every island replaces
its last individuals by copies of the first individuals of its predecessor in the ring of islands. A tree of tasks
divides the islands; a leaf is an island. Evolving takes a time for each gene of each individual and generation.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from numasim.parts.base import Whole
from numasim.workload.algorithms.row_tree import planted, row_tree, tree_shapes, tree_totals
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.graph import Loop, Mode, Op, Phase, Region, Workload
from numasim.workload.parameters import Family, Size, WorkloadParameters, WorkTime, compute_ps
from numasim.workload.totals import Totals, access, memory, segment, task

BRANCHING = 2
KERNELS = ("evolve", "migrate")
EVOLVE, MIGRATE = range(len(KERNELS))
Many = Annotated[Whole, Field(ge=1, le=10**6)]


class GaParameters(WorkloadParameters):
    """Island model of a genetic algorithm: islands evolve by themselves, then copy individuals from a neighbour."""

    name: Literal["ga"] = Field(description="The name of this workload.")
    islands: Size = Field(description="Islands, each a leaf of a tree of tasks.")
    individuals: Many = Field(64, description="Individuals of an island.")
    genes: Many = Field(64, description="Genes of an individual, a byte each.")
    generations: Many = Field(10, description="Generations between two migrations.")
    migrants: Size = Field(2, description="Individuals that an island takes from the island before.")
    iterations: Size = Field(1, description="How often the islands evolve and exchange individuals.")
    ps_per_1000_genes: WorkTime = Field(
        5_000_000, description="Time to evaluate, cross and mutate 1,000 genes of a generation; assumed."
    )

    @model_validator(mode="after")
    def _migrants_fit(self) -> Self:
        if 2 * self.migrants > self.individuals:
            raise ValueError(f"migrants: {self.migrants} of {self.individuals} individuals; expected at most half")
        return self

    @property
    def island_bytes(self) -> int:
        """Bytes of a population."""
        return self.individuals * self.genes

    @property
    def evolve_ps(self) -> int:
        """Time for which an island evolves."""
        return int(compute_ps(self.island_bytes * self.generations, self.ps_per_1000_genes))

    def totals(self) -> Totals:
        """Return the size of the program: both phases, all iterations."""
        taken = self.migrants * self.genes
        evolve = task(segment(self.evolve_ps, access(self.island_bytes, mode=Mode.READ_WRITE)))
        migrate = task(segment(0, access(taken), access(taken, mode=Mode.WRITE)))
        leaves = (evolve + migrate).times(self.islands)
        trees = tree_totals(self.islands, BRANCHING).times(2)
        return (leaves + trees).repeated(self.iterations) + memory(self.islands * self.island_bytes)


def ga(parameters: GaParameters) -> Workload:
    """Return a loop of two phases: a tree of tasks that evolves the islands, and a tree that copies individuals."""
    trees, phase = planted([row_tree(parameters.islands, BRANCHING)] * len(KERNELS))
    shape, shapes = tree_shapes(trees, Shape((Op.RUN,), (EVOLVE,), (1,)))
    migrate = len(shapes)
    shape = np.where((shape == 0) & (phase == MIGRATE), migrate, shape)
    draft = Draft(trees.parent, shape, [*shapes, Shape((Op.RUN,), (MIGRATE,), (2,))])
    draft.compute(EVOLVE, parameters.evolve_ps)
    island, size = trees.first[draft.tasks(EVOLVE)], parameters.island_bytes
    draft.access(EVOLVE, 0, region=0, offset=island * size, row_bytes=size, mode=Mode.READ_WRITE)
    island, taken = trees.first[draft.tasks(migrate)], parameters.migrants * parameters.genes
    before = (island - 1) % parameters.islands
    draft.access(migrate, 0, region=0, offset=before * size, row_bytes=taken, mode=Mode.READ)
    draft.access(migrate, 1, region=0, offset=(island + 1) * size - taken, row_bytes=taken, mode=Mode.WRITE)
    roots = draft.position[trees.parent < 0].tolist()
    return draft.finish(
        **made_of(parameters),
        kernels=KERNELS,
        regions=(Region("populations", parameters.islands * size, False),),
        phases=[Phase(roots=(root,), name=name) for root, name in zip(roots, KERNELS, strict=True)],
        loops=[Loop(0, len(KERNELS), parameters.iterations)],
        facts={"evolved_genes": parameters.islands * size * parameters.generations * parameters.iterations},
    )


SMALL = {"islands": 5, "individuals": 4, "genes": 8, "generations": 2, "migrants": 1, "iterations": 3}
FAMILIES = (Family(GaParameters, ga, small=SMALL, benchmark={"islands": 256, "iterations": 10}),)
