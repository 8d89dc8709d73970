"""Intervals and shrinkage as pure functions: arrays in, arrays out, one idea per file.

=========================  ========================================================================================
file                       what it holds
=========================  ========================================================================================
``interval``               the pair of arrays every function returns, and quantiles
``proportions``            Wilson, Jeffreys, Clopper-Pearson, Wald and bootstrap percentile, for counts
``anytime``                limits of rates and means that hold at all looks together (confidence sequences)
``areas``                  logit, Newcombe and Wald, for areas under the ROC curve
``means``                  pooled normal, pooled t, separate normal, t
``shrunk``                 what every empirical-Bayes fit returns
``moments``                moment (DerSimonian-Laird) estimate of the between-group variance, plug-in interval
``bock``                   James-Stein in Bock's form: one factor for all groups, and an interval from its errors
``morris``                 Morris's correction for estimated hyper-parameters
``critical_values``        the largest non-coverage under bounded moments, and the critical value it asks for
``robust``                 robust empirical Bayes, valid on average whatever the groups are drawn from
``fab``                    frequentist intervals assisted by Bayes, exact in every group
``rate_differences``       Newcombe (MOVER-D), Miettinen-Nurminen and Mee, for differences of two rates
``rate_ratios``            Koopman, MOVER-R and Katz, for ratios of two rates
``odds_ratios``            score and Woolf, for ratios of two odds
``mantel_haenszel``        common difference, ratio and odds ratio of two rates across strata: standard errors
``weighted_rates``         MOVER, for weighted sums of rates
``post_stratified``        MOVER and delta method, where all rows have a decision and some an outcome
``prediction_powered``     PPI and PPI++, for means of few labelled rows beside many judged ones
``rogan_gladen``           prevalence from a judged rate, sensitivity and specificity
``finite_rates``           exact limits of the rate of a finite population (hypergeometric)
``weighted_score``         score limits of weighted sums of rates
``linear_contrasts``       variances of differences and log ratios of weighted sums, Welch's interval
``many_to_one``            critical values of comparisons with one value (Dunnett)
``comparisons_with_best``  limits against the best of the others (Hsu)
``crossings``              points where decreasing functions fall to 0
=========================  ========================================================================================

Those of shrinkage take any leading axes before the groups. All give NaN where a value is not defined, and
none clips to the range of a metric. SciPy is imported only by the functions that need it.
"""

from bayesgroups.frequentist.intervals.interval import Interval as Interval
