"""Capacity planner and preflight tool for the Metrale LLM engine (`met serve`)."""

__version__ = "0.1.0"
