# SPDX-License-Identifier: GPL-3.0-or-later
"""What the networks of the shared folder are fed with: digits, small pictures, photographs, sound or words, as each takes
them."""
import glob
import gzip
import os

import oracle

DIGITS = 512


def read_digits(shared, n):
    import numpy as np

    with gzip.open(os.path.join(shared, 'mnist', 't10k-images-idx3-ubyte.gz')) as file:
        data = file.read()
    return np.frombuffer(data, np.uint8, n * 784, 16).reshape(n, 1, 1, 28, 28).astype(np.float32)


def list_pictures(shared, stem):
    """Small ones for networks that were trained with them."""
    if '_32_' in stem or 'cifar' in stem:
        root = os.path.join(shared, 'cifar10')
        classes = [c for c in sorted(os.listdir(root)) if os.path.isdir(os.path.join(root, c))]
        return [os.path.join(root, c, '%04d.jpg' % i) for i in range(20) for c in classes]
    rest = [p for folder in ('free', 'people') for p in sorted(glob.glob(os.path.join(shared, 'images', folder, '*.jpg')))]
    return oracle.photographs(shared) + rest


class Source:
    """Samples of one network; @most: how many there are."""

    def __init__(self, shared, stem, session):
        self.stem = stem
        self.inputs = [(i.name, oracle.input_shape(stem, i.shape, name=i.name), i.type) for i in session.get_inputs()]
        self.digits = read_digits(shared, DIGITS) if stem.startswith('mnist') else None
        self.pictures = list_pictures(shared, stem)
        self.most = DIGITS
        if self.digits is None and any(self.is_picture(shape) for _, shape, _ in self.inputs):
            self.most = len(self.pictures)

    def is_picture(self, shape):
        return oracle.is_image(shape) and not self.stem.startswith('aud')

    def make_input(self, n, k, name, shape, kind):
        import numpy as np

        if 'float16' in kind:
            return self.make_input(n, k, name, shape, 'float').astype(np.float16)
        if 'int' in kind:
            return oracle.whole_input(self.stem, name, 100 * n + k, shape, 'int64' if '64' in kind else 'int32')
        if self.digits is not None:
            x = self.digits[n]
            return x if 'cntk' in self.stem else (x / np.float32(255) - np.float32(0.1307)) / np.float32(0.3081)
        if self.is_picture(shape):
            return oracle.image_input(self.stem, self.pictures[n], shape)
        return oracle.signal_input(self.stem, 100 * n + k, shape, 'float32')

    def make(self, n, first=0):
        return [{name: self.make_input(i, k, name, shape, kind) for k, (name, shape, kind) in enumerate(self.inputs)}
                for i in range(first, first + n)]
