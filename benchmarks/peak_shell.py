"""The most memory that `dtnumba predict` holds: started by bench_shell.py, prints JSON.

usage: peak_shell.py MODEL FILE OUT
"""

import json
import sys

from peak_memory import resident

from dtnumba.cli.command import main

if __name__ == "__main__":
    saved, path, out = sys.argv[1:]
    code = main(["predict", saved, path, "--out", out])
    print(json.dumps({"peak": resident("VmHWM")}))
    sys.exit(code)
