"""What people read: answers in tables, summaries of one run, and the standard figures."""
