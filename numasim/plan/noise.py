"""Random relative deviations, close to normal, in integers (model 1.4).

One random number gives one deviation: the sum of its four 16-bit lanes, less its mean, over its standard deviation. It
is scaled, rounded towards zero, and kept between -90 and +300 per cent.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from numasim.draws import U64Array
from numasim.parts.unit_factors import MILLION

I64 = npt.NDArray[np.int64]

LEAST_PPM, MOST_PPM = -900_000, 3_000_000
LANES_MEAN, LANES_DEVIATION = 131_070, 37_837  # of the sum of four uniform 16-bit numbers


def noise_ppm(number: int, deviation_ppm: int) -> int:
    """The relative deviation, in ppm, that the random number ``number`` gives."""
    lanes = sum(number >> shift & 0xFFFF for shift in (0, 16, 32, 48)) - LANES_MEAN
    scaled = abs(lanes) * deviation_ppm // LANES_DEVIATION
    return min(MOST_PPM, max(LEAST_PPM, -scaled if lanes < 0 else scaled))


def noisy_ps(time_ps: int, number: int, deviation_ppm: int) -> int:
    """``time_ps`` with the deviation that the random number ``number`` gives."""
    return time_ps * (MILLION + noise_ppm(number, deviation_ppm)) // MILLION


def shortest_noisy_ps(time_ps: int, deviation_ppm: int) -> int:
    """The least that `noisy_ps` makes of ``time_ps``, whatever the number."""
    return time_ps * (MILLION + LEAST_PPM) // MILLION if deviation_ppm else time_ps


def noisy_array_ps(time_ps: I64, numbers: U64Array, deviation_ppm: int) -> I64:
    """`noisy_ps` on every element; whole millions and the rest apart, so that no product has more than 63 bits."""
    lanes = np.full(numbers.shape, -LANES_MEAN)
    for shift in (0, 16, 32, 48):
        lanes += (numbers >> np.uint64(shift) & np.uint64(0xFFFF)).astype(np.int64)
    noise = np.clip(np.sign(lanes) * (np.abs(lanes) * deviation_ppm // LANES_DEVIATION), LEAST_PPM, MOST_PPM)
    millions, rest = np.divmod(time_ps, MILLION)
    noisy: I64 = millions * (MILLION + noise) + rest * (MILLION + noise) // MILLION
    return noisy
