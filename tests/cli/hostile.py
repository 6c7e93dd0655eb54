# SPDX-License-Identifier: GPL-3.0-or-later
"""hostile.py CLI SOURCE_DIR [PATTERN]: files that ask for more than they are worth.

Each file is read by the command that reads such files, in a process that may have as much address space as it needs with an
honest file, and 256 MB and four times the size of the file more. It must end by itself within 20 seconds of processor time, by
success or with a message that says what is wrong: running out of memory is no answer, and neither is a signal. Only a network
that was accepted and runs may be told how many bytes it wanted and could not have. At the end stands for each kind of file how
much more was resident at most than with an honest file, as a multiple of the file's size and in MB. PATTERN takes a part,
such as “^model-” or “npz-stack”.
"""
import ctypes
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
import threading
import zlib

CLI, SOURCE = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
DEMO = os.path.join(SOURCE, 'data/demo/demo.onnx')
SAMPLES = os.path.join(SOURCE, 'data/demo/samples')
FREE, TIMES, SECONDS = 256 << 20, 4, 20
MB = 1 << 20

# ---- protocol buffers and networks ----


def varint(n):
    out = b''
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n & (1 << 64) - 1)


def chunk(field, data, size=None):
    if isinstance(data, str):
        data = data.encode()
    return varint(field << 3 | 2) + varint(len(data) if size is None else size) + data


FLOAT, INT64, STRING = 1, 7, 8


def tensor(name, dtype, dims, data=b'', extra=b''):
    return b''.join(number(1, d) for d in dims) + number(2, dtype) + chunk(8, name) + (chunk(9, data) if data else b'') + extra


def external(**more):
    """What a tensor has of data in a file beside."""
    entries = {'location': 'w.bin', **more}
    return b''.join(chunk(13, chunk(1, key) + chunk(2, text)) for key, text in entries.items()) + number(14, 1)


def ints(name, values):
    return tensor(name, INT64, [len(values)], struct.pack('<%dq' % len(values), *values))


def floats(name, values):
    return tensor(name, FLOAT, [len(values)], struct.pack('<%df' % len(values), *values))


def attribute(name, kind, data):
    return chunk(1, name) + number(20, kind) + data


def node(op, inputs, outputs, attributes=(), domain=''):
    return (b''.join(chunk(1, i) for i in inputs) + b''.join(chunk(2, o) for o in outputs) + chunk(4, op) +
            b''.join(chunk(5, a) for a in attributes) + (chunk(7, domain) if domain else b''))


def value(name, dtype, dims):
    shape = b''.join(chunk(1, number(1, d)) for d in dims)
    return chunk(1, name) + chunk(2, chunk(1, number(1, dtype) + chunk(2, shape)))


def graph(nodes, inputs, outputs, tensors=(), extra=b''):
    return (b''.join(chunk(1, n) for n in nodes) + chunk(2, 'g') + b''.join(chunk(5, t) for t in tensors) +
            b''.join(chunk(11, i) for i in inputs) + b''.join(chunk(12, o) for o in outputs) + extra)


def model(g, extra=b'', opset=17):
    return number(1, 8) + chunk(8, number(2, opset)) + extra + chunk(7, g)


X, Y = value('x', FLOAT, [1, 8]), value('y', FLOAT, [])


def network(*nodes, tensors=(), extra=b''):
    return model(graph(nodes, [X], [Y], tensors, extra))


def with_tensor(t):
    return network(node('Add', ['x', 'w'], ['y']), tensors=[t])


def nested_functions(depth):
    """Each calls the one below it twice."""
    functions = b''
    for i in range(depth):
        inner = ('f%d' % (i + 1), 'd') if i + 1 < depth else ('Relu', '')
        body = [node(inner[0], ['a'], ['b'], domain=inner[1]), node(inner[0], ['b'], ['c'], domain=inner[1])]
        functions += chunk(25, chunk(1, 'f%d' % i) + chunk(4, 'a') + chunk(5, 'c') + b''.join(chunk(7, n) for n in body) +
                           chunk(9, number(2, 17)) + chunk(9, chunk(1, 'd') + number(2, 1)) + chunk(10, 'd'))
    return model(graph([node('f0', ['x'], ['y'], domain='d')], [X], [Y]), chunk(8, chunk(1, 'd') + number(2, 1)) + functions)


