"""How posteriors are drawn and judged: exact engines, NUTS, the bootstrap, and the verdicts on each."""
