"""What incremental trees are made of: the rows they hold.

held_rows  rows that came and have not gone, with levels and classes as they were met
"""
