"""The effects of the machine that a plan simulates, as integers (model 2.4 to 2.9): fields of `ModelSpec`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from numasim.draws import U64Array
from numasim.frozen import Frozen
from numasim.parts.base import bytes_per_s, ppm
from numasim.parts.models.effects_model import ModelSpec
from numasim.parts.unit_factors import MILLION

I64 = npt.NDArray[np.int64]


class Background(Frozen):
    """The load of other programs on the machine, in bytes per second."""

    nodes: tuple[tuple[int, int], ...] = ()  # (node, load of the node's memory controller)
    links: tuple[tuple[tuple[int, int], int], ...] = ()  # ((source, target), load of the link in this direction)


NO_BACKGROUND = Background()


class Effects(Frozen):
    """The effects of the machine that a run simulates, by the names of the fields of `ModelSpec`."""

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
        """Return the ps of computing and waiting; the share ``overlap`` of the shorter hides behind the longer."""
        exposed = min(compute_ps, wait_ps) * (MILLION - self.overlap_ppm) + MILLION // 2
        return max(compute_ps, wait_ps) + exposed // MILLION

    def combined_array_ps(self, compute_ps: I64, wait_ps: I64) -> I64:
        """Return `combined_ps` of each pair."""
        whole, rest = np.divmod(np.minimum(compute_ps, wait_ps), MILLION)
        exposed_ppm = MILLION - self.overlap_ppm
        exposed = whole * exposed_ppm + (rest * exposed_ppm + MILLION // 2) // MILLION
        return np.asarray(np.maximum(compute_ps, wait_ps) + exposed, np.int64)


NO_EFFECTS = Effects()


def effects_of(spec: ModelSpec) -> Effects:
    """Return the effects that a specification asks for."""
    nodes = ((node, bytes_per_s(gbs)) for node, gbs in spec.background.nodes.items())
    links = (((link.source, link.target), bytes_per_s(link.gbs)) for link in spec.background.links)
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
        background=Background(tuple(sorted(nodes)), tuple(sorted(links))) if spec.background.loads else NO_BACKGROUND,
    )


# ---- Random relative deviations, close to normal, in integers (model 1.4) --------------------------------------------
#
# One random number gives one deviation: the sum of its four 16-bit lanes, less the mean, over the standard deviation.
# The deviation is scaled, rounded towards zero, and kept between -90 and +300 per cent.

LEAST_PPM, MOST_PPM = -900_000, 3_000_000
LANES_MEAN, LANES_DEVIATION = 131_070, 37_837  # mean and standard deviation of the sum of four uniform 16-bit numbers


def noise_ppm(number: int, deviation_ppm: int) -> int:
    """Return the relative deviation, in ppm, for the random number ``number``."""
    lanes = sum(number >> shift & 0xFFFF for shift in (0, 16, 32, 48)) - LANES_MEAN
    scaled = abs(lanes) * deviation_ppm // LANES_DEVIATION
    return min(MOST_PPM, max(LEAST_PPM, -scaled if lanes < 0 else scaled))


def noisy_ps(time_ps: int, number: int, deviation_ppm: int) -> int:
    """Return ``time_ps`` with the deviation for the random number ``number``."""
    return time_ps * (MILLION + noise_ppm(number, deviation_ppm)) // MILLION


def shortest_noisy_ps(time_ps: int, deviation_ppm: int) -> int:
    """Return the least `noisy_ps` of ``time_ps`` over all random numbers."""
    return time_ps * (MILLION + LEAST_PPM) // MILLION if deviation_ppm else time_ps


def noisy_array_ps(time_ps: I64, numbers: U64Array, deviation_ppm: int) -> I64:
    """Return `noisy_ps` of each element; whole millions are scaled apart from remainders: products fit 63 bits."""
    lanes = np.full(numbers.shape, -LANES_MEAN)
    for shift in (0, 16, 32, 48):
        lanes += (numbers >> np.uint64(shift) & np.uint64(0xFFFF)).astype(np.int64)
    noise = np.clip(np.sign(lanes) * (np.abs(lanes) * deviation_ppm // LANES_DEVIATION), LEAST_PPM, MOST_PPM)
    millions, rest = np.divmod(time_ps, MILLION)
    noisy: I64 = millions * (MILLION + noise) + rest * (MILLION + noise) // MILLION
    return noisy