def loop(body_nodes, rounds, start, results=()):
    """A loop that carries v from round to round."""
    body = graph(list(body_nodes) + [node('Identity', ['go'], ['going'])],
                 [value('i', INT64, []), value('go', 9, []), chunk(1, 'v')], [value('going', 9, []), chunk(1, 'w')])
    return network(*start, node('Loop', ['rounds', '', 'v0'], ['v1'], [attribute('body', 5, chunk(6, body))]),
                   node('ReduceMean', ['v1'], ['y'], [attribute('keepdims', 2, number(3, 0))]),
                   tensors=[ints('rounds', [rounds])])


def nested_graphs(depth):
    inner = graph([node('Identity', ['x'], ['y'])], [], [chunk(1, 'y')])
    for _ in range(depth):
        branch = chunk(6, inner)
        inner = graph([node('If', ['c'], ['y'], [attribute('then_branch', 5, branch)])], [], [chunk(1, 'y')])
    return model(inner)


# ---- other files ----


def npy(shape, data=b'', descr='<f4', header=None):
    if header is None:
        header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n" % (descr, shape)
    return b'\x93NUMPY\x01\0' + struct.pack('<H', len(header)) + header.encode() + data


def npz(array, zeros):
    """An archive whose only array goes on with @zeros bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(array) + packer.flush(zlib.Z_FULL_FLUSH)
    # begins and ends at a byte, and refers to nothing before
    block = packer.compress(b'\0' * MB) + packer.flush(zlib.Z_FULL_FLUSH)
    packed += block * (zeros // MB) + packer.flush()
    size = len(array) + zeros // MB * MB
    head = struct.pack('<IHHHHHIIIHH', 0x04034b50, 20, 0, 8, 0, 0, 0, len(packed), size, 5, 0) + b'v.npy'
    entry = struct.pack('<IHHHHHHIIIHHHHHII', 0x02014b50, 20, 20, 0, 8, 0, 0, 0, len(packed), size, 5, *[0] * 6) + b'v.npy'
    return head + packed + entry + struct.pack('<IHHHHIIH', 0x06054b50, 0, 0, 1, 1, len(entry), len(head) + len(packed), 0)


def png(width, height, rows):
    """Black; so many rows of it are there."""
    size, n_blocks = rows * (1 + (width + 7) // 8), rows // 100
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    begin = packer.compress(b'') + packer.flush(zlib.Z_FULL_FLUSH)
    # begins and ends at a byte, and refers to nothing before
    block = packer.compress(b'\0' * (size // max(n_blocks, 1))) + packer.flush(zlib.Z_FULL_FLUSH)
    data = b'\x78\xda' + begin + block * n_blocks + packer.flush() + struct.pack('>HH', size % 65521, 1)

    def part(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    return (b'\x89PNG\r\n\x1a\n' + part(b'IHDR', struct.pack('>IIBBBBB', width, height, 1, 0, 0, 0, 0)) + part(b'IDAT', data) +
            part(b'IEND', b''))


def bmp(width, height):
    return b'BM' + struct.pack('<IIIIiiHHIIiiII', 54, 0, 54, 40, width, height, 1, 24, 1, 0, 0, 0, 0, 0) + b'\0' * 100


def gif(width, height):
    return (b'GIF89a' + struct.pack('<HHBBB', width, height, 0x80, 0, 0) + b'\0' * 6 +
            b',' + struct.pack('<HHHHB', 0, 0, width, height, 0) + b'\x02\x02\x4c\x01\0;')


def tiff(width, height):
    tags = [(256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1), (278, 4, height),
            (279, 4, 100)]
    return b'II*\0' + struct.pack('<I', 8) + struct.pack('<H', len(tags)) + b''.join(
        struct.pack('<HHII', t, k, 1, v) for t, k, v in tags) + struct.pack('<I', 0) + b'\0' * 100


def jpeg(width, height, scans):
    part = lambda kind, data: b'\xff' + bytes([kind]) + struct.pack('>H', len(data) + 2) + data
    scan = part(0xda, b'\x01\x01\x00\x00\x00\x00') + b'\0'
    return (b'\xff\xd8' + part(0xc2, struct.pack('>BHHBBBB', 8, height, width, 1, 1, 0x11, 0)) +
            part(0xdb, b'\0' + b'\x01' * 64) + part(0xc4, b'\0' + b'\x01' + b'\0' * 15 + b'\0') + scan * scans + b'\xff\xd9')


MODELS = {
    'truncated': lambda: open(DEMO, 'rb').read()[:1000],
    'length-beyond-the-end': lambda: number(1, 8) + chunk(7, b'abc', 1 << 40),
    'zeros': lambda: b'\0' * (32 * MB),
    'unknown-fields': lambda: model(graph([node('Relu', ['x'], ['y'])], [X], [Y])) + number(900, 1) * (8 * MB),
    'large-dims': lambda: with_tensor(tensor('w', FLOAT, [1 << 40])),
    'dims-overflow': lambda: with_tensor(tensor('w', FLOAT, [1 << 33, 1 << 33])),
    'negative-dims': lambda: with_tensor(tensor('w', FLOAT, [-1, 1 << 60])),
    'many-dims': lambda: with_tensor(tensor('w', FLOAT, [1] * 100000)),
    'external-length': lambda: with_tensor(tensor('w', FLOAT, [1 << 30], extra=external(length=str(1 << 62)))),
    'external-offset': lambda: with_tensor(tensor('w', FLOAT, [8], extra=external(offset=str((1 << 63) - 8)))),
    'external-digits': lambda: with_tensor(tensor('w', FLOAT, [8], extra=external(length='9' * (4 * MB)))),
    'sparse-dims': lambda: network(
        node('Relu', ['x'], ['y']),
        extra=chunk(15, chunk(1, tensor('s', FLOAT, [1], b'\0' * 4)) + chunk(2, ints('i', [0])) + number(3, 1 << 40) +
                    number(3, 1 << 20))),
    'empty-strings': lambda: network(node('Relu', ['x'], ['y']), tensors=[
        tensor('w', STRING, [24 * MB], extra=chunk(6, b'') * (24 * MB))]),
    'packed-ints': lambda: network(node('Relu', ['x'], ['y'], [attribute('a', 7, chunk(8, b'\1' * (64 * MB)))])),
    'unpacked-ints': lambda: network(node('Relu', ['x'], ['y'], [attribute('a', 7, number(8, 1) * (24 * MB))])),
    'int32-data': lambda: with_tensor(tensor('w', FLOAT, [8], extra=chunk(5, b'\1' * (48 * MB)))),
    'strings-attribute': lambda: network(node('Relu', ['x'], ['y'], [attribute('a', 8, chunk(9, b'') * (24 * MB))])),
    'metadata': lambda: network(node('Relu', ['x'], ['y'])) + chunk(14, b'') * (16 * MB),
    'opsets': lambda: network(node('Relu', ['x'], ['y'])) + chunk(8, b'') * (16 * MB),
    'empty-nodes': lambda: model(chunk(1, b'') * (16 * MB)),
    'empty-values': lambda: model(chunk(13, b'') * (16 * MB)),
    'empty-attributes': lambda: network(node('Relu', ['x'], ['y']) + chunk(5, b'') * (16 * MB)),
    'inputs-of-a-node': lambda: network(chunk(1, 'x') * (8 * MB) + node('Sum', [], ['y'])),
    'long-name': lambda: network(node('R' * (32 * MB), ['x'], ['y'])),
    'long-names': lambda: network(node('Relu', ['x'], ['a' * (16 * MB)]), node('Relu', ['a' * (16 * MB)], ['y'])),
    'nested-graphs': lambda: nested_graphs(400),
    'nested-types': lambda: model(graph([node('Relu', ['x'], ['y'])], [chunk(1, 'x') + chunk(2, chunk(4, b'') * 100000)], [Y])),
    'nested-functions': lambda: nested_functions(40),
    'tile': lambda: network(node('Tile', ['x', 'n'], ['t']),
                            node('ReduceMean', ['t'], ['y'], [attribute('keepdims', 2, number(3, 0))]),
                            tensors=[ints('n', [1 << 20, 1 << 14])]),
    'expand': lambda: network(node('Expand', ['x', 'n'], ['t']),
                              node('ReduceMean', ['t'], ['y'], [attribute('keepdims', 2, number(3, 0))]),
                              tensors=[ints('n', [1 << 30, 8])]),
    'constant-of-shape': lambda: network(node('ConstantOfShape', ['n'], ['t']), node('ReduceMean', ['t'], ['m']),
                                         node('Add', ['x', 'm'], ['y']),
                                         tensors=[ints('n', [1 << 20, 1 << 16])]),
    'range': lambda: network(node('Range', ['a', 'b', 'c'], ['t']), node('ReduceSum', ['t'], ['s']), node('Cast', ['s'], ['f'],
                             [attribute('to', 2, number(3, 1))]), node('Add', ['x', 'f'], ['y']),
                             tensors=[tensor('a', INT64, [], struct.pack('<q', 0)),
                                      tensor('b', INT64, [], struct.pack('<q', 1 << 40)),
                                      tensor('c', INT64, [], struct.pack('<q', 1))]),
    'pad': lambda: network(node('Pad', ['x', 'n'], ['t']),
                           node('ReduceMean', ['t'], ['y'], [attribute('keepdims', 2, number(3, 0))]),
                           tensors=[ints('n', [1 << 20, 1 << 20, 0, 0])]),
    'resize': lambda: network(node('Resize', ['x', '', '', 'n'], ['t']), node('ReduceMean', ['t'], ['y'],
                              [attribute('keepdims', 2, number(3, 0))]), tensors=[ints('n', [1 << 20, 1 << 20])]),
    'one-hot': lambda: network(node('Cast', ['x'], ['i'], [attribute('to', 2, number(3, 7))]),
                               node('OneHot', ['i', 'd', 'v'], ['t']),
                               node('ReduceMean', ['t'], ['y'], [attribute('keepdims', 2, number(3, 0))]),
                               tensors=[tensor('d', INT64, [], struct.pack('<q', 1 << 40)), floats('v', [0, 1])]),
    'folded-doubling': lambda: network(*[node('Concat', ['c%d' % i] * 2, ['c%d' % (i + 1)], [attribute('axis', 2, number(3, 0))])
                                         for i in range(40)],
                                       node('ReduceMean', ['c40'], ['m']), node('Add', ['x', 'm'], ['y']),
                                       tensors=[floats('c0', [1] * 64)]),
    'loop-doubling': lambda: loop([node('Concat', ['v', 'v'], ['w'], [attribute('axis', 2, number(3, 0))])], 60,
                                  [node('Identity', ['x'], ['v0'])]),
    'loop-sequence': lambda: loop([node('SequenceInsert', ['v', 'x'], ['w'])], 1 << 40,
                                  [node('SequenceConstruct', ['x'], ['v0'])]).replace(b'ReduceMean', b'SequenceAt'),
}


def stats_of(demo_stats, at, data):
    return demo_stats[:at] + data + demo_stats[at + len(data):]


OTHERS = {
    # kind: (how the file is named, command with FILE, {name: bytes})
    'recipe': ('r.json', ['quantize', DEMO, '-o', 'out.onnx', '--data', SAMPLES, '-n', '1', '--recipe', 'FILE'], {
        'deep': lambda: b'[' * (8 * MB), 'objects': lambda: b'{"a":' * (4 * MB),
        'numbers': lambda: b'[' + b'1,' * (16 * MB) + b'1]',
        'empty-objects': lambda: b'[' + b'{},' * (10 * MB) + b'{}]', 'string': lambda: b'{"format":"' + b'x' * (40 * MB) + b'"}',
        'too-large': lambda: b' ' * (80 * MB), 'zeros': lambda: b'\0' * (16 * MB),
        'rules': lambda: b'{"overrides":[' + b'{"pattern":"a"},' * MB + b'{}]}'}),
    'config': ('c.json', ['quantize', DEMO, '-o', 'out.onnx', '--data', SAMPLES, '-n', '1', '--config', 'FILE'], {
        'deep': lambda: b'{"a":' * (8 * MB), 'numbers': lambda: b'[' + b'1,' * (16 * MB) + b'1]'}),
    'project': ('p.vernier', ['runs', 'FILE'], {
        'deep': lambda: b'[' * (8 * MB), 'numbers': lambda: b'{"runs":[' + b'1,' * (16 * MB) + b'1]}',
        'runs': lambda: b'{"runs":[' + b'{"id":"a"},' * (2 * MB) + b'{}]}'}),
    'ranges': ('t.json', ['quantize', DEMO, '-o', 'out.onnx', '--ranges', 'FILE'], {
        'deep': lambda: b'[' * (8 * MB), 'numbers': lambda: b'{"a":[' + b'1,' * (16 * MB) + b'1]}',
        'zeros': lambda: b'\0' * (32 * MB), 'many': lambda: b'{' + b','.join(b'"t%d":[0,1]' % i for i in range(MB)) + b'}'}),
    'list': ('l.txt', ['calibrate', DEMO, '-o', 's.stats', '--data', 'FILE'], {
        'empty-lines': lambda: b'\n' * (32 * MB), 'lines': lambda: b'a\n' * (12 * MB), 'one-line': lambda: b'a' * (64 * MB),
        'zeros': lambda: b'\0' * (32 * MB)}),
    'labels': ('labels.txt', ['evaluate', DEMO, DEMO, '--data', SAMPLES, '-n', '1', '--labels', 'FILE'], {
        'empty-lines': lambda: b'\n' * (32 * MB), 'lines': lambda: b'a 1\n' * (8 * MB), 'one-line': lambda: b'a' * (64 * MB)}),
    'npy': ('v.npy', ['calibrate', 'net.onnx', '-o', 's.stats', '--data', 'FILE'], {
        'large': lambda: npy('(1099511627776,)'), 'overflow': lambda: npy('(%d, %d)' % (1 << 40, 1 << 40)),
        'dims': lambda: npy('(' + '1,' * 30000 + ')'), 'zero': lambda: npy('(0, %d)' % (1 << 60)),
        'wrong-shape': lambda: npy('(4096, 4096)', b'\0' * (64 * MB)), 'strings': lambda: npy('(8,)', descr='|S%d' % (1 << 40)),
        'header': lambda: npy('', header='(' * 60000), 'stack': lambda: npy('(1048576, 1, 8)', b'\0' * (32 * MB))}),
    'npz': ('v.npz', ['calibrate', 'net.onnx', '-o', 's.stats', '--data', 'FILE'], {
        'shape': lambda: npz(npy('(20000, 20000)'), 1600 * MB), 'more': lambda: npz(npy('(1, 8)', b'\0' * 32), 1600 * MB),
        'stack': lambda: npz(npy('(50000000, 1, 8)'), 1600 * MB),
        'header': lambda: npz(b'\x93NUMPY\2\0\xff\xff\xff\x7f', 1600 * MB)}),
    'raw': ('v.raw', ['calibrate', 'net.onnx', '-o', 's.stats', '--data', 'FILE'], {
        'large': lambda: b'\0' * (96 * MB + 3)}),
    'proto': ('v.pb', ['calibrate', 'net.onnx', '-o', 's.stats', '--data', 'FILE'], {
        'large': lambda: tensor('v', FLOAT, [1 << 40]),
        'strings': lambda: tensor('v', STRING, [24 * MB], extra=chunk(6, b'') * (24 * MB)),
        'dims': lambda: tensor('v', FLOAT, [1] * 500000, b'\0' * 4)}),
    'png': ('p.png', ['calibrate', DEMO, '-o', 's.stats', '--data', 'FILE'], {
        'large': lambda: png(65000, 65000, 65000), 'wide': lambda: png(0x7fffffff, 1, 0),
        'tall': lambda: png(1, 0x7fffffff, 100000)}),
    'bmp': ('p.bmp', ['calibrate', DEMO, '-o', 's.stats', '--data', 'FILE'], {
        'large': lambda: bmp(65000, 65000), 'negative': lambda: bmp(0x7fffffff, -0x80000000)}),
    'gif': ('p.gif', ['calibrate', DEMO, '-o', 's.stats', '--data', 'FILE'], {'large': lambda: gif(65000, 65000)}),
    'tiff': ('p.tif', ['calibrate', DEMO, '-o', 's.stats', '--data', 'FILE'], {'large': lambda: tiff(65000, 65000)}),
    'jpeg': ('p.jpg', ['calibrate', DEMO, '-o', 's.stats', '--data', 'FILE'], {
        'large': lambda: jpeg(65000, 65000, 1), 'passes': lambda: jpeg(8000, 8000, 5000)}),
    'pnm': ('p.ppm', ['calibrate', DEMO, '-o', 's.stats', '--data', 'FILE'], {
        'large': lambda: b'P6\n65000 65000\n255\n' + b'\0' * 1000, 'digits': lambda: b'P6\n' + b'9' * (16 * MB),
        'comment': lambda: b'P6\n#' + b'a' * (16 * MB)}),
    'stats': ('s.stats', ['quantize', DEMO, '-o', 'out.onnx', '--stats', 'FILE'], {
        'zeros': lambda: b'\0' * (32 * MB), 'magic': lambda: open('honest.stats', 'rb').read()[:16] + b'\xff' * (4 * MB),
        'truncated': lambda: open('honest.stats', 'rb').read()[:-100]}),
}

COMMANDS = {
    'inspect': lambda path: ['inspect', path],
    'prepare': lambda path: ['prepare', path, '-o', 'out.onnx'],
    'run': lambda path: ['run', path, '--data', 'random', '-n', '1', '-t', '1'],
}

# What these make of themselves is theirs, once they run; that is limited, too, but not by the size of their files.
MAKES = ['tile', 'expand', 'constant-of-shape', 'range', 'pad', 'resize', 'one-hot', 'folded-doubling', 'loop-doubling',
         'loop-sequence']

HONEST = network(node('Relu', ['x'], ['y']))
honest_resident = 0    # of the commands with honest files, the least
worst = {}    # by kind of file: multiple of its size, bytes, size, name


def run(arguments, limit):
    """Status, or None if it took too long; what it wrote on the error stream; how many bytes were resident at most."""
    def restrict():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen([CLI] + arguments, stdout=subprocess.DEVNULL, stderr=messages, preexec_fn=restrict)
        timer = threading.Timer(30 * SECONDS, process.kill)
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        late = not timer.is_alive()
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        return None if late else process.returncode, messages.read().decode(errors='replace'), used.ru_maxrss << 10


def least_space(arguments):
    """Address space that a command needs with an honest file, to 4 MB."""
    low, high = 16 * MB, 4096 * MB
    if run(arguments, high)[0] != 0:
        return None
    while high - low > 4 * MB:
        middle = (low + high) // 2
        low, high = (low, middle) if run(arguments, middle)[0] == 0 else (middle, high)
    return high


def check(name, arguments, base, size, runs=False):
    limit = base + FREE + TIMES * size
    status, messages, resident = run(arguments, limit)
    last = messages.strip().splitlines()[-1][:300] if messages.strip() else ''
    good = status == 0 or (status in (1, 2) and last and ('ut of memory' not in messages or (
        runs and 'could not allocate another' in messages)))
    more = max(resident - honest_resident, 0)
    worst.setdefault(name.split()[0], []).append((more / size, more, size, name))
    verdict = 'ok' if good else 'not ok'
    print(f'{verdict} {name} ({size / MB:.1f} MB, {more / MB:.1f} MB more resident): {status} {last}', flush=True)
    return good


def tell_worst():
    """Of files of a MB and more the largest multiple, of all the most bytes."""
    for kind, found in worst.items():
        large = [f for f in found if f[2] >= MB]
        told = '%.1f times the %.1f MB of “%s”; ' % (max(large)[0], max(large)[2] / MB, max(large)[3]) if large else ''
        most = max(found, key=lambda f: f[1])
        print('# %s: %s%.1f MB for the %.1f MB of “%s”' % (kind, told, most[1] / MB, most[2] / MB, most[3]))


def put(path, make):
    """What is resident here counts as the program's until it has started: it is given back."""
    with open(path, 'wb') as file:
        size = file.write(make())
    ctypes.CDLL(None).malloc_trim(0)
    return size


