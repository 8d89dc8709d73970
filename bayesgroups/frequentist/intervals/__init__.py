"""Intervals and shrinkage as pure functions: arrays in, arrays out, one idea per file.

===================  ========================================================================================
file                 what it holds
===================  ========================================================================================
``interval``         the pair of arrays every function returns, and quantiles
``proportions``      Wilson, Jeffreys, Clopper-Pearson, Wald and bootstrap percentile, for counts
``areas``            logit, Newcombe and Wald, for areas under the ROC curve
``means``            pooled normal, pooled t, separate normal, t
``shrunk``           what every empirical-Bayes fit returns
``moments``          moment (DerSimonian-Laird) estimate of the between-group variance, plug-in interval
``bock``             James-Stein in Bock's form: one factor for all groups, and an interval from its errors
``morris``           Morris's correction for estimated hyper-parameters
``critical_values``  the largest non-coverage under bounded moments, and the critical value it asks for
``robust``           robust empirical Bayes, valid on average whatever the groups are drawn from
``fab``              frequentist intervals assisted by Bayes, exact in every group
===================  ========================================================================================

The last six of them take any leading axes before the groups. All give NaN where a value is not defined, and
none clips to the range of a metric. SciPy is imported only by the functions that need it.
"""

from bayesgroups.frequentist.intervals.interval import Interval as Interval
