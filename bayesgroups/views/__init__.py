"""A report shown: plots, tables, pages."""
