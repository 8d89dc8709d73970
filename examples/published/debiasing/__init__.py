"""De-biasing bias measurement: estimators of the variance between groups, and their bias."""
