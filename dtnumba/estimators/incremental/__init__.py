"""Trees that take rows and give rows back.

trees      IncrementalTreeClassifier, IncrementalTreeRegressor
held_rows  rows that came and have not gone, with levels and classes as they were met
history    which tests gave way to others
stored_rows  whether what a file says of rows is what these say
follow     a tree follows its rows: by what came and went where its parameters allow, by a batch fit elsewhere
stream_predictor  the tree of a stream as a function of one row
streams    the tree of a stream behind an estimator
"""
