"""Task graphs as arrays of numpy in one file (npz): the contents of the JSON form, for millions of tasks."""
