"""What programs compute that decides the shape of their task graphs."""
