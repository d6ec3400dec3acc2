"""The Plan, the engines that run it, the Result, and the invariants that every result obeys."""
