"""Task graphs as arrays of numpy in one file (npz): what the JSON form says, for millions of tasks."""
