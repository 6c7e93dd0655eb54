#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""weights.py QUANTIZE_RUN VERNIER_CLI ENGINE_RUN [STEM...]

Formats that need no samples. Stored integers, scales and zero points in blocks must be those of onnxruntime's
MatMulNBitsQuantizer on the same prepared model, in both of its formats, and those of its k_quant. Every preset for small weights
must pass the checker, load in onnxruntime, and compute there what the engine computes.
"""
import os
import subprocess
import sys
import tempfile

import networks
import oracle

MODELS = ['txt_gpt2_tiny_fp32', 'txt_tashkeel_transformer_fp32', 'cls_mobilenetv2_035_128_flowers', 'sr_espcn_bsd300_rgb']
PRESETS = ['w8', 'w4', 'w4-matmul', 'w4-mixed', 'fp16', 'bf16-weights']
REFUSED = [(p, 'sr_espcn_bsd300_rgb') for p in ('w4-matmul', 'w4-mixed')]    # it has no matrices: nothing would become small
AGREEMENT_DB = 40
K_QUANTS = [(32, 4), (16, 4), (256, 4), (128, 8), (32, 2)]
BLOCKS = [(32, 'u4', False), (32, 's4', True), (128, 'u4', False), (16, 's4', True), (64, 'u8', False), (32, 's8', True)]


def make_model(path):
    """Products with odd sizes, ties, blocks of zeros; one matrix for two nodes; a Gemm each way."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save

    rng = np.random.default_rng(3)
    odd = rng.standard_normal((100, 8)).astype(np.float32)
    ties = (rng.integers(-16, 17, (96, 5)) / np.float32(4)).astype(np.float32)
    ties[:32, 0] = 0
    positive = np.abs(rng.standard_normal((1, 8, 33))).astype(np.float32)
    constants = {'odd': odd, 'ties': ties, 'positive': positive, 'g': rng.standard_normal((6, 96)).astype(np.float32),
                 'c': rng.standard_normal(6).astype(np.float32)}
    nodes = [helper.make_node('MatMul', ['x', 'odd'], ['a'], 'first'), helper.make_node('MatMul', ['x', 'odd'], ['b'], 'same'),
             helper.make_node('Add', ['a', 'b'], ['ab']), helper.make_node('MatMul', ['ab', 'positive'], ['y'], 'second'),
             helper.make_node('MatMul', ['v', 'ties'], ['z'], 'third'),
             helper.make_node('Gemm', ['v', 'g', 'c'], ['w'], 'dense', transB=1)]
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in
              (('x', [2, 3, 100]), ('v', [4, 96]), ('y', [2, 3, 33]), ('z', [4, 5]), ('w', [4, 6]))]
    graph = helper.make_graph(nodes, 'products', values[:2], values[2:],
                              [numpy_helper.from_array(v, k) for k, v in constants.items()])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10), path)


def constants(model):
    from onnx import numpy_helper

    return {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}


def stored(path, operator):
    """Output of a product -> what it multiplies by: arrays, attributes."""
    import onnx

    model = onnx.load(path)
    values = constants(model)
    producers = {o: n for n in model.graph.node for o in n.output}
    found = {}
    for node in model.graph.node:
        if node.op_type == 'MatMulNBits':
            source, names = node, node.input[1:]
        elif node.op_type == 'MatMul' and operator == 'MatMul':
            source = producers.get(node.input[1])
            rank = values[source.input[0]].ndim if source is not None and source.input[0] in values else 0
            if source is None or source.op_type != 'DequantizeLinear':
                continue
            names = source.input
        else:
            continue
        output = node.output[0]
        attributes = {a.name: a.i for a in source.attribute if a.name in ('K', 'N', 'bits', 'block_size', 'axis')}
        if operator == 'MatMul':
            attributes['axis'] -= rank - 2   # axes of 1 in front; theirs are left away
        arrays = [values[n] for n in names if n]
        found[output] = attributes, arrays
    return found


