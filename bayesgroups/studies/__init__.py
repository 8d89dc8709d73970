"""Studies of estimators: resampling of a population, simulation-based calibration, and the executor that both run on."""
