"""numasim: a discrete-event simulator of work stealing on NUMA multicores."""

__version__ = "0.1.0"
