"""The frequentist side: one file per word, each with ``estimate(tally, ...) -> xr.Dataset``.

The answer has dims ``metric, subgroup, level``: ``estimate``, ``std_error``, ``lower``, ``upper`` (not clipped to the range of
the metric), ``interval_kind``, ``interval_method``, ``status`` and the hyper-parameters of the word. Beneath the words lie
pure functions on arrays: intervals of single subgroups in `intervals`, shrinkage in `moments`, `morris`, `robust` and `fab`.
"""
