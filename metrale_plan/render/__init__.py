"""Writers: a Report in, text out. They add no arithmetic."""
