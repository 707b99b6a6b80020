"""The shell command: `python -m dtnumba`, a module a sub-command, and what they share.

command      the parser; which command runs
help_texts   the pages that --help prints
train        read a table, hold rows out, grow a model, say how good it is and how it begins, save it
predict      answers of a saved model, a block of rows at a time
show         a saved model in words, in numbers, and in other formats
learners     learners by the names of a shell, and their parameters from text
model_files  models from files
output       results on standard output or in a file, whole or not at all
files        files as tables
demo_table   a generated table for trying things out
"""
