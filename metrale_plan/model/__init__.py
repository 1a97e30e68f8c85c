"""What a model is: the file that describes it, and the numbers the formulas read."""
