"""The effects of the machine that a plan is simulated with, as integers (model 2.4 to 2.9)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numasim.parts.base import bytes_per_s, ppm
from numasim.parts.models.effects_model import BackgroundSpec, ModelSpec
from numasim.parts.unit_factors import MILLION

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Background:
    """Bytes per second that others use: pairs of a node and the load of its memory controller, and of the two ends of a
    link and the load in this direction.
    """

    nodes: tuple[tuple[int, int], ...] = ()
    links: tuple[tuple[tuple[int, int], int], ...] = ()


NO_BACKGROUND = Background()


@dataclass(frozen=True)
class Effects:
    """What of the machine a run takes into account; the names are those of `ModelSpec` in the specification."""

    cache: str = "none"
    contention: str = "none"
    queueing: str = "none"
    local_share_ppm: int = 0
    smt: str = "none"
    clock: str = "fixed"
    overlap_ppm: int = MILLION
    mlp_ppm: int = MILLION
    task_noise_ppm: int = 0
    worker_spread_ppm: int = 0
    background: Background = NO_BACKGROUND

    def combined_ps(self, compute_ps: int, wait_ps: int) -> int:
        """Computing and waiting for memory, of which the share ``overlap`` of the shorter hides behind the longer."""
        exposed = min(compute_ps, wait_ps) * (MILLION - self.overlap_ppm) + MILLION // 2
        return max(compute_ps, wait_ps) + exposed // MILLION

    def combined_array_ps(self, compute_ps: I64, wait_ps: I64) -> I64:
        """`combined_ps` of each pair."""
        whole, rest = np.divmod(np.minimum(compute_ps, wait_ps), MILLION)
        exposed_ppm = MILLION - self.overlap_ppm
        exposed = whole * exposed_ppm + (rest * exposed_ppm + MILLION // 2) // MILLION
        return np.asarray(np.maximum(compute_ps, wait_ps) + exposed, np.int64)


NO_EFFECTS = Effects()


def effects_of(spec: ModelSpec) -> Effects:
    """The effects that a specification asks for."""
    return Effects(
        cache=spec.cache,
        contention=spec.contention,
        queueing=spec.queueing,
        local_share_ppm=ppm(spec.local_share),
        smt=spec.smt,
        clock=spec.clock,
        overlap_ppm=ppm(spec.overlap),
        mlp_ppm=ppm(spec.mlp),
        task_noise_ppm=ppm(spec.task_noise),
        worker_spread_ppm=ppm(spec.worker_spread),
        background=_background_of(spec.background),
    )


def _background_of(spec: BackgroundSpec) -> Background:
    nodes = sorted((node, bytes_per_s(gbs)) for node, gbs in spec.nodes.items())
    links = sorted(((link.source, link.target), bytes_per_s(link.gbs)) for link in spec.links)
    return Background(tuple(nodes), tuple(links)) if spec.loads else NO_BACKGROUND
