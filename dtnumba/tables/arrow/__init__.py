"""Tables of other libraries through Arrow's C data interface, which needs none of them: memory is read where it lies.

interface     the structures of the interface; streams, and who lets go of what they hold
formats       what a column's format string says
chunks        a column of one batch: its numbers, its texts, its values as Python objects
number_texts  texts as numbers, many at once
table         a whole table of batches, its columns and its batches one by one
"""
