"""The intersectionality problem: the worst subgroup of a sample, and certification."""
