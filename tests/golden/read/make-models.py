# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the small ONNX files of this folder with Python's onnx: make-models.py FOLDER"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))


def info(name, dims=(2,), dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def model(nodes, inputs=("x",), outputs=("y",), initializers=(), opsets=(("", 17),), **fields):
    graph = helper.make_graph(list(nodes), "g", [i if not isinstance(i, str) else info(i) for i in inputs],
                              [o if not isinstance(o, str) else info(o) for o in outputs], list(initializers))
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets]
    made = helper.make_model(graph, opset_imports=imports, producer_name="vernier-tests")
    made.ir_version = fields.pop("ir_version", 8)
    return made


def save(name, proto):
    data = proto if isinstance(proto, bytes) else proto.SerializeToString(deterministic=True)
    with open(os.path.join(OUT, name + ".onnx"), "wb") as file:
        file.write(data)


def node(op, inputs, outputs, **attrs):
    return helper.make_node(op, inputs, outputs, **attrs)


def tensor(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def typed():
    """Every element type in its typed field."""
    made = []
    for dtype, field, values in [
        (TensorProto.FLOAT, "float_data", [1.5, -2.0, float("nan")]),
        (TensorProto.COMPLEX64, "float_data", [1, 2, 3, 4, 5, 6]),
        (TensorProto.UINT8, "int32_data", [0, 1, 255]),
        (TensorProto.INT8, "int32_data", [-128, -1, 127]),
        (TensorProto.UINT16, "int32_data", [0, 1, 65535]),
        (TensorProto.INT16, "int32_data", [-32768, -1, 32767]),
        (TensorProto.INT32, "int32_data", [-2147483648, -1, 2147483647]),
        (TensorProto.BOOL, "int32_data", [0, 1, 1]),
        (TensorProto.FLOAT16, "int32_data", [0x3C00, 0xC000, 0x7C00]),
        (TensorProto.BFLOAT16, "int32_data", [0x3F80, 0xC000, 0x7F80]),
        (TensorProto.UINT4, "int32_data", [0x21, 0x0F]),
        (TensorProto.INT4, "int32_data", [0x8F, 0x07]),
        (TensorProto.INT64, "int64_data", [-(2**63), -1, 2**63 - 1]),
        (TensorProto.DOUBLE, "double_data", [1.5, -2.0, 1e300]),
        (TensorProto.UINT32, "uint64_data", [0, 1, 2**32 - 1]),
        (TensorProto.UINT64, "uint64_data", [0, 1, 2**63]),
        (TensorProto.STRING, "string_data", [b"a", b"", b"\xc3\xa9"]),
    ]:
        one = TensorProto(name=f"t{dtype}", data_type=dtype, dims=[3])
        getattr(one, field).extend(values)
        made.append(one)
    return made


def sparse():
    values = tensor("s", np.array([1.0, 2.0], np.float32))
    indices = tensor("", np.array([0, 3], np.int64))
    return helper.make_sparse_tensor(values, indices, [4])


def add_unknown(message, number, data):
    """A field of the far future."""
    tag = number << 3 | 2
    head = bytes([tag & 0x7F | 0x80, tag >> 7, len(data)])
    message.MergeFromString(head + data)


def good():
    relu = node("Relu", ["x"], ["y"])
    save("plain", model([node("Relu", ["x"], ["y"], name="relu")]))
    save("typed", model([relu], initializers=typed()))
    save("unsorted", model([node("Relu", ["b"], ["y"]), node("Abs", ["x"], ["a"]), node("Neg", ["a"], ["b"])]))
    save("optional", model([node("Clip", ["x", "", "m"], ["y"]), node("Dropout", ["x"], ["", "d"])],
                           initializers=[tensor("m", np.float32(6))]))
    save("initializer-as-input", model([node("Add", ["x", "w"], ["y"])], inputs=["x", "w"], ir_version=3,
                                       initializers=[tensor("w", np.ones(2, np.float32))]))
    save("opset-twice", model([relu], opsets=[("", 11), ("ai.onnx", 13), ("my.ops", 2)]))
    save("domain-alias", model([node("Relu", ["x"], ["y"], domain="ai.onnx"), node("Foo", ["x"], ["z"], domain="my.ops")],
                               opsets=[("", 17), ("my.ops", 1)]))
    save("sparse", helper_sparse())
    save("if", branches())
    save("function", with_function())
    save("attributes", attributes())
    save("types", types())
    save("unknown", unknown())
    save("no-names", no_names())
    save("shadow", shadow())


def helper_sparse():
    made = model([node("Add", ["x", "s"], ["y"])], inputs=[info("x", (4,))], outputs=[info("y", (4,))])
    made.graph.sparse_initializer.append(sparse())
    return made


def branches():
    then = helper.make_graph([node("Add", ["x", "a"], ["t"])], "then", [], [info("t")])
    other = helper.make_graph([node("Mul", ["a", "k"], ["e"])], "else", [], [info("e")],
                              [tensor("k", np.array([3, 4], np.float32))])
    return model([node("If", ["c"], ["y"], then_branch=then, else_branch=other), node("Abs", ["x"], ["a"])],
                 inputs=["x", info("c", (), TensorProto.BOOL)])


def shadow():
    then = helper.make_graph([node("Abs", ["x"], ["a"])], "then", [], [info("a")])
    other = helper.make_graph([node("Neg", ["x"], ["a"])], "else", [], [info("a")])
    return model([node("Abs", ["x"], ["a"]), node("If", ["c"], ["y"], then_branch=then, else_branch=other)],
                 inputs=["x", info("c", (), TensorProto.BOOL)])


def with_function():
    body = [node("LeakyRelu", ["p"], ["q"]), node("Add", ["q", "p"], ["r"])]
    body[0].attribute.add(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    function = helper.make_function("my.ops", "Twist", ["p"], ["r"], body, [helper.make_opsetid("", 17)], ["slope"])
    made = model([node("Twist", ["x"], ["y"], domain="my.ops", slope=0.25)], opsets=[("", 17), ("my.ops", 1)])
    made.functions.append(function)
    return made


def attributes():
    op = node("Foo", ["x"], ["y"], domain="my.ops", f=1.5, i=-7, s="text", fs=[1.0, 2.0], ints=[1, -2, 3],
              ss=["a", "b"], t=tensor("named", np.arange(3, dtype=np.int64)),
              ts=[tensor("t1", np.ones(2, np.float32)), tensor("t2", np.arange(20, dtype=np.int32))])
    op.attribute.add(name="empty", type=onnx.AttributeProto.INTS)
    untyped = op.attribute.add(name="untyped")
    untyped.ints.extend([4, 5])
    op.attribute.add(name="sp", type=onnx.AttributeProto.SPARSE_TENSOR).sparse_tensor.CopyFrom(sparse())
    return model([op], opsets=[("", 17), ("my.ops", 1)])


def types():
    made = model([node("Foo", ["x", "seq", "opt", "deep", "odd"], ["y"], domain="my.ops")], opsets=[("", 17), ("my.ops", 1)])
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    made.graph.input[0].type.tensor_type.shape.dim.add().denotation = "DATA_CHANNEL"
    seq = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [1]))
    made.graph.input.append(helper.make_value_info("seq", seq))
    made.graph.input.append(helper.make_value_info("opt", helper.make_optional_type_proto(seq)))
    made.graph.input.append(info("deep", (1,) * 9))
    made.graph.input.append(info("odd", (2, None, 0)))
    made.graph.value_info.append(info("nowhere"))
    made.graph.value_info.append(made.graph.input[0])
    return made


