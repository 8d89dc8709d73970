"""Published results run again, one folder for every paper."""
