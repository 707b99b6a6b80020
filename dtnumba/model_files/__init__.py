"""Model files: named arrays and a header in JSON, written whole or not at all, read without trust.

container     the file: preamble, header, aligned arrays, checksums; atomic writes, reads of what is asked for
values        parameters and learned attributes as JSON and arrays, of a closed set of kinds
spelled       values that are neither numbers nor text, such as dates, each by one exact text
columns       one array in the narrowest form that gives it back to the bit
tree_columns  Trees as columns, and back
node_sums     the columns that explain trees, and the rules by which they follow from the leaves
few_rows      a few rows through the trees of a mapped file
stored_views  trees and forests of a file, made when they are asked for
objects       what models hold beside numbers: trees, rules, criteria, pruners, ways of drawing
"""
