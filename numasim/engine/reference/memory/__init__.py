"""What memory accesses cost during a run: pages, caches, bandwidth shared by flows, speeds of cores (model 2)."""
