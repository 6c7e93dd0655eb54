#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""contrib.py ENGINE_RUN [OPERATOR...]

Operators on quantized data and the fused operators of onnxruntime, with attributes and sizes drawn at random (always the
same ones), run by the engine and by onnxruntime. Integers must be equal; floats equal to 1e-5 of the range. Exit 0, 1 or
77.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import operators
import oracle
from operators import Draw, run_reference

CASES = 25
MIN_COMPARED = 8
FLOAT_LIMIT = 1e-5

# Where onnxruntime itself decides by float32 arithmetic in another order, or by approximations of functions: a value
# within float rounding of the middle between two steps may go either way. At most this share of numbers, by one step.
TIES = {'QLinearSigmoid': 0.01, 'QLinearSoftmax': 0.01, 'QLinearReduceMean': 0.01, 'QLinearAveragePool': 0.01,
        'QLinearAdd': 0.005, 'QLinearMul': 0.005}
# Operators onnxruntime has no kernel for are compared with what they stand for.
STAND_INS = {}


class Case(operators.Case):
    def model(self):
        from onnx import helper, numpy_helper
        names = ['' if x is None else 'in%d' % i for i, x in enumerate(self.inputs)]
        outputs = ['out%d' % i for i in range(self.n_outputs)]
        node = helper.make_node(self.op, names, outputs, domain=self.domain, **self.attributes)
        given = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
                 for i, (n, x) in enumerate(zip(names, self.inputs)) if n and i not in self.weights]
        held = [numpy_helper.from_array(self.inputs[i], names[i]) for i in sorted(self.weights)
                if self.inputs[i] is not None]
        graph = helper.make_graph([node], 'case', given, [helper.ValueInfoProto(name=o) for o in outputs], held)
        opsets = [helper.make_opsetid('', self.opset)] + ([helper.make_opsetid(self.domain, 1)] if self.domain else [])
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


class Numbers(Draw):
    def kind(self):
        return self.choice(['uint8', 'int8'])

    def byte(self, kind, *shape):
        low, high = (0, 256) if kind == 'uint8' else (-128, 128)
        return self.rng.integers(low, high, shape).astype(kind)

    def near(self, kind, *shape):
        """Zero points: near the middle, sometimes at an end."""
        middle = 128 if kind == 'uint8' else 0
        value = self.choice([middle, middle + self.int(-40, 40), 0, 255 if kind == 'uint8' else -128])
        return self.np.full(shape, value).astype(kind)

    def scale(self, *shape, low=0.002, high=0.1):
        return self.rng.uniform(low, high, shape).astype(self.np.float32)

    def whole(self, low, high, *shape, kind='int32'):
        return self.rng.integers(low, high + 1, shape).astype(kind)


def constants(d, inputs, first=1):
    """Everything from an input on is a weight, mostly."""
    return range(first, len(inputs)) if d.int(0, 2) else ()


def conv_shapes(d):
    n, groups, cin, cout = d.choice([1, 2, 2, 2, 3]), d.choice([1, 1, 2, 3]), d.int(1, 5), d.int(1, 9)
    if d.int(0, 3) == 0:
        groups, cin, cout = d.int(2, 9), 1, d.int(1, 2)
    kernel, stride, dilation = d.ints(n, 1, 4), d.ints(n, 1, 3), d.ints(n, 1, 2)
    size = [d.int((k - 1) * 2 + 1, 14) for k in kernel]
    padding = d.padding(n, kernel)
    if 'auto_pad' in padding:
        dilation = [1] * n
    attributes = dict(strides=stride, dilations=dilation, group=groups, **padding)
    return (d.int(1, 2), groups * cin, *size), (groups * cout, cin, *kernel), attributes


def qlinear_conv(d):
    x, w, attributes = conv_shapes(d)
    kx, kw, m = d.kind(), d.kind(), w[0]
    if kx == 'int8':
        kw = 'int8'
    per = (m,) if d.int(0, 1) else ()
    zero = d.near(kw, *per)
    if kx == 'int8' or per:
        zero = d.np.zeros(per, kw) if kw == 'int8' else d.np.full(per, 128, kw)
    depth = int(d.np.prod(w[1:]))
    inputs = [d.byte(kx, *x), d.scale(), d.near(kx), d.byte(kw, *w), d.scale(*per), zero,
              d.scale(low=0.05 * depth ** 0.5, high=0.3 * depth ** 0.5), d.near(kx)]
    if d.int(0, 1):
        inputs.append(d.whole(-5000, 5000, m))
    return Case('QLinearConv', inputs, weights=constants(d, inputs), **attributes)


def conv_integer(d):
    x, w, attributes = conv_shapes(d)
    kw = d.choice(['uint8', 'int8'])
    inputs = [d.byte('uint8', *x), d.byte(kw, *w)]
    if d.int(0, 2):
        inputs.append(d.near('uint8'))
        if d.int(0, 1):
            inputs.append(d.near(kw))
    return Case('ConvInteger', inputs, weights=constants(d, inputs), **attributes)


def product_shapes(d):
    m, n, k = d.int(1, 140), d.choice([d.int(1, 60), d.int(250, 530)]), d.int(1, 150)
    lead = d.choice([((), ()), ((2,), ()), ((2, 3), (3,)), ((1, 3), (2, 1)), ((2,), (2,))])
    return lead[0] + (m, k), lead[1] + (k, n), n


