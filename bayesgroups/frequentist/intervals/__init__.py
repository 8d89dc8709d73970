"""Intervals of one subgroup at a time: pure functions on arrays."""

from bayesgroups.frequentist.intervals.interval import Interval as Interval
