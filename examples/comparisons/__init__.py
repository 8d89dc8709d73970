"""Estimators compared with one another and with peers on populations with known truth."""
