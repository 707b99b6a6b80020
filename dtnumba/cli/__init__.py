"""The sub-commands of `python -m dtnumba`, one module each, and what they share: reading a file, showing a tree."""