def main():
    global honest_resident
    only = re.compile(sys.argv[3]) if len(sys.argv) > 3 else None
    failed = n = 0
    put('net.onnx', lambda: HONEST)
    put('w.bin', lambda: b'\0' * 64)
    if run(['calibrate', DEMO, '-o', 'honest.stats', '--data', SAMPLES, '-n', '2', '-t', '1'], None)[0] != 0:
        sys.exit('no statistics')
    base = max(least_space(c('net.onnx')) or 0 for c in COMMANDS.values())
    base = max(base, least_space(['quantize', DEMO, '-o', 'out.onnx', '--data', SAMPLES, '-n', '1', '-t', '1']) or 0)
    if base == 0:
        print('the program does not start with a limit (a sanitizer?)')
        sys.exit(77)
    honest_resident = min(run(c('net.onnx'), None)[2] for c in COMMANDS.values())
    print('# with an honest file: %d MB, %.1f MB resident' % (base // MB, honest_resident / MB))
    for name, make in MODELS.items():
        if only and not only.search('model-' + name):
            continue
        size = put('m.onnx', make)
        for command, arguments in COMMANDS.items():
            n += 1
            failed += not check('model %s, %s' % (name, command), arguments('m.onnx'), base, size,
                                command == 'run' and name in MAKES)
    for kind, (file, arguments, cases) in OTHERS.items():
        for name, make in cases.items():
            if only and not only.search('%s-%s' % (kind, name)):
                continue
            size = put(file, make)
            n += 1
            failed += not check('%s %s' % (kind, name), [file if a == 'FILE' else a for a in arguments] + (
                ['-t', '1'] if arguments[0] not in ('runs',) else []), base, size)
            os.unlink(file)
    tell_worst()
    print('%d runs, %d failed' % (n, failed))
    sys.exit(failed > 0 or n == 0)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
