"""Explanations as values: dims, settings and a plan -> every number and reason of one screen. Pure."""
