"""The search over ordered columns: ranges of cuts are halved and skipped.

rows        rows in the order of each column
two_levels  the best tree of two levels: sixteen cuts at once
ranges      ranges of cuts that wait
batches     cuts that are tried together, by several threads
search      branch and bound above it
job         the memory of the search
"""
