"""Simulations whose results are recorded under ``tests/recovery/records`` with the command that makes them."""
