"""Files of task graphs, in whatever form they are."""
