#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""suspicions.py CLI [--all] [--only TEXT]: samples that were prepared wrongly, and rightly, for the real networks, through
`quantize`. A wrong set-up is caught if the report has a suspicion about the samples, or if there is no report but a message. At
least 90 % are caught; none that is not gives a good result, but for those where only colours are swapped; and no right one is
suspected. What is told is read from the JSON by codes, not by sentences. --all: also the networks that take long."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
import oracle    # noqa: E402

oracle.use_oracle_python()
SHARED = oracle.shared_folder()

import numpy as np                       # noqa: E402
from PIL import Image                    # noqa: E402
from samples import Source, read_digits    # noqa: E402

CLI = os.path.abspath(sys.argv[1])
CAUGHT, N_SAMPLES = 0.9, 20
GREEN = ('good', 'weak-spot')
COCO, PEOPLE, CIFAR = (os.path.join(SHARED, *p) for p in (('images', 'coco'), ('images', 'people'), ('cifar10',)))

IMAGENET = ('123.675,116.28,103.53', '58.395,57.12,57.375')
HALF, UNIT, PIXELS = ('127.5', '127.5'), ('0', '255'), ('0', '1')

# Networks that take pictures: short name: file stem, folder, mean and std, colour, other options.
PICTURES = {
    'flowers': ('cls_mobilenetv2_035_128_flowers', COCO, HALF, 'rgb'),
    'angle': ('cls_ppocr_v2_angle', COCO, HALF, 'rgb'),
    'cifar': ('cls_cifar10_winml_cnn', CIFAR, HALF, 'rgb'),
    'ultraface': ('det_ultraface_rfb320', PEOPLE, ('127', '128'), 'rgb'),
    'ultraface-bn': ('det_ultraface_rfb320_raw_bn', PEOPLE, ('127', '128'), 'rgb'),
    'nanodet': ('det_nanodet_m_320', COCO, ('103.53,116.28,123.675', '57.375,57.12,58.395'), 'bgr'),
    'picodet': ('det_picodet_s_320_constnodes', COCO, IMAGENET, 'rgb'),
    'openseeface': ('det_openseeface_mnv3', PEOPLE, IMAGENET, 'rgb'),
    'yunet': ('det_yunet_n_dynamic', PEOPLE, PIXELS, 'bgr', '--shape', 'input=1x3x320x320'),
    'espcn': ('sr_espcn_bsd300_rgb', PEOPLE, UNIT, 'rgb'),
    'sinet': ('seg_sinet_portrait_320', PEOPLE, ('102.890434,111.25247,126.91212', '16048,16019,16921'), 'bgr'),
    'plate': ('det_plate_yolov5face_320', COCO, UNIT, 'rgb', '--fit', 'letterbox'),
    'squeezenet': ('cls_squeezenet10_fp32_from_fp16', COCO, ('103.94,116.78,123.68', '1'), 'bgr'),
    'vit': ('vit_cct2_32_op20', CIFAR, IMAGENET, 'rgb'),
    'yolox': ('det_yolox_nano_416', COCO, PIXELS, 'bgr', '--fit', 'letterbox'),
    'picodet-xs': ('det_picodet_xs_416_op10', COCO, IMAGENET, 'rgb'),
    'deeplab': ('seg_deeplab_dm05_513_op8', COCO, HALF, 'rgb'),
    'espcn-gray': ('sr_espcn_x3_op10', PEOPLE, UNIT, 'rgb'),
    'tbefn': ('enh_tbefn_lowlight_180x320', PEOPLE, UNIT, 'rgb'),
    'teams': ('seg_teams_bg_dynamic', PEOPLE, UNIT, 'bgr', '--shape', 'bgrm=1x4x256x256'),
}
SLOW = ('yolox', 'picodet-xs', 'deeplab', 'espcn-gray', 'tbefn', 'squeezenet', 'plate')

# Networks that take something else, as samples.py makes it.
TENSORS = {'mnist': 'mnist_cntk_op8', 'mnist-burn': 'mnist_burn', 'keywords': 'kws_micro_fp32', 'yamnet': 'aud_yamnet256_st',
           'dtln': 'aud_dtln_1_lstm', 'bert': 'txt_bert_toy_op12_unsorted', 'magika': 'txt_magika_v3_3'}
DIMS = {'bert': ['--shape', 'input_ids=1x8', '--shape', 'token_type_ids=1x8', '--shape', 'input_mask=1x8']}


