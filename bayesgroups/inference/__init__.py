"""Engines that draw posteriors, and the checks on each: exact engines, NUTS, the bootstrap, diagnostics."""
