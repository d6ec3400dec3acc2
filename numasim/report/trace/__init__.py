"""Traces of single runs for Perfetto, Paje and Paraver, written during the run."""
