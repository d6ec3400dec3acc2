"""The memory of a run: pages, caches, bandwidth shared by flows, speeds of cores (model 2)."""
