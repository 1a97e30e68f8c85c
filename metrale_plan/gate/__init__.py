"""The gate over many serve configs, as values: policy, outcomes, findings and comparisons. Pure."""
