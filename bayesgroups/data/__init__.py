"""Rows before they are sums: columns, metrics, dataframes of every kind."""
