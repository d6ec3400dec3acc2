"""Conversion factors from the units of files and reports to the simulator's integers: picoseconds, bytes, ppm."""

PS_PER_NS = 10**3
PS_PER_US = 10**6
PS_PER_S = 10**12
GIGA = 10**9  # bytes in a gigabyte, cycles a second in a gigahertz
MILLION = 10**6  # parts per million in a whole
MOST_STEPS_PER_S = 2 * 10**9  # the highest rate of a core, so that the product of two rates fits 63 bits
