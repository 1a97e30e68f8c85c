"""The door to the machine: what each source says, as plain values; `live` asks all of them."""
