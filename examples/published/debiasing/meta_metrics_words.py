"""The sentences of the page of meta-metrics."""

from __future__ import annotations

INTRODUCTION = (
    "# Meta-metrics: published results and ours\n"
    "\n"
    "Lum, Zhang and Bower (2022, doi:10.1145/3531146.3533105) show that measures of disparity grow with "
    "sampling noise, and correct the variance between subgroups. This page repeats their simulations and "
    "their example, and adds estimators that they point to. Made by\n"
    "\n"
    "```sh\n"
    "python -m examples.published.debiasing.meta_metrics --output variances.csv\n"
    "python -m examples.published.debiasing.meta_metric_bias --output bias.csv\n"
    "python -m examples.published.debiasing.shortest_intervals --output shortest.csv\n"
    "python -m examples.published.debiasing.meta_metrics_figures --bias bias.csv --output .\n"
    "python -m examples.published.debiasing.meta_metrics_page --variances variances.csv --bias bias.csv "
    "--shortest shortest.csv --output meta_metrics.md\n"
    "```\n"
    "\n"
    "The three records lie under `tests/recovery/records`.\n"
)
DESIGNS = (
    "100 subgroups share 5,000 rows, 50 each or 10 to 90; true rates are all 0.8, or 0.1 to 0.9, which "
    "go with the sizes. The truth is the variance of the 100 true rates, 0 or 0.05496. {replications} "
    "simulations, 500 bootstrap replicates, 95 % intervals; Monte Carlo errors of the shares are at most "
    "{error:.1f} points."
)
READING = (
    "`corrected, unified` covers within a point of 95 % in all four designs, the two without any "
    "variance included. It has 60 and 55 % of the length of the double-corrected bootstrap there, the "
    "same length in the third design, and is 4 % longer in the fourth, where the bootstrap falls short "
    "of its level and no interval can be as short as that, see below. The bootstrap covers nearly always "
    "where the variance is 0, because it is cut off there: its lower end lies on the truth. That is no "
    "caution that pays elsewhere; its upper end is too far out, for a replicate has the noise of two "
    "samples. A two-sided interval that gives 2.5 % to either end covers 97.5 % at 0, where only one end "
    "can miss; `unified` gives all 5 % to that end."
)
"""What the numbers show; a test holds the record to it."""
CLASSIC = (
    "Intervals for tau^2 are for another estimand, the variance of a population of subgroups, so in the "
    "designs with unequal rates, whose subgroups are fixed, they are wide and cover more than 95 %. With "
    "each subgroup's own sampling variance they cover too little at 0: rates near 1 look exact, get "
    "large weights, and the weighted spread grows. With the pooled one they hold (`variances=`, which is "
    "why that is the default). Sidik and Jonkman's interval never holds 0."
)
POSTERIOR = (
    "Equal-tailed intervals of a posterior cannot cover a variance that is exactly 0, for they leave out "
    "2.5 % next to it; the upper limits do. A posterior of the variance of these subgroups is drawn "
    "towards what its model takes subgroups for: normal, or normal logits, with sizes that tell nothing. "
    "In the last design rates go with the sizes, and the binomial posterior is too low. The normal one "
    "takes the variance of each rate's own rows as known, which is why it is too high in the third."
)
WEIGHTED = (
    "Mean of the raw estimate less the truth, times 10,000. Estimates without weights (`corrected`, `he` "
    "with own variances) have no bias. Weighted ones do where weights go with rates: `dl` is off by up "
    "to half of the truth, 549.6, where rates differ widely, so for rates `corrected` and `he` are the "
    "safe choice.\n"
)
BOUND = (
    "In the fourth design `unified` is longer than the bootstrap. To first order so is every interval "
    "that keeps 95 % whatever the rates are, if not at these rates then at others near them. The hundred "
    "rates may be anything; M, their variance, changes with rate a by 2 (mu_a - mean) / 99, and n_a rows "
    "hold the information n_a / (mu_a (1 - mu_a)) about it. The bound of Cramer and Rao for estimates of "
    "M without bias is therefore the sum of 4 (mu_a - mean)^2 mu_a (1 - mu_a) / (99^2 n_a). By the local "
    "asymptotic minimax theorem an interval that covers with probability 1 - alpha at all rates near "
    "these has, somewhere near them, a mean length of at least 2 z times the root of that sum, to first "
    "order in 1 / n. That is `least`. At 95 % it is longer than the bootstrap, which is as short as it "
    "is because it covers 93 %. At the coverage of the bootstrap `unified` is the shorter one.\n"
    "\n"
    "`error known` is the unbiased estimate ± z standard errors that are computed from the "
    "true rates, which nobody knows. To be shorter than the bootstrap it must aim at 94 %. Moving error "
    "from one end to the other does not help: `unified` with shares of 0.3 and 0.6 of it below is 2.1 "
    "and 0.1 % longer. What does help is to assume something of the rates, as a posterior does, which is "
    "shorter in the table above and fails where the assumption does. One side alone keeps its level: "
    "`corrected, upper` covers 95.8 and 96.1 % in these designs, and where the variance is 0 it is half "
    "as long as the bootstrap."
)
"""Why no interval is as short as the bootstrap and covers 95 % in the last design; a test holds the record to it."""
PICTURES = {
    3: (
        "## Estimates (figure 3)\n"
        "\n"
        "Histograms of 1,000 estimates, truncated at 0; dashed: the truth. The table has their means and "
        "their middle 95 %, times 10,000.\n"
    ),
    4: (
        "## Bootstrap replicates (figures 4 and 5)\n"
        "\n"
        "500 replicates of one evaluation set of each design; bars: percentile intervals. The corrected ones "
        "lie too far to the right, for a replicate has the noise of two samples.\n"
    ),
    5: (
        "The same with the second correction. The table has means and percentile intervals, times 10,000, of "
        "this evaluation set; in the last design it is one of the 7 % that the double-corrected interval "
        "misses.\n"
    ),
}
"""What stands above the pictures of estimates and replicates, by figure."""
