"""The law of a score given the outcome, which both sides of model-based metrics use."""
