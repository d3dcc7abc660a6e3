# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge USD files with OpenUSD itself: all its validators, and what its physics parser finds. Runs without Blender.

`judge.py EXPECTED.json`: the file holds {file name beside it: {object type: number}}; an empty table asks for nothing.
Exit status 1 where a validator reports an error or a number is not as expected.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from pxr import Tf, Usd, UsdPhysics, UsdValidation


def errors_of(stage: Usd.Stage) -> tuple[list[str], int]:
    """(errors, number of warnings) of every validator that this USD knows."""
    registry = UsdValidation.ValidationRegistry()
    context = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
    errors, warnings = [], 0
    for issue in context.Validate(stage):
        if issue.GetType() == UsdValidation.ValidationErrorType.Error:
            errors.append(issue.GetErrorAsString())
        elif issue.GetType() == UsdValidation.ValidationErrorType.Warn:
            warnings += 1
    return errors, warnings


def parsed(stage: Usd.Stage) -> Counter[str]:
    """Number of valid physics objects by type, as the parsing utilities hand them to a simulator."""
    # OpenUSD 26.11 renames the function; the old name warns.
    load = getattr(UsdPhysics, "UsdPhysicsLoadStageFromPrimRange", None) or UsdPhysics.LoadUsdPhysicsFromRange
    found: Counter[str] = Counter()
    for kind, (_, descriptions) in load(stage, ["/"]).items():
        valid = sum(bool(description.isValid) for description in descriptions)
        found[kind.name] += valid
        if valid < len(descriptions):
            found["invalid"] += len(descriptions) - valid
    return +found


def judge(path: Path, expected: dict[str, int], before: Counter[str]) -> tuple[bool, Counter[str]]:
    """Print the verdict on one file. Returns whether it is as it should be, and its objects.

    before: the objects of the file before, which are not listed again.
    """
    try:
        stage = Usd.Stage.Open(str(path))
    except Tf.ErrorException as error:
        print(f"{path.name}: cannot be opened: {error}")
        return False, before
    errors, warnings = errors_of(stage)
    found = parsed(stage)
    print(f"{path.name}: {len(errors)} validator errors, {warnings} warnings")
    listed = ", ".join(f"{number} {kind}" for kind, number in sorted(found.items()))
    print("  the same objects" if found == before else f"  {listed}")
    for error in errors:
        print(f"  error: {error}")
    wrong = sorted(kind for kind in {*found, *expected} if found[kind] != expected.get(kind, 0)) if expected else []
    for kind in wrong:
        print(f"  {kind}: {found[kind]}, expected {expected.get(kind, 0)}")
    return not errors and not wrong, found


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.exit(__doc__)
    table = Path(arguments[0])
    files: dict[str, dict[str, int]] = json.loads(table.read_text(encoding="utf-8"))
    is_good, found = bool(files), Counter[str]()
    for name, expected in files.items():
        verdict, found = judge(table.parent / name, expected, found)
        is_good = is_good and verdict
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
