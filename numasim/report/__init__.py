"""Reports of runs and sweeps: answers in tables and sentences, figures, traces, notebooks, pages."""
