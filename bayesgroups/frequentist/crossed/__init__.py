"""Crossed effects for the frequentist side: a family of covariances between subgroups, and ways to tune it.

``families`` says which subgroups agree on which attributes. ``sure`` tunes by an unbiased estimate of the risk for one task,
``multi_task`` for several; ``marginal_likelihood`` by the likelihood, and ``mixture`` averages over all plausible variances, whose
likelihood ``restricted`` computes at many points at once. ``components`` chooses the form of the covariance that takes the least
work: matrices of all groups, their effects (``effect_space``), or blocks of the levels of an attribute (``level_blocks``).
``joint_fit`` brings them together.
"""
