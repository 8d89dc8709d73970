"""Disagreement feedback: identified bounds on rates from second opinions."""
