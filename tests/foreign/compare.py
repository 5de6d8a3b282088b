"""Compares what a foreign reader decoded with what Headland says is in the file."""

import json
import math
import sys


def plain(value):
    """A decoded message as dicts, lists and numbers, whatever library decoded it."""
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value
    if isinstance(value, (bytes, bytearray)):
        return list(value)
    if hasattr(value, "tolist"):  # numpy arrays and numpy numbers
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "__slots__"):  # mcap-ros2-support
        names = [name for name in value.__slots__ if not name.startswith("_")]
        return {name: plain(getattr(value, name)) for name in names}
    if hasattr(value, "__dataclass_fields__"):  # rosbags
        names = [name for name in value.__dataclass_fields__ if not name.startswith("__")]
        return {name: plain(getattr(value, name)) for name in names if not name.isupper()}
    raise TypeError(f"do not know {type(value)}")


ODD = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def difference(ours, theirs, where="message"):
    """Where the two differ, or None. Floats must be equal to the bit."""
    if isinstance(ours, str) and isinstance(theirs, float):
        ours = ODD[ours]
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if sorted(ours) != sorted(theirs):
            return f"{where}: fields {sorted(ours)} and {sorted(theirs)}"
        pairs = ((ours[key], theirs[key], f"{where}.{key}") for key in ours)
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            return f"{where}: {len(ours)} and {len(theirs)} items"
        pairs = ((a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(ours, theirs)))
    else:
        both_nan = ours != ours and theirs != theirs
        same = both_nan or (type(ours) is type(theirs) and ours == theirs)
        if same and isinstance(ours, float) and not both_nan:
            same = math.copysign(1, ours) == math.copysign(1, theirs)
        return None if same else f"{where}: {ours!r} and {theirs!r}"
    return next((found for pair in pairs if (found := difference(*pair))), None)


def check(reader, ours_path, theirs):
    """Compares all messages, in order; `theirs` yields (topic, log time, message)."""
    with open(ours_path, encoding="utf-8") as file:
        ours = [json.loads(line) for line in file]
    n = 0
    for line, (topic, time, message) in zip(ours, theirs, strict=True):
        found = difference([line["topic"], line["time"]], [topic, time], "topic and time")
        found = found or difference(line["message"], plain(message), topic)
        if found:
            sys.exit(f"{reader}: message {n}: {found}")
        n += 1
    print(f"{reader}: {n} messages equal")
