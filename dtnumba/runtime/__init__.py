"""The only room that knows Numba: kernels, tasks, memory, random numbers, progress.

kernels                        how a function is compiled, and how the type of an argument picks the code
tasks                          the one parallel loop: a task on several workers, tickets for its items
addresses                      kernels called by address, with tuples by address
compiler                       what of Numba's compiler kernels need, and no more
disk_cache                     compiled kernels between processes, stamped with the sources of the whole package
memory                         scratch of workers, apart in cache lines; long arrays of which a part is used
records                        NamedTuples in kernels: one field changed, a worker's part
rng                            random numbers without state: functions of seed, purpose, node and index
progress                       progress, time limits, callbacks and Ctrl-C while kernels run
lazy_names                     public names of a package, imported when they are asked for
bits                           bits, cache lines and rows of memory, as instructions of the processor
vector_compare, vector_sums    eight to 64 numbers at once, each instruction beside its twin in Python
column_blocks, partition_rows  passes made of such instructions: 32 columns, 16 rows at once
complete_trees                 64 rows at once through a complete tree
"""
