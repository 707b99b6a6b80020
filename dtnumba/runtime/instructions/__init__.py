"""Instructions of the processor that Numba does not emit by itself, each beside its twin in Python.

bits                           bits, cache lines and rows of memory
vector_compare, vector_sums    eight to 64 numbers at once
column_blocks, partition_rows  passes made of such instructions: 32 columns, 16 rows at once
running_extremes               sixteen cuts at once along the order of another column: errors
running_losses                 the same of squares, gini, costs, and losses that tables tell
complete_trees                 64 rows at once through a complete tree
extremes                       the least and the largest of many numbers
"""