def matmul_integer(d):
    a, b, n = product_shapes(d)
    ka, kb = d.kind(), d.kind()
    inputs = [d.byte(ka, *a), d.byte(kb, *b)]
    if d.int(0, 3):
        inputs.append(d.near(ka))
        if d.int(0, 2):
            inputs.append(d.near(kb) if d.int(0, 1) or len(b) > 2 else d.byte(kb, n))
    return Case('MatMulInteger', inputs, weights=constants(d, inputs))


def qlinear_matmul(d):
    a, b, n = product_shapes(d)
    ka, kb = d.kind(), d.kind()
    if ka == 'int8':
        kb = 'int8'
    per = (n,) if len(b) == 2 and d.int(0, 1) else ()
    inputs = [d.byte(ka, *a), d.scale(), d.near(ka), d.byte(kb, *b), d.scale(*per), d.near(kb, *per),
              d.scale(low=0.05 * b[-2] ** 0.5, high=0.3 * b[-2] ** 0.5), d.near(ka)]
    return Case('QLinearMatMul', inputs, weights=constants(d, inputs))


def qgemm(d):
    m, n, k, ta, tb = d.int(1, 70), d.int(1, 60), d.int(1, 90), d.int(0, 1), d.int(0, 1)
    ka, kb = d.kind(), d.kind()
    if ka == 'int8':
        kb = 'int8'
    per = (n,) if d.int(0, 1) else ()
    c = d.choice([None, (n,), (1, n), (m, n), (m, 1)])
    inputs = [d.byte(ka, *((k, m) if ta else (m, k))), d.scale(), d.near(ka), d.byte(kb, *((n, k) if tb else (k, n))),
              d.scale(*per), d.near(kb, *per), None if c is None else d.whole(-9000, 9000, *c)]
    if d.int(0, 1):
        inputs += [d.scale(low=0.1, high=2), d.near(ka)]
    elif c is None:
        inputs.pop()
    return Case('QGemm', inputs, domain='com.microsoft', weights=constants(d, inputs), transA=ta, transB=tb,
                alpha=d.choice([1.0, 0.5]))


def matmul_integer_to_float(d):
    a, b, n = product_shapes(d)
    ka, kb = d.kind(), d.kind()
    per = (n,) if len(b) == 2 and d.int(0, 1) else ()
    inputs = [d.byte(ka, *a), d.byte(kb, *b), d.scale(), d.scale(*per), d.near(ka), d.near(kb, *per)]
    if d.int(0, 1):
        inputs.append(d.array(n))
    return Case('MatMulIntegerToFloat', inputs, domain='com.microsoft', weights=constants(d, inputs))


def dynamic_quantize_matmul(d):
    a, b, n = product_shapes(d)
    kb = d.kind()
    per = (n,) if len(b) == 2 and d.int(0, 1) else ()
    inputs = [d.array(*a), d.byte(kb, *b), d.scale(*per), d.near(kb, *per) if d.int(0, 2) else None]
    if d.int(0, 1):
        inputs.append(d.array(n))
    while inputs[-1] is None:
        inputs.pop()
    return Case('DynamicQuantizeMatMul', inputs, domain='com.microsoft', weights=constants(d, inputs))


GENERATORS = {
    'QLinearConv': qlinear_conv, 'ConvInteger': conv_integer, 'MatMulInteger': matmul_integer,
    'QLinearMatMul': qlinear_matmul, 'QGemm': qgemm, 'MatMulIntegerToFloat': matmul_integer_to_float,
    'DynamicQuantizeMatMul': dynamic_quantize_matmul,
}


def compare(op, a, b):
    """'' if two outputs agree, otherwise what is wrong."""
    import numpy as np
    if a.shape != b.shape or a.dtype != b.dtype:
        return 'is %s %s, expected %s %s' % (a.dtype, a.shape, b.dtype, b.shape)
    if a.size == 0:
        return ''
    off = np.abs(a.astype(np.float64) - b.astype(np.float64))
    if a.dtype.kind == 'f':
        span = max(float(b.max() - b.min()), float(np.abs(b).max()), 1e-6)
        return '' if off.max() <= FLOAT_LIMIT * span else 'differs by up to %g of a range of %g' % (off.max(), span)
    if off.max() == 0 or (off.max() == 1 and np.count_nonzero(off) <= max(1, TIES.get(op, 0) * a.size) and op in TIES):
        return ''
    return 'differs in %d of %d numbers by up to %d' % (np.count_nonzero(off), a.size, off.max())


def check(program, case):
    """'same', 'passed over' or what is wrong."""
    wanted = STAND_INS[case.op](case) if case.op in STAND_INS else run_reference(case)
    if wanted is None:
        return 'passed over'
    with tempfile.TemporaryDirectory() as work:
        found, why = operators.run_engine(program, case, work)
    if found is None:
        return why.splitlines()[0][:200] if why else 'crashed'
    for i, (a, b) in enumerate(zip(found, wanted)):
        wrong = compare(case.op, a, b)
        if wrong:
            return 'output %d %s' % (i, wrong)
    return 'same'


def main():
    oracle.use_oracle_python()
    program, names = sys.argv[1], sys.argv[2:] or sorted(GENERATORS)
    failed = 0
    for name in names:
        draw, compared = Numbers(sum(map(ord, name))), 0
        for _ in range(CASES):
            case = GENERATORS[name](draw)
            result = check(program, case)
            compared += result == 'same'
            if result not in ('same', 'passed over'):
                failed += 1
                print('FAILED %s: %s' % (case, result))
        print('%-32s %d cases compared' % (name, compared), flush=True)
        if compared < MIN_COMPARED:
            failed += 1
            print('FAILED %s: too few cases were compared' % name)
    print('%d failed' % failed)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
