#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""resume_rounding.py CLI: second-order rounding goes on where it was interrupted, to the same bytes.

A chain of products is rounded once in one go. Then with room for a part of the layers on the disk (RLIMIT_FSIZE), with more
room, and with enough; killed by SIGKILL in the middle; with the end of what was kept torn off, and with a bit of it turned.
What was finished stays as it is from one run to the next, and each way ends with the same model and leaves nothing. So do runs
that end while they judge what has been rounded: what was decided is not decided again, as a verdict that is turned shows.
Experts that no sample reaches are named by the run that goes on, too. Layers of other settings, and files that are something
else, are refused and stay. onnxruntime computes from the export what it computes from the float model, but for the error of 4
bits.
"""
import hashlib
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time

import oracle
import quantized_experts

oracle.use_oracle_python()

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

CLI = os.path.realpath(sys.argv[1])
LAYERS, WIDTH, INNER = 6, 96, 160
HEAD, RECORD, WEIGHTS = 72, 48, WIDTH * INNER * 4
VERDICT = RECORD + 24
JUDGED = HEAD + VERDICT + 2 * LAYERS * (RECORD + WEIGHTS) + VERDICT    # before the first batch is judged
KEPT, TAKEN_BACK = 2, 3
OPTIONS = ['--preset', 'w4-matmul', '--rounding', 'second-order', '--data', 'samples', '--skip-compare', '--no-verify']
compared, failed = 0, []


def check(good, what):
    global compared
    compared += 1
    if not good:
        failed.append(what)
        print('not ok', what, flush=True)


def make_network():
    rng, nodes, weights = np.random.default_rng(3), [], []
    for i in range(LAYERS):
        for name, shape, inputs, output in ((f'up{i}', (WIDTH, INNER), f'x{i}', f'u{i}'),
                                            (f'down{i}', (INNER, WIDTH), f'r{i}', f'x{i + 1}')):
            numbers = (rng.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)
            weights.append(numpy_helper.from_array(numbers, name + '.w'))
            nodes.append(helper.make_node('MatMul', [inputs, name + '.w'], [output], name))
            if output[0] == 'u':
                nodes.append(helper.make_node('Relu', [output], [f'r{i}'], f'relu{i}'))
    graph = helper.make_graph(nodes, 'net', [helper.make_tensor_value_info('x0', TensorProto.FLOAT, [8, WIDTH])],
                              [helper.make_tensor_value_info(f'x{LAYERS}', TensorProto.FLOAT, [8, WIDTH])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10), 'net.onnx')
    os.mkdir('samples')
    for i in range(12):
        np.save(f'samples/s{i:02}.npy', rng.standard_normal((8, WIDTH)).astype(np.float32))


def limit(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def start(output, *more, room=None):
    return subprocess.Popen([CLI, 'quantize', 'net.onnx', '-o', output, *OPTIONS, *more], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, preexec_fn=room and (lambda: limit(room)))


def run(output, *more, room=None):
    process = start(output, *more, room=room)
    message = process.communicate()[1]
    return process.returncode, message


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def check_ends(what, kept, wanted):
    code, message = run('out.onnx', '--save-stats', 's', '--resume')
    check(code == 0, f'{what}: resumed: {message}')
    check(code == 0 and read('out.onnx') == wanted, f'{what}: the same bytes')
    check(not os.path.exists(kept), f'{what}: nothing is left')


def interrupt(kept):
    """Ends where the file may not grow any more, each time behind what was there."""
    before = b''
    for layers in (3, 7):
        code, _ = run('out.onnx', '--save-stats', 's', *(['--resume'] if before else []),
                      room=HEAD + layers * (RECORD + WEIGHTS) + 999)
        now = read(kept)
        whole = HEAD + (len(before) - HEAD) // (RECORD + WEIGHTS) * (RECORD + WEIGHTS)
        check(code != 0 and not os.path.exists('out.onnx'), f'{layers} layers: no model')
        check(len(now) >= HEAD + layers * (RECORD + WEIGHTS), f'{layers} layers: kept')
        check(now[:whole if before else 0] == before[:whole if before else 0], f'{layers} layers: what was finished stays')
        before = now
    return before


def kill(kept, wanted):
    for attempt in range(4):
        process = start('out.onnx', '--save-stats', 's')
        enough = HEAD + (1 + 2 * attempt) * WEIGHTS
        while process.poll() is None and not (os.path.exists(kept) and os.path.getsize(kept) > enough):
            time.sleep(0.001)
        process.kill()
        process.communicate()
        if os.path.exists('out.onnx'):
            os.unlink('out.onnx')
        check_ends(f'killed ({attempt})', kept, wanted)


def judge(kept, wanted):
    """Ends where the file may not grow by another verdict. Gives what was kept at the last."""
    before, n = b'', 0
    os.unlink('out.onnx')
    while n < 40:
        code, message = run('out.onnx', '--save-stats', 's', *(['--resume'] if n > 0 else []), room=JUDGED + n * VERDICT + 5)
        if code == 0:
            break
        before, last = read(kept), before
        check(not os.path.exists('out.onnx'), f'{n} verdicts: no model')
        check(JUDGED + n * VERDICT <= len(before) < JUDGED + (n + 1) * VERDICT, f'{n} verdicts: {len(before) - JUDGED} bytes')
        check(before[:len(last) - 5 if last else 0] == last[:-5], f'{n} verdicts: what was decided stays')
        n += 1
    check(n >= 3, f'{n} verdicts')
    check(code == 0 and read('out.onnx') == wanted, f'judged bit by bit, {message}: the same bytes')
    os.unlink('out.onnx')
    return before


def check_decided(kept, part, wanted):
    """A verdict that says otherwise is followed: the layers are not judged again."""
    place = JUDGED + (len(part) - JUDGED) // VERDICT * VERDICT - VERDICT
    first, last, outcome, zero, db = struct.unpack('<4Id', part[place + RECORD:place + VERDICT])
    check(outcome in (KEPT, TAKEN_BACK) and zero == 0 and first < last <= 2 * LAYERS, f'a verdict: {first} {last} {outcome}')
    for outcome_, same in ((KEPT + TAKEN_BACK - outcome, False), (outcome, True)):
        verdict = struct.pack('<4Id', first, last, outcome_, 0, db)
        with open(kept, 'wb') as file:
            file.write(part[:place] + part[place:place + 16] + hashlib.sha256(verdict).digest() + verdict)
        code, message = run('out.onnx', '--save-stats', 's', '--resume')
        check(code == 0 and (read('out.onnx') == wanted) == same, f'verdict {outcome_} of {first} to {last}: {message}')
    wrong = struct.pack('<4Id', first, last + 1, outcome, 0, db)
    check_refused('another verdict', kept, part[:place] + part[place:place + 16] + hashlib.sha256(wrong).digest() + wrong,
                  '--resume', name='decisions')


def check_experts(kept):
    """Each layer behind the other is finished by another run, which names the experts all the same."""
    def take(*more, room=None):
        done = subprocess.run([CLI, 'quantize', 'swiglu.onnx', '-o', 'out.onnx', '--preset', 'w4-matmul', '--rounding',
                               'second-order', '--data', 'ids', '--skip-compare', '--no-verify', '--json', '--save-stats', 's',
                               *more], capture_output=True, text=True, preexec_fn=room and (lambda: limit(room)))
        notes = json.loads(done.stdout)['report']['notes'] if done.returncode == 0 else []
        return sorted(n['text'] for n in notes if n['code'] in ('experts-unreached', 'layer-unreached'))

    quantized_experts.make_model('swiglu.onnx', 'swiglu', 0)
    os.mkdir('ids')
    for i in range(quantized_experts.SAMPLES):
        np.save('ids/%02d.npy' % i, np.random.default_rng(i).integers(0, quantized_experts.WORDS, quantized_experts.TOKENS))
    wanted, parts = take(), 0
    model = read('out.onnx')
    check(len(wanted) == 2, f'named: {wanted}')
    os.unlink('out.onnx')
    for room in range(100000, 5000000, 100000):
        found = take(*(['--resume'] if os.path.exists(kept) else []), room=room)
        parts += os.path.exists(kept)
        if os.path.exists('out.onnx'):
            break
    check(parts >= 2, f'{parts} parts')
    check(found == wanted and read('out.onnx') == model, f'named by the run that goes on: {found}')


def check_refused(what, kept, content, *more, name=None):
    with open(kept, 'wb') as file:
        file.write(content)
    code, message = run('out.onnx', '--save-stats', 's', *more)
    check(code != 0 and (name or kept) in message, f'{what}: refused: {message}')
    check(read(kept) == content, f'{what}: the file stays')
    os.unlink(kept)


def check_runs(path):
    x = np.load('samples/s11.npy')
    float_, found = (ort.InferenceSession(p, providers=['CPUExecutionProvider']).run(None, {'x0': x})[0]
                     for p in ('net.onnx', path))
    sqnr = 10 * np.log10(np.sum(float_ ** 2) / np.sum((float_ - found) ** 2))
    check(sqnr > 10, f'onnxruntime: {sqnr:.1f} dB')


def main():
    kept = 's.rounding'
    make_network()
    code, message = run('whole.onnx')
    check(code == 0, message)
    wanted = read('whole.onnx')
    onnx.checker.check_model('whole.onnx')
    check_runs('whole.onnx')
    run('nearest.onnx', '--rounding', 'nearest')
    check(read('nearest.onnx') != wanted, 'rounding changes the weights')

    part = interrupt(kept)
    check_ends('no room', kept, wanted)
    at = HEAD + RECORD + 77
    for what, content in (('torn', part[:-5000]), ('turned', part[:at] + bytes([part[at] ^ 1]) + part[at + 1:])):
        with open(kept, 'wb') as file:
            file.write(content)
        check_ends(what, kept, wanted)
    kill(kept, wanted)
    check_decided(kept, judge(kept, wanted), wanted)
    check_experts(kept)
    check_refused('other settings', kept, part, '--resume', '--block-size', '64')
    check_refused('no such file', kept, b'a letter to somebody' * 10, '--resume')
    check_refused('no such file, begun anew', kept, b'a letter to somebody' * 10)
    print(f'{compared} comparisons, {len(failed)} failed')
    sys.exit(bool(failed) or compared < 30)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
