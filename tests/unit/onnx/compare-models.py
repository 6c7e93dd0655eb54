# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares pairs of ONNX files: compare-models.py ORIGINAL COPY [ORIGINAL COPY ...]

Two models are equal when everything in them is, after normalising what may differ by right: how tensors store their
data, defaults that are written out, the spelling of the standard domain, the order of value_info and the name that a graph
without one gets.
Prints one line per pair; exits with 1 if any pair differs."""

import sys

import numpy as np
import onnx
from onnx import numpy_helper

TYPED = ["float_data", "int32_data", "int64_data", "double_data", "uint64_data", "raw_data"]
GUESSES = [("t", 4), ("g", 5), ("floats", 6), ("ints", 7), ("strings", 8), ("tensors", 9), ("graphs", 10),
           ("s", 3), ("f", 1), ("i", 2)]


def normalise_tensor(tensor):
    for entry in ("external_data", "data_location"):
        tensor.ClearField(entry)
    if tensor.data_type == onnx.TensorProto.STRING:
        return
    array = numpy_helper.to_array(tensor)
    for field in TYPED:
        tensor.ClearField(field)
    tensor.raw_data = np.ascontiguousarray(array).tobytes()


def is_repeated(value):
    return hasattr(value, "append") or hasattr(value, "add")


def guess_type(attr):
    for name, number in GUESSES:
        value = getattr(attr, name)
        if len(value) > 0 if is_repeated(value) else attr.HasField(name):
            return number
    return 0


def normalise(message):
    kind = message.DESCRIPTOR.name
    if kind == "TensorProto":
        normalise_tensor(message)
    if kind == "AttributeProto" and not message.type:
        message.type = guess_type(message)
    if kind == "OperatorSetIdProto" and message.domain == "ai.onnx":
        message.domain = ""
    for field, value in list(message.ListFields()):
        if field.message_type is not None:
            for child in value if is_repeated(value) else [value]:
                normalise(child)
        elif not is_repeated(value) and value == field.default_value:
            message.ClearField(field.name)
    if kind == "GraphProto":
        message.name = message.name or "graph"    # onnx.checker wants one
        infos = sorted(message.value_info, key=lambda info: info.name)
        del message.value_info[:]
        message.value_info.extend(infos)


def difference(a, b, path=""):
    """Where two messages first differ."""
    for field in a.DESCRIPTOR.fields:
        x, y = getattr(a, field.name), getattr(b, field.name)
        where = f"{path}.{field.name}"
        if is_repeated(x):
            if len(x) != len(y):
                return f"{where}: {len(x)} and {len(y)} entries"
            pairs = zip(x, y)
        else:
            if a.HasField(field.name) != b.HasField(field.name):
                return f"{where}: in one only"
            if not a.HasField(field.name):
                continue
            pairs = [(x, y)]
        for i, (p, q) in enumerate(pairs):
            if field.message_type is not None:
                found = difference(p, q, f"{where}[{i}]")
                if found:
                    return found
            elif p != q and not (p != p and q != q):
                return f"{where}[{i}]: {str(p)[:80]!r} and {str(q)[:80]!r}"
    if a.SerializeToString(deterministic=True) != b.SerializeToString(deterministic=True) and not path:
        return "unknown fields differ"
    return None


def main(names):
    failed = 0
    for original, copy in zip(names[::2], names[1::2]):
        a, b = onnx.load(original), onnx.load(copy)
        normalise(a)
        normalise(b)
        found = difference(a, b)
        failed += found is not None
        print(f"{original}: {found or 'equal'}")
    return 1 if failed or not names else 0


sys.exit(main(sys.argv[1:]))
