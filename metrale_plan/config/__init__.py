"""What was asked for: every serve setting, where it came from, and the complete result that formulas read."""