def stem_of(name):
    return PICTURES[name][0] if name in PICTURES else TENSORS[name]


# ---- samples in folders ----

class Makers:
    """Folders of samples; each gives the options that name it."""

    def __init__(self, folder):
        self.folder, self.count, self.sources = folder, 0, {}

    def new(self):
        self.count += 1
        path = os.path.join(self.folder, f'{self.count:03}')
        os.makedirs(path)
        return path

    def pictures(self, name, mean_std=None, color=None, folder=None):
        """Those that the network is made for, prepared rightly where nothing else is said."""
        stem, own, right, order, *rest = PICTURES[name]
        mean, std = mean_std or right
        return ['--data', folder or own, '--mean', mean, '--std', std, '--color', color or order, *rest]

    def source(self, name):
        if name not in self.sources:
            import onnxruntime
            onnxruntime.set_default_logger_severity(4)
            session = onnxruntime.InferenceSession(os.path.join(SHARED, 'models', stem_of(name) + '.onnx'))
            self.sources[name] = Source(SHARED, stem_of(name), session)
        return self.sources[name]

    def tensors(self, name, change=None, suffix='npz', n=N_SAMPLES):
        """What samples.py makes. @change (array, i) gives another for sample i."""
        folder = self.new()
        for i, feed in enumerate(self.source(name).make(n)):
            feed = {k: change(v, i) if change is not None else v for k, v in feed.items()}
            if suffix == 'npz':
                np.savez(os.path.join(folder, f'{i:02}.npz'), **feed)
            else:
                next(iter(feed.values())).tofile(os.path.join(folder, f'{i:02}.raw'))
        return ['--data', folder, *DIMS.get(name, [])]

    def files(self, name, change, n=N_SAMPLES):
        """Pictures of uint8, each what @change (picture, i) gives; prepared rightly."""
        folder = self.new()
        paths = sorted(glob.glob(os.path.join(PICTURES[name][1], '**', '*.jpg'), recursive=True))
        for i, path in enumerate((paths * n)[:n]):
            picture = np.asarray(Image.open(path).convert('RGB'))
            Image.fromarray(change(picture, i).astype(np.uint8)).save(os.path.join(folder, f'{i:02}.png'))
        return self.pictures(name, folder=folder)

    def digits(self, labels=lambda k: k, n=200):
        """In a folder for each class."""
        folder = self.new()
        import gzip
        with gzip.open(os.path.join(SHARED, 'mnist', 't10k-labels-idx1-ubyte.gz')) as file:
            classes = np.frombuffer(file.read(), np.uint8, n, 8)
        for i, (x, k) in enumerate(zip(read_digits(SHARED, n), classes)):
            place = os.path.join(folder, str(labels(int(k))))
            os.makedirs(place, exist_ok=True)
            Image.fromarray(x.reshape(28, 28).astype(np.uint8)).save(os.path.join(place, f'{i:03}.png'))
        return ['--data', folder, *self.gray()]

    def gray(self):
        return ['--mean', '0', '--std', '1']

    def cifar(self, shift=0, n=12):
        """In a folder for each class, of another one."""
        folder, names = self.new(), sorted(os.listdir(CIFAR))
        names = [k for k in names if os.path.isdir(os.path.join(CIFAR, k))]
        for k, name in enumerate(names):
            os.makedirs(os.path.join(folder, names[(k + shift) % len(names)]))
            for path in sorted(glob.glob(os.path.join(CIFAR, name, '*')))[:n]:
                shutil.copy(path, os.path.join(folder, names[(k + shift) % len(names)]))
        return self.pictures('cifar', folder=folder)

    def bytes_of_files(self):
        """The first and the last 1024 bytes of texts and pictures, as magika takes them."""
        folder = self.new()
        paths = sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                              '*.[cp]*')))[:12] + sorted(glob.glob(COCO + '/*.jpg'))[:8]
        for i, path in enumerate(paths):
            with open(path, 'rb') as file:
                data = np.frombuffer(file.read(), np.uint8).astype(np.int32)
            ends = [np.pad(part, pad, constant_values=256) for part, pad in (
                (data[:1024], (0, max(0, 1024 - len(data)))), (data[-1024:], (max(0, 1024 - len(data)), 0)))]
            np.save(os.path.join(folder, f'{i:02}.npy'), np.concatenate(ends)[None])
        return ['--data', folder]

    def broken(self):
        folder = self.new()
        for path in sorted(glob.glob(os.path.join(COCO, '*.jpg')))[:10]:
            with open(path, 'rb') as file, open(os.path.join(folder, os.path.basename(path)), 'wb') as other:
                other.write(file.read(3000))
        return self.pictures('flowers', folder=folder)


