"""What ships, for people: families of workloads, runtimes and sweeps in lines of text."""
