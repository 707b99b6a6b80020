"""Peak memory of a fit above its float32 input, each fit in a process of its own."""

from data import H
from measure import at_most, fresh_process, main

LIMITS = {"histogram": 0.9, "exact": 3.0}


def peak(options):
    size = options.size(1_000_000, 50_000)
    H(size)  # make the table here, so that no child does
    peer = fresh_process("peak_memory.py", "ScikitLearn", "exact", size, options.threads)[0]
    rows = []
    for kind, limit in LIMITS.items():
        found = [fresh_process("peak_memory.py", "Ours", kind, size, options.threads)[0] for _ in range(3)]
        worst = max(found, key=lambda one: one["above"])
        job = f"peak memory above the input's {worst['input'] / 1e6:,.0f} MB, {kind}, H {size:,}; peer exact"
        checked = f"the worst of 3 processes; leaves {worst['leaves']:,}, held-out accuracy {worst['score']:.4f}"
        ratio = worst["above"] / worst["input"]
        rows.append(at_most(options, job, megabytes(peer), megabytes(worst), ratio, limit, checked))
    return rows


def megabytes(found):
    return f"{found['above'] / 1e6:,.0f} MB"


if __name__ == "__main__":
    main(__doc__, [peak])
