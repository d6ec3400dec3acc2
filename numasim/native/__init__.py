"""The compiled engine: C++ around decisions in C. Absent where it could not be built; the reference engine remains."""