def first_channel_last(x, i):
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)).reshape(x.shape)


def only(i, change):
    return lambda x, k: change(x) if k == i else x


def noise(x, i):
    return np.random.default_rng(i).integers(0, 256, x.shape)


# ---- set-ups ----

def list_wrong(m):
    """(network, what is wrong, options); colours are told by their name."""
    other, normal = '0.485,0.456,0.406', '0.229,0.224,0.225'
    first = np.asarray(Image.open(sorted(glob.glob(os.path.join(COCO, '*.jpg')))[0]).convert('RGB'))
    yield from (
        # another normalization
        *((name, 'pixels as they are', m.pictures(name, PIXELS)) for name in (
            'flowers', 'angle', 'cifar', 'ultraface', 'ultraface-bn', 'nanodet', 'picodet', 'openseeface', 'espcn', 'picodet-xs',
            'deeplab', 'plate')),
        *((name, '0 to 1', m.pictures(name, UNIT)) for name in ('flowers', 'nanodet', 'yunet', 'squeezenet', 'yolox', 'sinet')),
        *((name, 'as of ImageNet', m.pictures(name, IMAGENET))
          for name in ('yunet', 'squeezenet', 'yolox', 'sinet', 'espcn', 'plate')),
        *((name, 'mean and deviation of 0 to 1 for pixels', m.pictures(name, (other, normal)))
          for name in ('picodet', 'openseeface')),
        *((name, 'divided by the mean', m.pictures(name, IMAGENET[::-1])) for name in ('picodet', 'openseeface')),
        ('sinet', 'deviation without 255', m.pictures('sinet', (PICTURES['sinet'][2][0], '62.93,62.82,66.36'))),
        ('nanodet', 'mean only', m.pictures('nanodet', (PICTURES['nanodet'][2][0], '1'))),
        ('mnist', '0 to 1', m.tensors('mnist', lambda x, i: x / np.float32(255))),
        ('mnist-burn', 'pixels as they are', m.tensors('mnist-burn', lambda x,
                                                       i: (x * np.float32(0.3081) + np.float32(0.1307)) * np.float32(255))),
        # twice
        *((name, 'normalized twice', m.tensors(name, lambda x, i: (x - np.float32(127.5)) / np.float32(127.5))) for name in (
            'flowers', 'ultraface', 'picodet', 'openseeface', 'squeezenet', 'cifar')),
        ('espcn', 'divided by 255 twice', m.tensors('espcn', lambda x, i: x / np.float32(255))),
        ('plate', 'divided by 255 twice', m.tensors('plate', lambda x, i: x / np.float32(255))),
        ('nanodet', 'cut off to integers after dividing', m.tensors('nanodet', lambda x, i: np.float32(0) * x)),
        ('espcn', 'cut off to integers after dividing', m.tensors('espcn', lambda x, i: np.floor(x))),
        # colours
        *((name, 'colours', m.pictures(name, color='rgb' if PICTURES[name][3] == 'bgr' else 'bgr'))
          for name in ('flowers', 'nanodet', 'deeplab')),
        # layout
        *((name, 'channels behind', m.tensors(name, first_channel_last, suffix)) for name, suffix in (
            ('flowers', 'npz'), ('openseeface', 'raw'), ('picodet', 'npz'))),
        # one of twenty
        *((name, 'one sample in pixels', m.tensors(name, only(7, lambda x: x * np.float32(127.5) + np.float32(127.5))))
          for name in (
            'flowers', 'ultraface', 'openseeface')),
        ('espcn', 'one sample in pixels', m.tensors('espcn', only(3, lambda x: x * np.float32(255)))),
        ('nanodet', 'one sample much too large', m.tensors('nanodet', only(11, lambda x: x * np.float32(1000)))),
        ('keywords', 'one sample much too large', m.tensors('keywords', only(5, lambda x: x * np.float32(255)))),
        ('mnist', 'one sample 0 to 1', m.tensors('mnist', only(5, lambda x: x / np.float32(255)))),
        # a network that was trained on other classes
        ('vit', 'classes of others', m.pictures('vit')),
        # nothing to see
        ('flowers', 'black', m.files('flowers', lambda x, i: x * 0)),
        ('ultraface', 'half of them black', m.files('ultraface', lambda x, i: x * (i % 2))),
        ('flowers', 'all the same', m.files('flowers', lambda x, i: first)),
        ('openseeface', 'noise', m.files('openseeface', noise)),
        ('flowers', 'noise', m.files('flowers', noise)),
        ('nanodet', 'random', ['--data', 'random', '--samples', '10']),
        ('dtln', 'silence', m.tensors('dtln', lambda x, i: x * 0)),
        ('yamnet', 'not a number in one', m.tensors('yamnet', only(2, lambda x: x + np.float32('nan')))),
        ('ultraface', 'infinite in one', m.tensors('ultraface', only(2, lambda x: x + np.float32('inf')))),
        ('bert', 'padding only', m.tensors('bert', lambda x, i: x * 0)),
        ('magika', 'padding only', m.tensors('magika', lambda x, i: x * 0 + 256)),
        # labels
        ('mnist', 'labels moved by one', m.digits(lambda k: (k + 1) % 10)),
        ('mnist', 'labels turned round', m.digits(lambda k: 9 - k)),
        ('cifar', 'labels moved by three', m.cifar(3)),
        # files
        ('flowers', 'files cut off', m.broken()),
        ('flowers', 'an empty folder', m.pictures('flowers', folder=m.new())),
        ('keywords', 'of another size', m.tensors('keywords', lambda x, i: x[:, :1000], 'raw')),
        # other pictures
        ('ultraface', 'a corner', m.files('ultraface', lambda x, i: x[:3, :3])),
        ('flowers', 'a part of one plain colour', m.files('flowers', lambda x, i: x[:1, :1])),
    )


