#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""transformers.py CLI: what lowers the error of transformers, judged by onnxruntime on small ones made for it: channels that
normalizations write are balanced against the weights behind (SmoothQuant), by its formula in float64; the network that needs it
gains, the one that does not is left alone, and the bytes are the same for any number of threads. Weights in blocks are rounded by
their second order, and --auto finds that, too, with recipes that need no samples."""
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import onnxruntime    # noqa: E402
from onnx import helper, numpy_helper    # noqa: E402

CLI = sys.argv[1]
WIDTH, LENGTH, HEADS = 32, 12, 2
PRODUCTS = ['--op-types', 'MatMul', '--float-output-types', 'MatMul']
faults = []


def expect(good, what):
    print(('ok      ' if good else 'WRONG   ') + what)
    if not good:
        faults.append(what)


class Builder:
    """A block of a transformer, with the normalization in front of attention and of the layers behind it."""

    def __init__(self, form, spread, seed=3, values=1, mixes='MatMul', mask=0):
        """values: how much larger some channels of the values of attention are; mixes: the operator that adds these up; mask:
        what is added to scores of what comes later."""
        self.rng, self.form, self.nodes, self.constants, self.mask = np.random.default_rng(seed), form, [], {}, mask
        self.size, self.values, self.mixes = np.ones(WIDTH), np.ones(WIDTH), mixes
        self.size[self.rng.permutation(WIDTH)[:4]] = spread
        self.values[[1, 7, WIDTH // HEADS + 2]] = values    # of both heads

    def add(self, op_type, inputs, output, domain='', **attributes):
        self.nodes.append(helper.make_node(op_type, inputs, [output], output + '_node', domain=domain, **attributes))
        return output

    def constant(self, name, array):
        self.constants[name] = np.asarray(array, np.float32 if np.asarray(array).dtype.kind == 'f' else np.int64)
        return name

    def product(self, x, name, n_in, n_out, size=None):
        w = self.rng.normal(size=(n_in, n_out)) / np.sqrt(n_in)
        w = w * self.values if name == 'v' else w / self.values[:, None] if name == 'o' else w
        return self.add('MatMul', [x, self.constant('w_' + name, w / (1 if size is None else size[:, None]))], name)

    def norm(self, x, name):
        """Some channels come out many times as large as the others."""
        if self.form == 'bare':
            return self.norm_without_scale(self.add('Mul', [x, self.constant('size_' + name, self.size)], name + '_read'), name)
        scale = self.constant('scale_' + name, (1 + 0.1 * self.rng.normal(size=WIDTH)) * self.size)
        bias = self.constant('bias_' + name, 0.1 * self.rng.normal(size=WIDTH) * self.size)
        if self.form == 'norm':
            return self.add('LayerNormalization', [x, scale, bias], name)
        if self.form == 'simplified':
            return self.add('SimplifiedLayerNormalization', [x, scale], name, axis=-1, epsilon=1e-5, stash_type=1)
        if self.form == 'skip':
            return self.add('SkipLayerNormalization', [x, x, scale, bias], name, 'com.microsoft', epsilon=1e-5)
        if self.form == 'tensorflow':
            return self.norm_of_tensorflow(x, name, scale, bias)
        normal = self.norm_without_scale(x, name + '_normal')
        return self.add('Add', [self.add('Mul', [normal, scale], name + '_scaled'), bias], name)

    def norm_without_scale(self, x, name):
        centred = self.add('Sub', [x, self.add('ReduceMean', [x], name + '_mean', axes=[-1])], name + '_centred')
        square = self.add('Mul', [centred, centred], name + '_square')
        variance = self.add('Add', [self.add('ReduceMean', [square], name + '_var', axes=[-1]),
                                    self.constant(name + '_eps', 1e-5)], name + '_eps_added')
        return self.add('Div', [centred, self.add('Sqrt', [variance], name + '_sqrt')], name)

    def norm_of_tensorflow(self, x, name, scale, bias):
        """As keras2onnx writes it: x (scale / deviation) + (bias - mean (scale / deviation))"""
        mean = self.add('ReduceMean', [x], name + '_mean', axes=[-1])
        centred = self.add('Sub', [x, mean], name + '_centred')
        variance = self.add('ReduceMean', [self.add('Mul', [centred, centred], name + '_square')], name + '_var', axes=[-1])
        deviation = self.add('Sqrt', [self.add('Add', [variance, self.constant(name + '_eps', 1e-5)], name + '_eps_added')],
                             name + '_sqrt')
        factor = self.add('Mul', [self.add('Reciprocal', [deviation], name + '_rsqrt'), scale], name + '_factor')
        rest = self.add('Sub', [bias, self.add('Mul', [mean, factor], name + '_mean_scaled')], name + '_rest')
        return self.add('Add', [self.add('Mul', [x, factor], name + '_scaled'), rest], name)

    def mix(self, weights, v):
        if self.mixes == 'Einsum':
            return self.add('Einsum', [weights, v], 'mixed', equation='b h i j, b h j d -> b h i d')
        return self.add('MatMul', [weights, v], 'mixed')

    def split(self, x, name, order):
        shape = self.constant('heads', [1, LENGTH, HEADS, WIDTH // HEADS])
        return self.add('Transpose', [self.add('Reshape', [x, shape], name + '_heads')], name + '_t', perm=order)

    def build(self, path):
        y = self.norm('x', 'n1')
        q, k, v = (self.product(y, name, WIDTH, WIDTH, self.size) for name in ('q', 'k', 'v'))
        scores = self.add('MatMul', [self.split(q, 'q', [0, 2, 1, 3]), self.split(k, 'k', [0, 2, 3, 1])], 'scores')
        scores = self.add('Mul', [scores, self.constant('root', (WIDTH // HEADS) ** -0.5)], 'scaled')
        if self.mask:
            scores = self.add('Add', [scores, self.constant('mask', self.mask * np.triu(np.ones((LENGTH, LENGTH)), 1))], 'masked')
        weights = self.add('Softmax', [scores], 'weights', axis=-1)
        mixed = self.add('Transpose', [self.mix(weights, self.split(v, 'v', [0, 2, 1, 3]))], 'mixed_t', perm=[0, 2, 1, 3])
        joined = self.add('Reshape', [mixed, self.constant('joined_shape', [1, LENGTH, WIDTH])], 'joined')
        x = self.add('Add', ['x', self.product(joined, 'o', WIDTH, WIDTH)], 'x1')
        y = self.norm(x, 'n2')
        up = self.add('Add', [self.product(y, 'up', WIDTH, 2 * WIDTH, self.size),
                              self.constant('b_up', 0.1 * self.rng.normal(size=2 * WIDTH))], 'up_b')
        down = self.product(self.add('Relu', [up], 'relu'), 'down', 2 * WIDTH, WIDTH)
        self.add('Add', [x, down], 'y')
        graph = helper.make_graph(self.nodes, 'block', [helper.make_tensor_value_info('x', 1, [1, LENGTH, WIDTH])],
                                  [helper.make_tensor_value_info('y', 1, [1, LENGTH, WIDTH])],
                                  [numpy_helper.from_array(a, n) for n, a in self.constants.items()])
        opsets = [helper.make_opsetid('', 17), helper.make_opsetid('com.microsoft', 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def make_samples(folder, seed, n):
    rng = np.random.default_rng(seed)
    os.mkdir(folder)
    samples = [rng.normal(size=(1, LENGTH, WIDTH)).astype(np.float32) for _ in range(n)]
    for i, sample in enumerate(samples):
        np.save(os.path.join(folder, f'{i:02}.npy'), sample)
    return samples


def export(network, data, out, *options):
    preset = [] if '--preset' in options else ['--preset', 'cpu', '--per-channel']
    subprocess.run([CLI, 'quantize', network, '-o', out, '--data', data, *preset, *options],
                   check=True, capture_output=True, text=True)
    return out


def run(path, samples, *names):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = oracle.open_session(path, options)
    return [session.run(list(names) or None, {'x': s}) for s in samples]


def sqnr(wanted, found):
    pairs = [(a[0].astype(np.float64), b[0]) for a, b in zip(wanted, found)]
    return 10 * np.log10(sum((a ** 2).sum() for a, _ in pairs) / max(sum(((a - b) ** 2).sum() for a, b in pairs), 1e-30))


def constants(path):
    return {i.name: numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer}


def check_balance(work, data, unseen):
    """Large channels behind normalizations in five forms."""
    for form in ('norm', 'simplified', 'skip', 'decomposed', 'tensorflow'):
        for spread, gain in ((30, 6), (1, -0.3)):
            network = os.path.join(work, f'{form}{spread}.onnx')
            Builder(form, spread).build(network)
            wanted = run(network, unseen)
            plain = export(network, data, os.path.join(work, 'plain.onnx'), *PRODUCTS)
            balanced = export(network, data, os.path.join(work, 'balanced.onnx'), *PRODUCTS, '--balance-channels', 'folded')
            before, after = sqnr(wanted, run(plain, unseen)), sqnr(wanted, run(balanced, unseen))
            expect(after > before + gain,
                   f'{form}, channels 1 to {spread}: {before:.1f} -> {after:.1f} dB on samples nobody has seen')
            operators = [[n.op_type for n in onnx.load(p).graph.node] for p in (plain, balanced)]
            expect(operators[0] == operators[1], 'with the same operators as before')
    one, three = (export(network, data, os.path.join(work, f'{n}.onnx'), *PRODUCTS, '--balance-channels', 'folded',
                         '--threads', n) for n in '13')
    expect(open(one, 'rb').read() == open(three, 'rb').read(), 'the same bytes for 1 and 3 threads')


def check_values(work, data, unseen):
    """Large channels of the values of attention: the projection behind takes the factors, through heads."""
    for mixes in ('MatMul', 'Einsum'):
        for spread, gain in ((30, 3), (1, -0.3)):
            network = os.path.join(work, f'values-{mixes}{spread}.onnx')
            Builder('norm', 1, values=spread, mixes=mixes).build(network)
            wanted = run(network, unseen)
            for place, options in (('all', []), ('products', PRODUCTS)):
                plain = export(network, data, os.path.join(work, 'plain.onnx'), *options)
                balanced = export(network, data, os.path.join(work, 'balanced.onnx'), *options, '--balance-channels', 'folded')
                before, after = sqnr(wanted, run(plain, unseen)), sqnr(wanted, run(balanced, unseen))
                expect(after > before + gain,
                       f'values mixed by {mixes}, channels 1 to {spread}, quantized {place}: {before:.1f} -> {after:.1f} dB')
                old, new = ([n.op_type for n in onnx.load(p).graph.node] for p in (plain, balanced))
                expect(old == new, 'with the same operators as before')


def check_dynamic(work, data, unseen):
    """Ranges found while the network runs: samples are asked for the channels only."""
    for form, spread, gain in (('norm', 30, 6), ('decomposed', 30, 6), ('norm', 1, -0.3)):
        network = os.path.join(work, 'dynamic.onnx')
        Builder(form, spread).build(network)
        wanted = run(network, unseen)
        plain = export(network, data, os.path.join(work, 'plain.onnx'), '--preset', 'dynamic')
        balanced = export(network, data, os.path.join(work, 'balanced.onnx'), '--preset', 'dynamic', '--balance-channels',
                          'folded')
        before, after = sqnr(wanted, run(plain, unseen)), sqnr(wanted, run(balanced, unseen))
        expect(after > before + gain, f'{form}, dynamic, channels 1 to {spread}: {before:.1f} -> {after:.1f} dB')
        old, new = ([n.op_type for n in onnx.load(p).graph.node] for p in (plain, balanced))
        expect(old == new and 'DynamicQuantizeLinear' in new, 'with the same operators as before')
        done = subprocess.run([CLI, 'quantize', network, '-o', balanced, '--data', data, '--preset', 'dynamic', '--auto'],
                              check=True, capture_output=True, text=True)
        kept = [line for line in done.stdout.split('\n') if 'channel smoothing' in line and line.endswith(', kept')]
        expect(bool(kept) == (spread > 1), '--auto does it where it helps')


def check_restored(work, data, unseen):
    """Normalizations without a scale have nothing that could take factors: a product divides what they write."""
    network = os.path.join(work, 'bare.onnx')
    Builder('bare', 30).build(network)
    wanted = run(network, unseen)
    paths = [export(network, data, os.path.join(work, f'bare-{how}.onnx'), *PRODUCTS, '--balance-cost', '2',
                    '--balance-channels', how)
             for how in ('off', 'folded', 'restored')]
    plain, folded, restored = (sqnr(wanted, run(path, unseen)) for path in paths)
    expect(abs(folded - plain) < 0.5 and restored > plain + 3,
           f'nothing to fold factors into: {plain:.1f} -> {restored:.1f} dB with products')
    n_plain, _, n_restored = ([n.op_type for n in onnx.load(path).graph.node].count('Mul') for path in paths)
    expect(n_restored > n_plain, f'{n_restored - n_plain} of them')


def check_mask(work, data, unseen):
    """A mask of -10000 would leave no levels for the scores that Softmax reads: they stay in float unasked."""
    network, out = os.path.join(work, 'mask.onnx'), os.path.join(work, 'masked.onnx')
    Builder('norm', 1, mask=-1e4).build(network)
    done = subprocess.run([CLI, 'quantize', network, '-o', out, '--data', data, '--preset', 'cpu', '--per-channel', '--json'],
                          check=True, capture_output=True, text=True)
    db = sqnr(run(network, unseen), run(out, unseen))
    expect(db > 25, f'masked scores: {db:.1f} dB')
    expect('as masks do' in done.stdout, 'and that is told')


def make_factors(tensors, weights, exponent):
    """Of channels of @tensors (rows) that all of @weights read: their shares a of the largest of a tensor and w of the largest of
    a column: a^e w^(e - 1), at least a and at most 1."""
    a = np.max([np.abs(y).max(axis=0) / np.abs(y).max() for y in tensors], axis=0)
    w = np.max([(np.abs(x) / np.abs(x).max(axis=0)).max(axis=1) for x in weights], axis=0)
    return np.clip(a ** exponent * w ** (exponent - 1), a, 1)


def expose(network, out, *names):
    model = onnx.load(network)
    model.graph.output.extend(helper.make_tensor_value_info(n, 1, None) for n in names)
    onnx.save(model, out)
    return out


def check_formula(work, data, seen):
    """Every factor in the file is that of the formula: scale and bias of the normalization are divided by it, rows of the weights
    multiplied; columns of what makes the values of attention have those of the projection behind."""
    names = 'n1', 'n2', 'v', 'joined'
    for form in ('norm', 'decomposed'):
        network = os.path.join(work, f'formula-{form}.onnx')
        Builder(form, 20).build(network)
        before = {n: a.astype(np.float64) for n, a in constants(network).items()}
        read = run(expose(network, os.path.join(work, 'exposed.onnx'), *names), seen, *names)
        y = {n: np.concatenate([r[k][0] for r in read]).astype(np.float64) for k, n in enumerate(names)}
        for exponent in (0.5, 0.75):
            out = export(network, data, os.path.join(work, 'f.onnx'), *PRODUCTS, '--held-out', '0',
                         '--balance-channels', 'folded', '--balance-exponent', str(exponent), '--skip-compare')
            after = constants(out)
            values = make_factors([y['v'], y['joined']], [before['w_o']], exponent)
            largest = np.abs(before['w_o'] * values[:, None]).max(axis=0)
            expect(np.allclose(after['w_o_scale'] * 127, largest, rtol=1e-3) and values.min() < 0.9,
                   f'{form}, exponent {exponent}: what reads the values of attention')
            for norm, readers in (('n1', ('q', 'k', 'v')), ('n2', ('up',))):
                wanted = make_factors([y[norm]], [before['w_' + n] for n in readers], exponent)
                found = before['scale_' + norm] / after['scale_' + norm]
                expect(np.allclose(found, wanted, rtol=1e-4) and wanted.min() < 0.5,
                       f'{form}, {norm}, exponent {exponent}: factors of the formula')
                expect(np.allclose(before['bias_' + norm] / after['bias_' + norm], found, rtol=1e-4), 'the bias has them, too')
                for n in readers if norm == 'n1' else ():   # the others have factors of what they write as well
                    largest = np.abs(before['w_' + n] * found[:, None] / (values if n == 'v' else 1)).max(axis=0)
                    expect(np.allclose(after[f'w_{n}_scale'] * 127, largest, rtol=1e-3), f'and what reads it: {n}')


def decode(path):
    """Weights of MatMulNBits, by name without ending, as the formula says: (integer - zero point) times scale."""
    values, found = constants(path), {}
    for node in onnx.load(path).graph.node:
        if node.op_type == 'MatMulNBits':
            attributes = {a.name: a.i for a in node.attribute}
            n, block, bits = attributes['N'], attributes['block_size'], attributes['bits']
            packed = values[node.input[1]].reshape(n, -1)
            q = packed if bits == 8 else np.stack([packed & 15, packed >> 4], -1).reshape(n, -1)
            zeros = np.full((n, q.shape[1] // block), 2 ** (bits - 1))
            if len(node.input) > 3:
                z = values[node.input[3]].reshape(n, -1)
                zeros = (z if bits == 8 else np.stack([z & 15, z >> 4], -1).reshape(n, -1))[:, :zeros.shape[1]]
            scales = values[node.input[2]].reshape(n, -1).astype(np.float64)
            w = (q.astype(np.float64) - np.repeat(zeros, block, axis=1)) * np.repeat(scales, block, axis=1)
            found[node.input[1].rsplit('_Q', 1)[0]] = w[:, :attributes['K']].T
    return found


def make_related(samples):
    """What goes along with each other, as what layers read does: only then one error can make up for another."""
    mix = np.random.default_rng(9).normal(size=(4, WIDTH)).astype(np.float32)
    return [s[:, :, :4] @ mix + 0.1 * s for s in samples]


def check_blocks(work):
    """One product: the error of what it computes falls, at the same scales, and where no two numbers go together it stays."""
    rng = np.random.default_rng(4)
    seen, unseen = (make_related([rng.normal(size=(1, LENGTH, WIDTH)).astype(np.float32) for _ in range(n)]) for n in (16, 8))
    data, network = os.path.join(work, 'related'), os.path.join(work, 'product.onnx')
    os.mkdir(data)
    for i, sample in enumerate(seen):
        np.save(os.path.join(data, f'{i:02}.npy'), sample)
    w = rng.normal(size=(WIDTH, 24)).astype(np.float32)
    graph = helper.make_graph([helper.make_node('MatMul', ['x', 'w'], ['y'], 'product')], 'g',
                              [helper.make_tensor_value_info('x', 1, [1, LENGTH, WIDTH])],
                              [helper.make_tensor_value_info('y', 1, [1, LENGTH, 24])],
                              [numpy_helper.from_array(w, 'w')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), network)
    for bits, symmetric in ((4, 'true'), (4, 'false'), (8, 'false')):
        # of weights alone: rounded activations are worse than weights of 8 bits
        options = ['--preset', 'w4-matmul', '--weight', f'uint{bits}', '--block-size', '16', f'--symmetric-weights={symmetric}',
                   '--accuracy-level', '0']
        near, second = (export(network, data, os.path.join(work, f'{how}.onnx'), *options, '--rounding', how)
                        for how in ('nearest', 'second-order'))
        errors = []
        for path in (near, second):
            error = np.concatenate(unseen).reshape(-1, WIDTH).astype(np.float64) @ (decode(path)['w'] - w)
            errors.append((error ** 2).sum())
        gain = 10 * np.log10(errors[0] / errors[1])
        expect(gain > 3,
               f'{bits} bits in blocks, symmetric {symmetric}: second-order rounding {gain:+.1f} dB, by the formula in float64')
        wanted = run(network, unseen)
        expect(sqnr(wanted, run(second, unseen)) > sqnr(wanted, run(near, unseen)) + 3, 'and in onnxruntime')
        old, new = constants(near), constants(second)
        expect(all(np.array_equal(old[n], new[n]) for n in old if n.endswith(('_scales', '_zero_points'))),
               'with the same scales and zero points')
    check_on_grid(work, data, network, near, options)


def check_on_grid(work, data, network, near, options):
    """Weights that are integers of their blocks already are left as they are."""
    grid = os.path.join(work, 'grid.onnx')
    model = onnx.load(network)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(decode(near)['w'].astype(np.float32), 'w'))
    onnx.save(model, grid)
    plain, second = (constants(export(grid, data, os.path.join(work, f'grid-{how}.onnx'), *options, '--rounding', how))
                     for how in ('nearest', 'second-order'))
    expect(all(np.array_equal(plain[n], second[n]) for n in plain), 'weights that are on the grid stay as they are')


def check_auto(work, unseen):
    """One switch: what needs no samples to be quantized has repairs, too."""
    network, data = os.path.join(work, 'auto.onnx'), os.path.join(work, 'related')
    Builder('norm', 1).build(network)
    unseen = make_related(unseen)
    wanted = run(network, unseen)
    for preset, options, words in (('w4-matmul', ['--block-size', '16'], 'second-order rounding'),
                                   ('dynamic', [], 'per-channel weight scales')):
        paths = [os.path.join(work, f'auto-{i}.onnx') for i in (0, 1)]
        for path, more in zip(paths, ([], ['--auto'])):
            done = subprocess.run([CLI, 'quantize', network, '-o', path, '--data', data, '--preset', preset, *options, *more],
                                  check=True, capture_output=True, text=True)
        before, after = (sqnr(wanted, run(path, unseen)) for path in paths)
        expect(after > before, f'--auto with {preset}: {before:.1f} -> {after:.1f} dB')
        expect(any(words in line and line.endswith(', kept') for line in done.stdout.split('\n')), f'by {words}')


def main():
    with tempfile.TemporaryDirectory() as work:
        data = os.path.join(work, 'data')
        seen = make_samples(data, 1, 16)
        unseen = make_samples(os.path.join(work, 'unseen'), 2, 8)
        check_balance(work, data, unseen)
        check_values(work, data, unseen)
        check_dynamic(work, data, unseen)
        check_restored(work, data, unseen)
        check_mask(work, data, unseen)
        check_formula(work, data, seen)
        check_blocks(work)
        check_auto(work, unseen)
    print(f'{len(faults)} faults')
    sys.exit(bool(faults))


main()
