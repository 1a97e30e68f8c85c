"""Readers of one place each (command line, environment): text in, offers and problems out."""
