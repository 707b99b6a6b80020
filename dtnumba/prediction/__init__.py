"""Rows through trees: leaves, values and votes.

tree_view, walk_tree               one tree: many rows at once
forest_view, votes, packed_forest  a forest: many rows at once
lockstep                           several walks at once in one thread
shallow                            trees of depth six and less: every node compared with 64 rows
linear_nodes, pair_nodes           nodes of packed forests that test sums over several columns, or over two
single_rows, row_predictor         a few rows, in microseconds
splines                            sums of terms of hinges, and their slopes
fractional                         rows that go down several branches in parts
confident_votes                    trees of C5.0, each as sure as it is
on_dask                            lazy answers to Dask collections, the model sent once to each worker
voting_row                         the same, of a single row in microseconds
"""
