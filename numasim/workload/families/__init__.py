"""The families of task graphs: one benchmark a file."""
