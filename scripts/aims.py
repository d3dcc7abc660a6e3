# SPDX-License-Identifier: GPL-3.0-or-later
"""How many runs does an aim need? Random set-ups that have a solution, searched and simulated once more.

`aims.py [--seeds 20] [--first 1000] [--only thrown|bounced|die|cups] [--runs 200]`. The set-ups are those of
tests/simulation/aim_setups.py. This Python needs rapier3d. Exit status 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time

import compare_physx

KINDS = ("thrown", "bounced", "die", "cups")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="set-ups of each kind")
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--only", choices=KINDS, help="one kind of set-up")
    parser.add_argument("--runs", type=int, default=200, help="runs at most")
    options = parser.parse_args()
    compare_physx.load_extension()
    setups = importlib.import_module("simulation_tests.aim_setups")
    missed = 0
    for kind in [options.only] if options.only else KINDS:
        counts, failed, began = [], [], time.perf_counter()
        for seed in range(options.first, options.first + options.seeds):
            wanted = getattr(setups, kind)(seed)
            best, count = wanted.searched(most_runs=options.runs)
            again = wanted.again(best)
            met = [again.miss_of(one) <= 1.0 for one in wanted.targets]
            counts.append(count)
            if not all(met):
                failed.append(f"{seed} ({sum(met)} of {len(met)})")
        missed += len(failed)
        seconds = (time.perf_counter() - began) / options.seeds
        print(
            f"{kind}: {options.seeds - len(failed)} of {options.seeds} met; runs: median "
            f"{sorted(counts)[len(counts) // 2]}, most {max(counts)}; {seconds:.2f} s each"
            + (f"; missed: {', '.join(failed)}" if failed else ""),
            flush=True,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
