#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""nonfinite.py ENGINE_RUN [OPERATOR...]

The operators of operators.py and element_operators.py on data with NaN, infinities, -0 and tiny numbers. Every
element must be what onnxruntime or the reference implementation of onnx computes, or what OWN says: what a NaN or an
infinity does not reach stays a number, and what it reaches shows it. Exit 0, 1 or 77.
"""
import os
import sys
import tempfile
import warnings

import element_operators
import oracle
import operators

CASES = int(os.environ.get('VN_CASES', '7'))
MIN_COMPARED = 5
# Not numbers that are computed with, or nothing that the standard defines for NaN.
UNDEFINED = {
    'Cast': 'a whole number from NaN', 'QuantizeLinear': 'a whole number from NaN', 'DequantizeLinear': 'scales are finite',
    'DynamicQuantizeLinear': 'no range', 'OneHot': 'only copies', 'EmbedLayerNormalization': 'takes indices',
    'TopK': 'no order with NaN', 'ArgMax': 'no order with NaN', 'ArgMin': 'no order with NaN',
    'Hardmax': 'no order with NaN', 'Mod': 'whole numbers', 'LSTM': 'states carry on what they get',
    'GRU': 'states carry on what they get', 'RNN': 'states carry on what they get', 'Attention': 'masks add -infinity',
}
# Operators whose second input is data, too.
SECOND = {'Add', 'Sub', 'Mul', 'Div', 'Pow', 'Fmod', 'Min', 'Max', 'Less', 'Greater', 'Equal', 'GreaterOrEqual', 'Sum',
          'Mean', 'Where', 'MatMul', 'Gemm', 'FusedMatMul', 'Einsum', 'Conv', 'FusedConv', 'PRelu', 'Concat'}


def spoil(case, d):
    """Puts special values among the data; False if there are no data of type float32."""
    np = d.np
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-20, -1e-20, 1e-40], np.float32)
    kinds = special[d.choice([slice(0, 1), slice(1, 2), slice(2, 3), slice(1, 3), slice(0, 4), slice(3, 8)])]
    done = False
    for i, x in enumerate(case.inputs):
        if i == 0 or (case.op in SECOND and d.int(0, 2) == 0):
            if x is not None and x.dtype == np.float32 and x.size:
                x = np.array(x)
                x.reshape(-1)[d.rng.integers(0, x.size, max(1, x.size // 12))] = d.choice(list(kinds))
                case.inputs[i], done = x, True
    return done


def run_definition(case):
    """What the reference implementation computes, or None if it cannot."""
    from onnx.reference import ReferenceEvaluator
    try:
        return ReferenceEvaluator(case.model()).run(None, case.feed())
    except Exception:
        return None


def gated(d):
    """Only onnx itself knows this one."""
    shape = d.ints(d.int(1, 4), 1, 20)
    return operators.Case('SwiGLU', [3 * d.array(*shape), d.array(*shape)], opset=28, alpha=d.choice([0.5, 1.5]))


GENERATORS = {'SwiGLU': gated}


def threshold(case, np):
    """Neither NaN passes a comparison nor is it hidden."""
    x = case.inputs[0]
    return [np.where((x > np.float32(case.attributes['alpha'])) | np.isnan(x), x, 0).astype(np.float32)]


def max_pool(case, np):
    """NaN where the window holds one: infinity in its place shows where; positions then say nothing."""
    x = case.inputs[0]
    shown = operators.Case(case.op, [np.where(np.isnan(x), np.inf, 0).astype(np.float32)], **case.attributes)
    plain = operators.Case(case.op, [np.where(np.isnan(x), -np.inf, x)], **case.attributes)
    reached, rest = operators.run_reference(shown), operators.run_reference(plain)
    return [np.where(reached[0] == np.inf, np.float32(np.nan), rest[0])]


def local_norm(case, np):
    """The sum of the window alone, not the one before and what has changed."""
    x, a = case.inputs[0].astype(np.float64), case.attributes
    below, above = (a['size'] - 1) // 2, a['size'] - 1 - (a['size'] - 1) // 2
    sums = np.stack([(x[:, max(0, c - below):c + above + 1] ** 2).sum(1) for c in range(x.shape[1])], 1)
    return [(x / (a['bias'] + a['alpha'] / a['size'] * sums) ** a['beta']).astype(np.float32)]


def resize(case, np):
    """NaN where a special value has any weight, which shows by what two numbers in its place give."""
    x = case.inputs[0]
    zeros, ones = [operators.run_reference(operators.Case(
        case.op, [np.where(np.isfinite(x), x, np.float32(v))] + case.inputs[1:], opset=case.opset, weights=case.weights,
        **case.attributes))[0] for v in (0, 8)]
    return [np.where(zeros == ones, zeros, np.float32(np.nan))]


# Where both others lose a NaN or spread it, each in a way of its own.
OWN = {'ThresholdedRelu': threshold, 'MaxPool': max_pool, 'LRN': local_norm, 'Resize': resize}


def same_elements(found, wanted):
    import numpy as np
    if wanted is None or found.shape != wanted.shape or found.dtype != wanted.dtype:
        return np.zeros(found.shape, bool)
    return np.isclose(found, wanted, rtol=2e-4, atol=2e-5, equal_nan=True)


def check(program, case):
    """'same', 'passed over' or what is wrong."""
    import numpy as np
    with tempfile.TemporaryDirectory() as work:
        found, why = operators.run_engine(program, case, work)
    first, second = operators.run_reference(case), run_definition(case)
    if first is None and second is None:
        return 'passed over'
    if found is None:
        return why.splitlines()[0][:200] if why else 'crashed'
    own = OWN[case.op](case, np) if case.op in OWN else None
    for i, x in enumerate(found):
        others = [np.asarray(r[i]) if r is not None and i < len(r) else None for r in (first, second, own)]
        wrong = ~np.any([same_elements(x, o) for o in others], 0)
        if case.op == 'MaxPool' and i == 1:
            wrong &= ~np.isnan(found[0])
        if wrong.any():
            at = tuple(int(k) for k in np.argwhere(wrong)[0])
            return 'output %d, element %s: %s, not %s' % (
                i, list(at), x[at], ' or '.join(str(o[at]) for o in others if o is not None and o.shape == x.shape))
    return 'same'


def main():
    oracle.use_oracle_python()
    warnings.simplefilter('ignore')
    import numpy
    numpy.seterr(all='ignore')
    program, failed, n_compared = sys.argv[1], 0, 0
    generators = {**operators.GENERATORS, **element_operators.EXACT, **element_operators.NEAR, **GENERATORS}
    for name in sorted(n for n in generators if n not in UNDEFINED and (n in sys.argv[2:] or len(sys.argv) == 2)):
        draw, compared = operators.Draw(sum(map(ord, name)) + 1), 0
        for _ in range(4 * CASES):
            case = generators[name](draw)
            if compared == CASES or not spoil(case, draw):
                continue
            result = check(program, case)
            compared += result != 'passed over'
            if result not in ('same', 'passed over'):
                failed += 1
                print('FAILED %s: %s' % (case, result), flush=True)
        n_compared += compared
        if compared < MIN_COMPARED:
            failed += 1
            print('FAILED %s: too few cases were compared (%d)' % (name, compared))
    print('%d cases compared, %d failed' % (n_compared, failed))
    return 1 if failed or not n_compared else 0


if __name__ == '__main__':
    sys.exit(main())
