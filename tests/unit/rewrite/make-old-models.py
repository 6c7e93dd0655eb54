# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes one small network for each operator form that newer opsets no longer have: make-old-models.py FOLDER

File names begin with the opset."""

import os
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OUT = sys.argv[1]
F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
random = np.random.default_rng(3)


def tensor(name, values, dtype=np.float32):
    return numpy_helper.from_array(np.asarray(values, dtype), name)


def noise(name, *dims):
    return tensor(name, random.random(dims))


def save(name, opset, nodes, x, y=None, initializers=(), more=(), out_type=F, n_out=1):
    nodes = nodes if isinstance(nodes, list) else [nodes]
    inputs = [helper.make_tensor_value_info("x", F, x), *more]
    outputs = [helper.make_tensor_value_info("y" if i == 0 else f"y{i}", out_type, y) for i in range(n_out)]
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    with open(os.path.join(OUT, f"{opset:02}-{name}.onnx"), "wb") as file:
        file.write(model.SerializeToString())


def n(op, inputs, outputs=("y",), **attrs):
    return helper.make_node(op, list(inputs), list(outputs), **attrs)


X4 = (2, 3, 4, 6)

for opset in (7, 9, 11, 12):
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for axis in (None, 1, 2, 3):
            save(f"{op}-{axis}", opset, n(op, "x", **({} if axis is None else {"axis": axis})), X4, X4)
        save(f"{op}-open", opset, n(op, "x", axis=1), ("n", 3, "h", "w"), ("n", 3, "h", "w"))
        save(f"{op}-flat", opset, n(op, "x"), (2, 10, 1, 1), (2, 10, 1, 1))
    if opset >= 11:
        save("Softmax-minus", opset, n("Softmax", "x", axis=-1), X4, X4)
        save("Softmax-minus2", opset, n("Softmax", "x", axis=-2), X4, X4)

for opset in (7, 8, 9):
    save("Slice", opset, n("Slice", "x", starts=[1, 0], ends=[-1, 4], axes=[2, 3]), X4)
    save("Slice-noaxes", opset, n("Slice", "x", starts=[0, 1], ends=[1, 1000]), X4)
    save("TopK", opset, n("TopK", "x", ["y", "i"], k=2, axis=-1 if opset == 11 else 3), X4)
    save("Dropout", opset, n("Dropout", "x", ratio=0.3), X4, X4)
    save("Dropout-mask", opset, n("Dropout", "x", ["y", "m"], ratio=0.3), X4, X4)
    save("Clip", opset, n("Clip", "x", min=0.25, max=0.75), X4, X4)
    save("Clip-max", opset, n("Clip", "x", max=0.5), X4, X4)
    save("Clip-none", opset, n("Clip", "x"), X4, X4)
    save("BatchNormalization", opset, n("BatchNormalization", "xsbmv", epsilon=1e-3), X4, X4,
         [noise(c, 3) for c in "sbmv"])
    for mode in ("constant", "reflect", "edge"):
        save(f"Pad-{mode}", opset, n("Pad", "x", pads=[0, 0, 1, 2, 0, 0, 2, 1], mode=mode, value=0.5), X4)
    if opset < 9:
        save("Upsample", opset, n("Upsample", "x", scales=[1.0, 1.0, 2.0, 3.0], mode="nearest"), X4)
        save("Upsample-linear", opset, n("Upsample", "x", scales=[1.0, 1.0, 2.0, 2.0], mode="linear"), X4)
        save("Upsample-odd", opset, n("Upsample", "x", scales=[1.0, 1.0, 1.7, 1.3], mode="nearest"), X4)
        save("BatchNormalization-spatial", opset, n("BatchNormalization", "xsbmv", spatial=1), X4, X4,
             [noise(c, 3) for c in "sbmv"])
save("Upsample", 9, n("Upsample", "xs", mode="nearest"), X4, None, [tensor("s", [1, 1, 2, 2])])
for name, scales in (("up", [1, 1, 2, 2]), ("down", [1, 1, 0.5, 0.6]), ("odd", [1, 1, 1.7, 1.3])):
    for mode in ("nearest", "linear"):
        save(f"Resize-{mode}-{name}", 10, n("Resize", "xs", mode=mode), X4, None, [tensor("s", scales)])

axes = {"axes": [1, 3]}
for opset in (7, 11, 12, 13, 15, 17):
    for op in ("Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare", "Sum"):
        if op == "Sum" and opset >= 13:
            continue
        save(f"Reduce{op}", opset, n("Reduce" + op, "x", **axes), X4)
        save(f"Reduce{op}-keep", opset, n("Reduce" + op, "x", axes=[2], keepdims=0), X4)
        save(f"Reduce{op}-all", opset, n("Reduce" + op, "x"), X4)
    if opset < 13:
        save("Squeeze", opset, n("Squeeze", "x", axes=[1, 3]), (2, 1, 3, 1))
        save("Squeeze-all", opset, n("Squeeze", "x"), (2, 1, 3, 1))
        save("Unsqueeze", opset, n("Unsqueeze", "x", axes=[0, 2]), (3, 4))
        save("Split", opset, n("Split", "x", ["y", "y1"], axis=1, split=[1, 2]), X4, None, n_out=2)
    save("Split-even", opset, n("Split", "x", ["y", "y1"], axis=3), X4, None, n_out=2)
    save("AveragePool", opset, n("AveragePool", "x", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]), (1, 3, 8, 9))
    if opset >= 10:
        save("AveragePool-ceil", opset, n("AveragePool", "x", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1), (1, 3, 8, 9))

indices = tensor("i", [[0, 1, 2, 0], [1, 2, 0, 1]], np.int64)
for opset in (9, 10):
    save("Scatter", opset, n("Scatter", "xiu", axis=0), (3, 4), (3, 4), [indices, noise("u", 2, 4)])
save("RoiAlign", 10, n("RoiAlign", ["x", "r", "b"], output_height=2, output_width=2, sampling_ratio=2, spatial_scale=1.0),
     (1, 3, 8, 8), None, [tensor("r", [[0.3, 0.6, 5, 6], [1, 1, 7, 7]]), tensor("b", [0, 0], np.int64)])
save("GridSample", 16, n("GridSample", "xg", mode="bilinear"), (1, 2, 5, 5), None,
     [tensor("g", random.random((1, 3, 4, 2)) * 2 - 1)])
save("GridSample-cubic", 16, n("GridSample", "xg", mode="bicubic"), (1, 2, 5, 5), None,
     [tensor("g", random.random((1, 3, 4, 2)) * 2 - 1)])
save("GroupNormalization", 18, n("GroupNormalization", "xsb", num_groups=2), (1, 6, 3, 3), (1, 6, 3, 3),
     [noise("s", 2), noise("b", 2)])
save("DFT", 17, n("DFT", "x", axis=1), (1, 8, 4, 1))
save("ImageScaler", 7, n("ImageScaler", "x", scale=0.5, bias=[0.1, 0.2, 0.3]), X4, X4)
save("Affine", 7, n("Affine", "x", alpha=2.0, beta=-0.5), X4, X4)
save("Crop", 7, n("Crop", "x", border=[1, 1, 2, 1]), (1, 3, 8, 9))
save("Crop-scale", 7, n("Crop", "x", border=[1, 2, 0, 0], scale=[3, 4]), (1, 3, 8, 9))

branch = helper.make_graph([n("Softmax", "x", ["t"], axis=1)], "then", [], [helper.make_tensor_value_info("t", F, X4)])
other = helper.make_graph([n("Clip", "x", ["e"], max=0.5)], "else", [], [helper.make_tensor_value_info("e", F, X4)])
save("If", 9, n("If", "c", then_branch=branch, else_branch=other), X4, X4,
     more=[helper.make_tensor_value_info("c", BOOL, [])])

body = [n("Softmax", "p", ["q"], axis=1), n("Clip", "q", ["r"], max=0.125)]
function = helper.make_function("my.ops", "Twist", ["p"], ["r"], body, [helper.make_opsetid("", 9)])
graph = helper.make_graph([helper.make_node("Twist", ["x"], ["y"], domain="my.ops")], "function",
                          [helper.make_tensor_value_info("x", F, X4)], [helper.make_tensor_value_info("y", F, X4)])
model = helper.make_model(graph, functions=[function],
                          opset_imports=[helper.make_opsetid("", 9), helper.make_opsetid("my.ops", 1)])
model.ir_version = 8
with open(os.path.join(OUT, "09-function.onnx"), "wb") as file:
    file.write(model.SerializeToString())
