"""How many threads work, and how they share it.

cores  how many cores this process may use
board  phases of a kernel's work, of which other kernels take items
hands  items and jobs in Python, which other threads take
"""
