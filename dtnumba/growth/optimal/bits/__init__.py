"""The search over columns of 0 and 1: rows are bits.

rows        columns as words, a bit a row
two_levels  the best tree of two levels: all pairs of tests at once
ahead       tests that are solved ahead, by several threads
search      branch and bound above it
job         the memory of the search
"""
