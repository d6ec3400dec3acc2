"""Pages, Markdown and CSV files of a reproduction."""
