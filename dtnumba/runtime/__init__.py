"""The only room that knows Numba: kernels, tasks, memory, random numbers, progress.

kernels                        how a function is compiled, and how the type of an argument picks the code
tasks                          a task on several workers: in the one parallel loop, or on threads beside this one
threads                        how many threads work, and how they share it
addresses                      kernels called by address, and records written to memory for them
compiler                       what of Numba's compiler kernels need, and no more
side_by_side                   kernels compiled in two processes at once
tiers                          whether kernels that are faster repay the seconds of compiling them
notice                         one line where compiling takes long
portable                       kernels for a level of processors, from a folder
disk_cache                     compiled kernels between processes, stamped with the sources of the whole package
memory                         scratch of workers, apart in cache lines; long arrays of which a part is used
records                        NamedTuples in kernels: handed on by reference, one field changed, a worker's part
rng                            random numbers without state: functions of seed, purpose, node and index
progress                       progress, time limits, callbacks and Ctrl-C while kernels run
cluster                        a Dask cluster: its client, and the versions of its workers
lazy_names                     public names of a package, imported when they are asked for
instructions                   instructions of the processor, each beside its twin in Python
"""
