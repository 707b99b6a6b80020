"""What exporters share of the languages that they write.

voters        rules that vote, as exporters read them
voting_rules  the same as Python, as Python of NumPy and as SQL
conditions    what nodes and rules ask, for languages of expressions
unfolded      a decision graph as the tree that it is
tables        nodes as tables that a loop can follow
source        text that runs itself, and values as text
row_source    tables and a loop in plain Python
numpy_source  the same in NumPy
c_tables      tables in C
c_source      the functions that read them
onnx_tests    tests of two branches each, as ONNX has them
threshold_units  units of tests, leaves and classes, for networks
sql_words     names, values and conditions in SQL, by dialect
sql_query     a query from the inside out
node_query    nodes as a table in SQL, and a walk through it
"""
