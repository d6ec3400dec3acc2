"""The workers of a Dask cluster as an executor of batches."""
