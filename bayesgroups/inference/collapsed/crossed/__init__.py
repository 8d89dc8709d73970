"""Crossed effects, integrated out: what is left are a few standard deviations.

``prior`` turns standard normal numbers into standard deviations of components; ``predictor`` states the linear predictor, and
``following`` two of which one follows the other; ``subgroup_space`` and ``effect_space`` integrate one out, in matrices as large as
the subgroups or as the effects; ``sites`` stands in normal likelihoods for binomial ones. ``chains`` and ``trajectories`` draw
everything by Hamiltonian Monte Carlo instead, from a ``spectral_target`` with ``own_data`` of residual effects;
``redrawn_scales`` and ``learned_turns`` help chains of many subgroups, and the former all chains that do not mix.
"""
