"""Exact engines: whatever can be integrated in closed form is, and the one or two scales left lie on a grid.

Group effects are integrated out, so nothing has to be tuned, compiled or diagnosed by chains: every draw is an
independent draw from the posterior, up to a numerical error that is measured and reported with each fit.
"""