def unknown():
    made = model([node("Foo", ["x", "w"], ["y"], domain="my.ops", t=tensor("t", np.ones(2, np.float32)))],
                 initializers=[tensor("w", np.ones(2, np.float32))], opsets=[("", 17), ("my.ops", 1)])
    made.metadata_props.add(key="license", value="none")
    made.graph.metadata_props.add(key="a", value="b")
    made.graph.node[0].metadata_props.add(key="c", value="d")
    made.graph.initializer[0].metadata_props.add(key="e", value="f")
    made.graph.input[0].metadata_props.add(key="g", value="h")
    made.graph.quantization_annotation.add(tensor_name="y")
    made.training_info.add()
    for message in [made, made.graph, made.graph.node[0], made.graph.initializer[0], made.graph.input[0],
                    made.graph.node[0].attribute[0], made.graph.node[0].attribute[0].t]:
        add_unknown(message, 999, b"future")
    return made


def no_names():
    made = model([node("Relu", ["x"], ["y"])], opsets=[])
    made.graph.ClearField("name")
    made.ClearField("ir_version")
    return made


def bad():
    relu = node("Relu", ["x"], ["y"])
    save("bad-defined-twice", model([relu, node("Abs", ["x"], ["y"])]))
    save("bad-undefined", model([node("Add", ["x", "missing"], ["y"], name="sum")]))
    save("bad-output", model([relu], outputs=["nothing"]))
    save("bad-no-op", model([node("", ["x"], ["y"])]))
    save("bad-input-twice", model([relu], inputs=["x", "x"]))
    for name, dims, data in [("bad-dims", [2, -3], b""), ("bad-size", [4], b"12345678"),
                             ("bad-overflow", [1 << 40, 1 << 40], b""),
                             ("bad-rank", [1] * 9, b"1234")]:
        w = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=data)
        save(name, model([relu], initializers=[w]))
    save("bad-dtype", model([relu], initializers=[TensorProto(name="w", data_type=99, dims=[1], raw_data=b"1")]))
    save("bad-typed", model([relu], initializers=[TensorProto(name="w", data_type=1, dims=[1 << 30], float_data=[1.0])]))
    save("bad-initializer-twice", model([relu], initializers=[tensor("w", np.ones(2, np.float32))] * 2))
    for name, entries in [("bad-external-climb", [("location", "a/../../etc/passwd")]),
                          ("bad-external-absolute", [("location", "/etc/passwd")]),
                          ("bad-external-missing", [("location", "not-there.bin")]),
                          ("bad-external-nowhere", [("offset", "0")]),
                          ("bad-external-number", [("location", "plain.onnx"), ("offset", "-1")]),
                          ("bad-external-length", [("location", "plain.onnx"), ("length", "4")]),
                          ("bad-external-end", [("location", "plain.onnx"), ("offset", "9223372036854775807")])]:
        w = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
        for key, value in entries:
            w.external_data.add(key=key, value=value)
        save(name, model([relu], initializers=[w]))
    save("bad-no-graph", onnx.ModelProto(ir_version=8))
    save("bad-empty", b"")
    save("bad-text", b"<html><body>404</body></html>")
    save("bad-zip", b"PK\3\4" + b"\0" * 40)
    save("bad-noise", bytes((i * 73 + 41) % 256 for i in range(200)))
    save("bad-cut", model([relu]).SerializeToString(deterministic=True)[:-9])
    save("bad-deep", nested(60))
    save("bad-group", b"\x08\x08\x3b\x3c")
    name = model([node("Relu", ["x"], ["y"])]).SerializeToString(deterministic=True)
    save("bad-utf8", name.replace(b"\x0a\x01x\x12\x01y", b"\x0a\x01x\x12\x01\xff"))


def nested(depth):
    """If in If in If ..., as bytes: deeper than Python's onnx would copy."""
    def field(number, data):
        size, head = len(data), []
        while size >= 0x80:
            head.append(size & 0x7F | 0x80)
            size >>= 7
        return bytes([number << 3 | 2] + head + [size]) + data

    graph = b""
    for _ in range(depth):
        attr = field(1, b"then_branch") + field(6, graph)
        graph = field(1, field(4, b"If") + field(5, attr))
    return b"\x08\x08" + field(7, graph)


good()
bad()