def by_quantizer(path, out, block, bits, symmetric, qdq):
    from onnxruntime.quantization import QuantFormat
    from onnxruntime.quantization import matmul_nbits_quantizer as nbits
    import onnx

    config = nbits.DefaultWeightOnlyQuantConfig(
        block_size=block, is_symmetric=symmetric, bits=bits, quant_format=QuantFormat.QDQ if qdq else QuantFormat.QOperator,
        op_types_to_quantize=('MatMul',))
    quantizer = nbits.MatMulNBitsQuantizer(onnx.load(path), algo_config=config)
    quantizer.process()
    quantizer.model.save_model_to_file(out)
    return stored(out, 'MatMul' if qdq else '')


def nibbles(packed, shape):
    import numpy as np

    return np.stack([packed & 15, packed >> 4], -1).reshape(-1)[:int(np.prod(shape))].reshape(shape)


def by_kernels(path, block, bits, symmetric, qdq):
    """The same with the kernels the quantizer calls, where a package that it needs is missing."""
    import numpy as np
    import onnx
    from onnxruntime.capi import _pybind_state as kernels

    model, found = onnx.load(path), {}
    values = constants(model)
    for node in model.graph.node:
        weight = values.get(node.input[1]) if node.op_type == 'MatMul' else None
        if weight is None or weight.ndim < 2 or any(d != 1 for d in weight.shape[:-2]) or weight.dtype != np.float32:
            continue
        w = np.ascontiguousarray(weight.reshape(weight.shape[-2:]))
        k, n = w.shape
        blocks, per_byte = -(-k // block), 8 // bits
        if qdq:
            packed, scales = np.zeros((k * n + 1) // 2, np.uint8), np.zeros((blocks, n), np.float32)
            zeros = np.zeros((n * blocks + 1) // 2, np.uint8)
            kernels.quantize_qdq_matmul_4bits(packed, w, scales, zeros, block, n, k, symmetric)
            q = nibbles(packed, (k, n)).astype(np.int32)
            arrays = [(q ^ 8) - 8 if symmetric else q, scales] + ([] if symmetric else [nibbles(zeros, (blocks, n))])
            found[node.output[0]] = {'axis': 0, 'block_size': block}, arrays
        else:
            w = np.pad(w, ((0, blocks * block - k), (0, 0)))
            packed, scales = np.zeros((n, blocks, block // per_byte), np.uint8), np.zeros((n, blocks), np.float32)
            zeros = np.zeros((n, -(-blocks // per_byte)), np.uint8)
            run = kernels.quantize_matmul_4bits if bits == 4 else kernels.quantize_matmul_8bits
            run(packed, w, scales, zeros, block, n, k, symmetric)
            found[node.output[0]] = ({'K': k, 'N': n, 'bits': bits, 'block_size': block},
                                     [packed, scales] + ([] if symmetric else [zeros]))
    return found


def pack(numbers, bits):
    """Low bits first, row by row; what is left of a byte is the middle."""
    import numpy as np

    per_byte = 8 // bits
    numbers = np.pad(numbers, ((0, 0), (0, -numbers.shape[1] % per_byte)), constant_values=1 << (bits - 1))
    parts = numbers.astype(np.uint8).reshape(len(numbers), -1, per_byte)
    return np.bitwise_or.reduce(parts << (np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)), 2)


def by_k_quant(path, block, bits):
    """What the search of the peer's package makes of the same matrices."""
    import types
    import numpy as np
    import onnx

    missing = sys.modules.setdefault('onnx_ir', types.ModuleType('onnx_ir'))    # for files, which are not needed
    from onnxruntime.quantization.neural_compressor import weight_only
    if not hasattr(missing, '__file__'):
        del sys.modules['onnx_ir']

    model, found = onnx.load(path), {}
    values = constants(model)
    for node in model.graph.node:
        weight = values.get(node.input[1]) if node.op_type == 'MatMul' else None
        if weight is None or weight.ndim < 2 or any(d != 1 for d in weight.shape[:-2]) or weight.dtype != np.float32:
            continue
        w = weight.reshape(weight.shape[-2:])
        k, n = w.shape
        blocks = -(-k // block)
        with np.errstate(all='ignore'):
            q, scales, zeros = weight_only.quant_tensor_k_quant_cpu(np.pad(w, ((0, blocks * block - k), (0, 0))).T, bits, block)
        packed, scales = pack(q.reshape(n, -1), bits).reshape(n, blocks, -1), scales.reshape(n, blocks).astype(np.float32)
        found[node.output[0]] = ({'K': k, 'N': n, 'bits': bits, 'block_size': block},
                                 [packed, scales, pack(zeros.reshape(n, blocks), bits)])
    return found


def peer(path, out, *settings):
    try:
        import onnx_ir  # noqa: F401
    except ImportError:
        return by_kernels(path, *settings)
    return by_quantizer(path, out, *settings)


def same_numbers(program, path, block, dtype, symmetric, qdq, work, searched=False):
    """How many products are stored the same; raises on what differs."""
    import numpy as np

    ours, theirs = os.path.join(work, 'ours.onnx'), os.path.join(work, 'theirs.onnx')
    settings = ['format=' + ('weights' if qdq else 'matmulnbits'), 'weight=' + {'u': 'uint', 's': 'int'}[dtype[0]] + dtype[1],
                'block-size=%d' % block, 'symmetric-weights=%s' % str(symmetric).lower(),
                'block-method=' + ('k-quant' if searched else 'minmax')]
    run = subprocess.run([program, '--unit-ranges', *[a for s in settings for a in ('--set', s)], path, ours,
                          os.path.join(work, 'plan.json')], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr)
    a, b = stored(ours, 'MatMul' if qdq else ''), (by_k_quant(path, block, int(dtype[1])) if searched else
                                                   peer(path, theirs, block, int(dtype[1]), symmetric, qdq))
    for name, (attributes, arrays) in b.items():
        if name not in a:
            raise RuntimeError('%s: not stored small' % name)
        if a[name][0] != attributes:
            raise RuntimeError('%s: %s, theirs %s' % (name, a[name][0], attributes))
        for list_ in (a[name][1], arrays):   # zero points that say nothing; the peer leaves some away
            if qdq and len(list_) == 3 and not np.any(list_[2].astype(np.int32)):
                list_.pop()
        if len(a[name][1]) != len(arrays):
            raise RuntimeError('%s: %d arrays, theirs %d' % (name, len(a[name][1]), len(arrays)))
        for x, y in zip(a[name][1], arrays):
            # a matrix behind axes of 1 keeps them; theirs is 2-D
            if not np.array_equal(x.astype(np.float64).reshape(y.shape), y.astype(np.float64)):
                raise RuntimeError('%s: other numbers' % name)
    return len(b)


def sqnr(wanted, found):
    import numpy as np

    noise = float(np.sum((wanted.astype(np.float64) - found) ** 2))
    signal = float(np.sum(wanted.astype(np.float64) ** 2))
    return float('inf') if noise == 0 else 10 * np.log10(signal / noise) if signal > 0 else float('-inf')


def agreement(cli, engine, stem, path, preset, photo, work):
    """None if the preset is rightly refused; or least SQNR of an output of the engine against onnxruntime's, of the small network
    against the original; the size."""
    import numpy as np
    import onnx

    out = os.path.join(work, 'small.onnx')
    if os.path.exists(out):
        os.unlink(out)
    run = subprocess.run([cli, 'quantize', path, '-o', out, '--preset', preset], capture_output=True, text=True)
    if (preset, stem) in REFUSED and run.returncode == 1 and 'can store' in run.stderr and not os.path.exists(out):
        return None
    if run.returncode != 0 or (preset, stem) in REFUSED:
        raise RuntimeError(run.stderr.strip() or 'not refused')
    onnx.checker.check_model(out)
    session, original = networks.make_session(out, False), networks.make_session(path, False)
    inputs = networks.make_inputs(stem, original, photo, 5)
    names = [o.name for o in session.get_outputs()]
    wanted, before = session.run(names, inputs), original.run(names, inputs)
    found = networks.run_engine(engine, out, inputs)
    found = [found[n.replace('/', '_').replace(':', '_')] for n in names]
    for w, f, b in zip(wanted, found, before):
        if not w.dtype == f.dtype == b.dtype or not w.shape == f.shape == b.shape:
            raise RuntimeError('an output has another type or shape')
    networks.make_session(out, True).run(names, inputs)
    floats = [i for i, w in enumerate(wanted) if np.issubdtype(w.dtype, np.floating)]
    return (min(sqnr(wanted[i], found[i]) for i in floats), min(sqnr(before[i], wanted[i]) for i in floats),
            os.path.getsize(out) / os.path.getsize(path))


def main():
    oracle.use_oracle_python()
    program, cli, engine = sys.argv[1:4]
    folder = oracle.shared_folder()
    photo = oracle.photographs(folder)[0]
    stems = sys.argv[4:] or MODELS
    compared = failed = 0
    with tempfile.TemporaryDirectory() as work:
        made = os.path.join(work, 'made.onnx')
        make_model(made)
        prepared = [('made', made)]
        for stem in stems[:2]:
            prepared.append((stem, os.path.join(work, stem + '.onnx')))
            subprocess.run([program, '--prepare', '21', os.path.join(folder, 'models', stem + '.onnx'), prepared[-1][1]],
                           check=True)
        for stem, path in prepared:
            for block, dtype, symmetric in BLOCKS:
                for qdq in (False, True):
                    if qdq and dtype[1] == '8':   # the peer has no such form
                        continue
                    label = '%-34s %s, blocks of %3d, %-9s' % (stem, dtype, block, 'Q/DQ' if qdq else 'operator')
                    try:
                        n, wrong = same_numbers(program, path, block, dtype, symmetric, qdq, work), ''
                        wrong = '' if n > 0 else 'nothing was compared'
                    except Exception as error:
                        n, wrong = 0, str(error)[:300]
                    compared, failed = compared + 1, failed + (wrong != '')
                    print('%s %3d products equal  %s' % (label, n, wrong), flush=True)
            for block, bits in K_QUANTS:
                try:
                    n, wrong = same_numbers(program, path, block, 'u%d' % bits, False, False, work, True), ''
                    wrong = '' if n > 0 else 'nothing was compared'
                except Exception as error:
                    n, wrong = 0, str(error)[:300]
                compared, failed = compared + 1, failed + (wrong != '')
                print('%-34s u%d, blocks of %3d, k-quant   %3d products equal  %s' % (stem, bits, block, n, wrong), flush=True)
        for stem in stems:
            for preset in PRESETS:
                path = os.path.join(folder, 'models', stem + '.onnx')
                try:
                    found = agreement(cli, engine, stem, path, preset, photo, work)
                    if found is None:
                        compared = compared + 1
                        print('%-34s %-10s refused, as nothing would become small' % (stem, preset), flush=True)
                        continue
                    db, loss, size = found
                    wrong = '' if db >= AGREEMENT_DB else 'less than %d dB' % AGREEMENT_DB
                except Exception as error:
                    db, loss, size, wrong = 0, 0, 0, str(error)[:300]
                compared, failed = compared + 1, failed + (wrong != '')
                print('%-34s %-10s engine %6.1f dB, float %6.1f dB, size %.2f  %s' % (stem, preset, db, loss, size, wrong),
                      flush=True)
    print('%d compared, %d bad' % (compared, failed))
    sys.exit(1 if failed or not compared else 0)


if __name__ == '__main__':
    main()
