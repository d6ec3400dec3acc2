"""The size of a program, predicted and counted, and the limits of sizes."""
