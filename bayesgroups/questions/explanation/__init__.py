"""Shares of variance by attribute, and tests between nested linear models."""
