"""The report: its schema, diagnostics, draws, comparison and views as plain arrays."""
