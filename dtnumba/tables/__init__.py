"""From what callers pass to arrays: the gate, and values as codes and orders.

table                       X, whatever it is, as a Table, or an error that names the column and the value
columns, frames             the columns of arrays, and of pandas and polars frames
arrow                       tables of other libraries, read through the C interface of Arrow
floats, cells               numbers as float32 or float64; the flat arrays that kernels read
categories, category_codes  which columns are categories, and the number of each row's category
labels                      y as Labels or Values
weights, costs              what a row counts; what a wrong label costs
bins, bin_codes             histogram codes and rank codes of the values
sparse_codes                histogram codes of the values that a sparse matrix stores
binned_table, batches       tables of which only codes are kept, larger than memory too
presort                     the rows of a column in the order of its values
"""
