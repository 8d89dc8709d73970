"""Fair Enough: models selected by performance and fairness."""
