"""The door to the machine: memory readings as plain values, or the reason there is none."""
