"""The shell command: `python -m dtnumba`, a module a sub-command, and what they share.

command         the parser; which command runs
train           read a table, hold rows out, grow a tree, say how good it is and how it begins
read_file       a file to names, numbers and a target
feature_column  a column of text as numbers or categories
demo_table      a generated table for trying things out
"""
