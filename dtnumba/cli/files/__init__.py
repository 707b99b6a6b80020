"""Files as tables: one reader of rows for every command, a block at a time.

read_table      a file to learn from: its features as columns, its target as text
read_rows       a file to predict: blocks of the columns that a model knows
reading         what the caller says about a file
csv_file        rows of text: separators, quotes, encodings, compressed files, standard input
byte_rows       long files of plain text, read by kernels
decimal_kernel  cells of bytes, and the numbers in them
arrow_file      batches of Parquet, Feather and Arrow files
spelling        how cells spell numbers, dates and nothing
columns         columns that learn what they hold, and columns that know it
"""
