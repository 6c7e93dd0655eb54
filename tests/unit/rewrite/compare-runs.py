# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs pairs of ONNX files in onnxruntime on the same random inputs: compare-runs.py ORIGINAL CHANGED [...]

Prints one line per pair: the largest difference of any float output relative to that output's range. Exits with 1 if
one exceeds its tolerance or a changed file does not run although the original does, or if nothing could be compared.
The tolerance is 1e-5, or what onnxruntime's own folding of the original changes where that is more, or a few times what the
last bits of the inputs change."""

import functools
import sys

import numpy as np
import onnx
import onnxruntime as ort

TOLERANCE = 1e-5
SHAKEN = 5
TOLERANCE_FP16 = 2e-2
TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64,
         "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_, "tensor(uint8)": np.uint8,
         "tensor(int8)": np.int8}


def session(path, level=ort.GraphOptimizationLevel.ORT_DISABLE_ALL):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def make_inputs(run, free, seed=7):
    random = np.random.default_rng(seed)
    values = {}
    for item in run.get_inputs():
        dims = [d if isinstance(d, int) and d > 0 else free[min(i, len(free) - 1)] for i, d in enumerate(item.shape)]
        dtype = TYPES[item.type]
        if item.name == "sr":  # the sampling rate of a voice detector
            values[item.name] = np.full(dims, 16000, dtype)
        elif np.issubdtype(dtype, np.floating):
            values[item.name] = random.random(dims).astype(dtype)
        elif dtype == np.bool_:
            values[item.name] = np.ones(dims, dtype)
        else:
            values[item.name] = random.integers(0, 2, dims).astype(dtype)
    return values


def adapt(run, values):
    return {item.name: values[item.name].astype(TYPES[item.type]) for item in run.get_inputs()}


@functools.lru_cache(maxsize=1)
def run_original(path):
    """Sizes of open dims are guessed until one works."""
    run = session(path)
    last = None
    for free in ([1], [1, 3, 64, 64], [1, 64], [1, 8, 64], [1, 3, 320, 320], [1, 3, 32, 100], [1, 3, 48, 192]):
        try:
            values = make_inputs(run, free)
            return values, run.run(None, values)
        except Exception as error:  # every failure of the runtime means: try another size
            last = error
    raise last


def largest_difference(before, after):
    worst = 0.0
    for a, b in zip(before, after, strict=True):
        if not isinstance(a, np.ndarray) or a.dtype.kind not in "fiub" or a.size == 0:
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        good = np.isfinite(a)
        if a.shape != b.shape or not np.array_equal(good, np.isfinite(b)):
            return np.inf
        span = np.abs(a[good]).max() if good.any() else 0
        if good.any():
            worst = max(worst, np.abs(a - b)[good].max() / max(span, 1e-6))
    return worst


def shake(values):
    """The inputs, each in the last bits: networks that amplify that cannot be compared more closely."""
    random = np.random.default_rng(3)
    return {name: x if x.dtype != np.float32 else x * (1 + random.uniform(-2e-6, 2e-6, x.shape)).astype(np.float32)
            for name, x in values.items()}


def run_original_on(path, values):
    return session(path).run(None, values)


def compare(original, changed):
    values, before = run_original(original)
    run = session(changed)
    worst = largest_difference(before, run.run(None, adapt(run, values)))
    if worst <= TOLERANCE:
        return worst, TOLERANCE
    own = session(original, ort.GraphOptimizationLevel.ORT_ENABLE_BASIC)
    folded = largest_difference(before, own.run(None, values))
    shaken = largest_difference(before, run_original_on(original, shake(values)))
    return worst, max(TOLERANCE, 1.5 * folded, SHAKEN * shaken, TOLERANCE_FP16 if onnx_has_half(original) else 0)


def onnx_has_half(path):
    model = onnx.load(path, load_external_data=False)
    return any(t.data_type == onnx.TensorProto.FLOAT16 for t in model.graph.initializer)


def main(names):
    failed = compared = 0
    for original, changed in zip(names[::2], names[1::2]):
        try:
            run_original(original)
        except Exception as error:
            print(f"{original}: not run by onnxruntime: {str(error).splitlines()[0][:120]}")
            continue
        try:
            worst, tolerance = compare(original, changed)
            bad = not worst <= tolerance
            print(f"{original}: {worst:.3g} of {tolerance:.3g}{' BAD' if bad else ''}")
        except Exception as error:
            bad = True
            print(f"{original}: the changed model fails: {str(error)[:400]}")
        compared += 1
        failed += bad
    print(f"{compared} compared, {failed} bad")
    return 0 if compared > 0 and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