def list_right(m):
    yield from ((name, m.pictures(name)) for name in PICTURES if name != 'vit')
    yield from ((name, m.pictures(name, folder=folder)) for name, folder in (
        ('flowers', PEOPLE), ('ultraface', COCO), ('nanodet', PEOPLE), ('espcn', COCO), ('openseeface',
                                                                                         os.path.join(CIFAR, 'airplane')),
        ('flowers', CIFAR), ('nanodet', CIFAR), ('ultraface-bn', CIFAR), ('openseeface', COCO)))
    yield 'magika', m.bytes_of_files()
    yield from ((name, m.tensors(name)) for name in (*TENSORS, 'flowers', 'nanodet', 'yunet'))
    yield 'mnist', m.digits()
    yield 'cifar', m.cifar()


# ---- judging ----

def quantize(name, options, out):
    """(codes of what is suspected, level): what was refused is suspected, too."""
    done = subprocess.run([CLI, 'quantize', os.path.join(SHARED, 'models', stem_of(name) + '.onnx'), '-o', out, '--json',
                           '--no-verify',
                           '--threads', '1', *options],
                          capture_output=True, text=True)
    if os.path.exists(out):
        os.unlink(out)
    said = json.loads(done.stdout) if done.stdout else {}
    if 'report' not in said:
        return ['refused'], (said.get('error', {}).get('message') or done.stderr).strip()[:120]
    return [s['code'] for s in said['report']['summary']['suspicions']], said['report']['summary']['level']


def is_wanted(name, what):
    text = list_option('--only')
    return ('--all' in sys.argv or name not in SLOW) and all(t in f'{name}, {what}' for t in text)


def list_option(name):
    return [sys.argv[i + 1] for i, a in enumerate(sys.argv) if a == name]


def main():
    n = n_caught = n_right = 0
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        makers, out = Makers(folder), os.path.join(folder, 'out.onnx')
        for name, what, options in list_wrong(makers):
            if not is_wanted(name, what):
                continue
            codes, level = quantize(name, options, out)
            n, n_caught = n + 1, n_caught + (len(codes) > 0)
            print(f"{'caught' if codes else 'MISSED':7} {name}, {what}: {' '.join(codes)} {level}", flush=True)
            if not codes and level in GREEN and what != 'colours':
                faults.append(f'{name}, {what}: {level}')
        for name, options in list_right(makers):
            if not is_wanted(name, 'right'):
                continue
            codes, level = quantize(name, options, out)
            n_right += 1
            print(f"{'ALARM' if codes else 'right':7} {name}: {' '.join(codes)} {level}", flush=True)
            if codes:
                faults.append(f'{name}, right: {codes}')
    print(f'{n_caught} of {n} wrong set-ups are caught, {n_right} right ones')
    print('\n'.join(faults))
    sys.exit(len(faults) > 0 or n_caught < CAUGHT * n or (not list_option('--only') and (n < 40 or n_right < 20)))


main()
