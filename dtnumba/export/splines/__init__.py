"""Splines, written another way.

reading    what exporters read of them, and which rows they may be asked about
in_python  source in Python, plain or of NumPy
in_c       source in C
in_sql     a query
in_onnx    a graph of ONNX
in_json    everything, and back
in_text    the model as an equation
summary    what R's ``summary.earth`` prints
"""
