"""Studies: resampling of a population, simulation-based calibration, their executor, and rows left out of an evaluation."""
