"""Structured regression in pure functions of arrays: lasso, cross-validation, partial ridge, bootstrap.

All take ``x`` (subgroup, column), ``z`` (subgroup,) and ``w`` (subgroup,): features, standard estimates and their
weights, 1 / sampling variance, of subgroups that have an estimate.
"""
