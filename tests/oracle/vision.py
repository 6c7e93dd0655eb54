#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""vision.py ENGINE_RUN [OPERATOR...]

The operators for pictures, signals, losses and sets with attributes drawn at random, in every version, against
onnxruntime.
"""
from operators import Case, run_all

RTOL, ATOL = 2e-4, 5e-5


def floats(d, *shape):
    return d.array(*shape).astype(d.choice(['float32', 'float32', 'float64']))


def ints(d, values):
    return d.np.array(values, 'int64')


def grid_sample(d):
    opset = d.choice([16, 20, 22])
    n = 2 if opset < 20 else d.choice([2, 2, 3])
    modes = ['bilinear', 'nearest', 'bicubic'] if opset < 20 else ['linear', 'nearest', 'cubic']
    mode = d.choice(modes if n == 2 else modes[:2])
    x = floats(d, d.int(1, 2), d.int(1, 3), *d.ints(n, 1, 6))
    grid = (d.rng.uniform(-1.6, 1.6, (x.shape[0], *d.ints(n, 1, 5), n))).astype('float32')
    return Case('GridSample', [x.astype('float32') if opset == 16 else x, grid], opset=opset, mode=mode,
                padding_mode=d.choice(['zeros', 'border', 'reflection']), align_corners=d.int(0, 1))


def boxes(d, n, size):
    at = d.rng.uniform(0, size, (n, 2, 2))
    return d.np.concatenate([at.min(1), at.max(1)], 1).astype('float32')


# Where onnxruntime departs from ONNX's reference implementation, which gives our results, cases are left out.


def roi_align(d):
    opset, n = d.choice([10, 16, 22]), d.int(1, 4)
    attributes = dict(output_height=d.int(1, 4), output_width=d.int(1, 4), sampling_ratio=d.int(0, 3),
                      spatial_scale=d.choice([0.25, 0.5, 1.]), mode=d.choice(['avg', 'max']))
    if opset >= 16 and d.int(0, 1):
        attributes['coordinate_transformation_mode'] = d.choice(['half_pixel', 'output_half_pixel'])
    x = d.array(2, d.int(1, 3), d.int(3, 8), d.int(3, 8))
    return Case('RoiAlign', [x, boxes(d, n, 14), ints(d, d.ints(n, 0, 1))], opset=opset, **attributes)


def max_roi_pool(d):
    n = d.int(1, 4)
    rois = d.np.concatenate([d.np.array(d.ints(n, 0, 1), 'float32')[:, None], d.np.floor(boxes(d, n, 12))], 1)
    return Case('MaxRoiPool', [d.array(2, 2, 8, 7), rois], opset=d.choice([7, 17, 22]), pooled_shape=d.ints(2, 1, 4),
                spatial_scale=d.choice([0.5, 1.]))


def max_unpool(d):
    n = d.choice([1, 2])
    kernel, size = d.ints(n, 2, 3), d.ints(n, 1, 4)
    strides = kernel if d.int(0, 1) else d.ints(n, 2, 3)
    out = [(s - 1) * t + k for s, t, k in zip(size, strides, kernel)]
    shape = [d.int(1, 2), d.int(1, 2)] + size
    total = int(d.np.prod(shape[:2] + out))
    where = d.rng.permutation(total)[:int(d.np.prod(shape))].reshape(shape).astype('int64')
    inputs = [d.array(*shape), where]
    if d.int(0, 1):
        inputs.append(ints(d, shape[:2] + out))   # onnxruntime counts places in the smaller output
    return Case('MaxUnpool', inputs, opset=d.choice([9, 11, 22]), weights=range(2, len(inputs)), kernel_shape=kernel,
                strides=strides)


def non_max_suppression(d):
    n, batches, classes = d.int(1, 12), d.int(1, 2), d.int(1, 3)
    corners = d.np.stack([boxes(d, n, 4) for _ in range(batches)])
    if d.int(0, 1):
        corners = d.np.ascontiguousarray(corners[..., d.choice([[0, 1, 2, 3], [2, 3, 0, 1], [2, 1, 0, 3]])])
    scores = d.np.round(d.rng.uniform(0, 1, (batches, classes, n)), d.choice([1, 6])).astype('float32')
    inputs = [corners, scores, ints(d, [d.int(0, 6)]), d.np.array([d.choice([0., 0.3, 0.7, 1.])], 'float32')]
    if d.int(0, 1):
        inputs.append(d.np.array([d.choice([0., 0.5])], 'float32'))
    return Case('NonMaxSuppression', inputs[:d.int(3, 5)], opset=d.choice([10, 11]), center_point_box=d.int(0, 1))


def deform_conv(d):
    group, offset_group = d.choice([1, 2]), d.choice([1, 2])
    kernel, strides, dilations, pads = d.ints(2, 1, 3), d.ints(2, 1, 2), d.ints(2, 1, 2), d.ints(4, 0, 2)
    size, channels = d.ints(2, 5, 8), 4
    out = [(size[i] + pads[i] + pads[i + 2] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(2)]
    taps = kernel[0] * kernel[1] * offset_group
    x, w = d.array(2, channels, *size), d.array(2 * group, channels // group, *kernel)
    inputs = [x, w, d.array(2, 2 * taps, *out), d.array(w.shape[0]) if d.int(0, 1) else None, d.array(2, taps, *out)
              if d.int(0, 1) else None]
    while inputs[-1] is None:
        inputs.pop()
    return Case('DeformConv', inputs, opset=d.choice([19, 22]), group=group, offset_group=offset_group, kernel_shape=kernel,
                strides=strides, dilations=dilations, pads=pads)


def col2im(d):
    n = d.choice([1, 2, 2, 3])
    block, strides, dilations, pads = d.ints(n, 1, 3), d.ints(n, 1, 2), d.ints(n, 1, 2), d.ints(2 * n, 0, 1)
    dilations = dilations if n == 2 else [1] * n   # onnxruntime mixes channels up
    image = [(b - 1) * k + 1 + d.int(1, 5) for b, k in zip(block, dilations)]
    columns = 1
    for i in range(n):
        columns *= (image[i] + pads[i] + pads[i + n] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1
    x = d.array(d.int(1, 2), int(d.np.prod(block)) * d.int(1, 3), columns)
    return Case('Col2Im', [x, ints(d, image), ints(d, block)], opset=18, weights=[1, 2], strides=strides, dilations=dilations,
                pads=pads)


def center_crop_pad(d):
    x = floats(d, *d.ints(d.int(1, 4), 1, 6))
    axes = sorted(int(a) for a in d.rng.permutation(x.ndim)[:d.int(1, x.ndim)])
    attributes = {'axes': [a - d.choice([0, x.ndim]) for a in axes]} if d.int(0, 2) else {}
    n = len(axes) if attributes else x.ndim
    return Case('CenterCropPad', [x, ints(d, d.ints(n, 1, 8))], opset=18, weights=[1] if d.int(0, 1) else [], **attributes)


def affine_grid(d):
    n = d.choice([2, 3])
    theta = floats(d, d.int(1, 3), n, n + 1)
    size = d.ints(n, 2, 5)   # onnxruntime has 1 for a single aligned one
    return Case('AffineGrid', [theta, ints(d, [len(theta), d.int(1, 3)] + size)], opset=20, align_corners=d.int(0, 1))


def det(d):
    n = d.int(1, 5)
    return Case('Det', [d.array(*d.choice([[], [3], [2, 3]]), n, n)], opset=d.choice([11, 22]))


def dft(d):
    opset, axis, inverse = d.choice([17, 20]), d.int(1, 2), d.int(0, 1)
    onesided = 0 if inverse else d.int(0, 1)
    x = floats(d, d.int(1, 2), d.int(1, 9), d.int(1, 9), 1 if onesided else d.int(1, 2))
    length = d.np.array(d.int(1, 12), 'int64') if d.int(0, 1) else None
    if opset == 17:
        inputs = [x, length] if length is not None else [x]
        return Case('DFT', inputs, opset=17, weights=range(1, len(inputs)), axis=axis, inverse=inverse, onesided=onesided)
    return Case('DFT', [x, length, d.np.array(axis - d.choice([0, 4]), 'int64')], opset=20,
                weights=[2] + ([1] if length is not None else []),
                inverse=inverse, onesided=onesided)


def stft(d):
    frame, step = d.int(2, 16), d.int(1, 6)
    x = floats(d, d.int(1, 2), frame + d.int(0, 30), d.choice([1, 1, 2]))
    onesided = d.int(0, 1) if x.shape[2] == 1 else 0
    window = d.positive(frame).astype(x.dtype) if d.int(0, 1) else None
    inputs = [x, d.np.array(step, 'int64'), window] + ([d.np.array(frame, 'int64')] if window is None or d.int(0, 1) else [])
    return Case('STFT', inputs, weights=[i for i in (1, 3) if i < len(inputs)], onesided=onesided)


def window(op, d):
    # onnxruntime does not agree with the text of a symmetric window of one element
    return Case(op, [d.np.array(d.int(2, 20), 'int64')], weights=[0] if d.int(0, 1) else [], periodic=d.int(0, 1),
                output_datatype=d.choice([1, 11]))


def mel(d):
    numbers = [d.int(2, 12), d.choice([64, 128, 256]), d.choice([8000, 16000])]
    low = float(d.int(0, 300))
    inputs = [d.np.array(v, 'int64') for v in numbers] + [d.np.array(v, 'float32') for v in (low, low + d.int(500, 3000))]
    return Case('MelWeightMatrix', inputs, weights=range(5), output_datatype=d.choice([1, 11]))


def loss(op, d):
    classes, rest = d.int(2, 5), d.ints(d.int(0, 3), 1, 4)
    x = floats(d, d.int(1, 4), classes, *rest)
    target = d.rng.integers(0, classes, [x.shape[0]] + rest).astype('int64')
    attributes = {'reduction': d.choice(['none', 'sum', 'mean'])} if d.int(0, 3) else {}
    if d.int(0, 1):
        attributes['ignore_index'] = d.choice([0, 1, -1, -100])
        target[d.rng.uniform(size=target.shape) < 0.2] = attributes['ignore_index']
    inputs = [x, target] + ([d.positive(classes).astype(x.dtype)] if d.int(0, 1) else [])
    outputs = 2 if op == 'SoftmaxCrossEntropyLoss' and d.int(0, 1) else 1
    return Case(op, inputs, outputs, opset=d.choice([12, 13]), **attributes)


def unique(d):
    x = d.np.round(d.array(*d.ints(d.int(1, 3), 1, 5))).astype(d.choice(['float32', 'float64', 'int64', 'int8']))
    attributes = {'axis': d.int(-x.ndim, x.ndim - 1)} if d.int(0, 1) else {}
    return Case('Unique', [x], 4, opset=11, sorted=d.int(0, 1), **attributes)


def cum_sum(d):
    x = floats(d, *d.ints(d.int(1, 3), 1, 6))
    return Case('CumSum', [x, d.np.array(d.int(-x.ndim, x.ndim - 1), 'int64')], opset=d.choice([11, 14]), exclusive=d.int(0, 1),
                reverse=d.int(0, 1))


def upsample(d):
    x, mode = d.array(d.int(1, 2), d.int(1, 3), d.int(1, 6), d.int(1, 6)), d.choice(['nearest', 'linear'])
    scales = [1., 1., d.choice([1., 1.5, 2., 3.]), d.choice([1., 2., 2.5])]
    if d.int(0, 1):
        return Case('Upsample', [x], opset=d.choice([7, 8]), mode=mode, scales=scales)
    return Case('Upsample', [x, d.np.array(scales, 'float32')], opset=9, weights=[1], mode=mode)


def resize(d):
    """Sizes or scales of some axes. What onnxruntime does not do stays away: see passed over."""
    opset, n = d.choice([10, 11, 13, 18, 19]), d.choice([1, 2, 2, 2, 3])
    mode = d.choice(['nearest', 'linear', 'linear', 'cubic'] if n == 2 else ['nearest', 'linear'])
    x = d.array(d.int(1, 2), d.int(1, 2), *d.ints(n, 1, 8))
    scales = [1., 1.] + [d.choice([0.4, 0.5, 0.75, 1., 1.5, 2., 3.3]) for _ in range(n)]
    if opset == 10:
        return Case('Resize', [x, d.np.array(scales, 'float32')], opset=10, weights=[1], mode=d.choice(['nearest', 'linear']))
    way = ['half_pixel', 'align_corners', 'asymmetric', 'pytorch_half_pixel',
           'tf_crop_and_resize'] + ['half_pixel_symmetric'] * (opset >= 19)
    attributes = dict(mode=mode, coordinate_transformation_mode=d.choice(way))
    crop = attributes['coordinate_transformation_mode'] == 'tf_crop_and_resize'
    if mode == 'nearest':
        attributes['nearest_mode'] = d.choice(['round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil'])
    if mode == 'cubic':
        attributes.update(cubic_coeff_a=d.choice([-0.75, -0.5]), exclude_outside=0 if crop else d.int(0, 1))
    if opset >= 18 and mode != 'nearest' and not crop and d.int(0, 2) == 0:
        attributes['antialias'] = 1
    roi = None
    if crop:
        roi = d.np.concatenate([[0.] * 2, d.rng.uniform(0, 0.4, n), [1.] * 2, d.rng.uniform(0.6, 1.2, n)]).astype('float32')
        attributes['extrapolation_value'] = 7.
        scales[2:] = [1.25 if s == 1 else s for s in scales[2:]]   # onnxruntime does not crop where the scale is 1
    sizes = ints(d, list(x.shape[:2]) + d.ints(n, 1, 12))
    inputs = [x, roi, d.np.array(scales, 'float32')] if crop or d.int(0, 1) else [x, roi, None, sizes]
    if opset >= 18 and len(inputs) == 4 and not crop and d.int(0, 1):
        attributes.update(axes=list(range(2, 2 + n)), keep_aspect_ratio_policy=d.choice(['stretch', 'not_larger', 'not_smaller']))
        inputs[3] = sizes[2:]
    return Case('Resize', inputs, opset=opset, weights=[i for i in (1, 2, 3) if i < len(inputs) and inputs[i] is not None],
                **attributes)


def pool(op, d):
    """Dilations, which the pools got late."""
    n = d.choice([1, 2, 2, 3])
    kernel, dilations = d.ints(n, 1, 3), d.ints(n, 1, 3)
    size = [(k - 1) * g + 1 + d.int(3, 8) for k, g in zip(kernel, dilations)]
    attributes = dict(kernel_shape=kernel, strides=d.ints(n, 1, 3), dilations=dilations, ceil_mode=d.int(0, 1))
    if d.int(0, 1):
        attributes['pads'] = [d.int(0, k - 1) for k in kernel] * 2
    attributes['p' if op == 'LpPool' else 'count_include_pad'] = d.int(1, 3) if op == 'LpPool' else d.int(0, 1)
    return Case(op, [d.array(2, 2, *size)], opset=d.choice([18, 22] if op == 'LpPool' else [19, 22]), **attributes)


def rms_norm(d):
    x = d.array(*d.ints(d.int(1, 4), 1, 6))
    axis = d.int(-x.ndim, x.ndim - 1)
    return Case('RMSNormalization', [x, d.array(*x.shape[axis:])], opset=23, axis=axis, epsilon=1e-3)


def group_norm(d):
    groups, opset = d.int(1, 3), d.choice([18, 21])
    channels = groups * d.int(1, 3)
    each = groups if opset == 18 else channels
    return Case('GroupNormalization', [d.array(2, channels, *d.ints(d.int(1, 3), 1, 5)), d.array(each), d.array(each)],
                opset=opset, num_groups=groups)


GENERATORS = {
    'AveragePool': lambda d: pool('AveragePool', d), 'LpPool': lambda d: pool('LpPool', d),
    'RMSNormalization': rms_norm, 'GroupNormalization': group_norm,
    'Swish': lambda d: Case('Swish', [d.array(3, 4)], opset=24, alpha=d.choice([1., 0.5, 1.7])),
    'GridSample': grid_sample, 'RoiAlign': roi_align, 'MaxRoiPool': max_roi_pool, 'MaxUnpool': max_unpool,
    'NonMaxSuppression': non_max_suppression, 'DeformConv': deform_conv, 'Col2Im': col2im, 'CenterCropPad': center_crop_pad,
    'AffineGrid': affine_grid, 'Det': det, 'DFT': dft, 'STFT': stft, 'MelWeightMatrix': mel,
    'NegativeLogLikelihoodLoss': lambda d: loss('NegativeLogLikelihoodLoss', d),
    'SoftmaxCrossEntropyLoss': lambda d: loss('SoftmaxCrossEntropyLoss', d),
    'HannWindow': lambda d: window('HannWindow', d), 'HammingWindow': lambda d: window('HammingWindow', d),
    'BlackmanWindow': lambda d: window('BlackmanWindow', d),
    'Unique': unique, 'CumSum': cum_sum, 'Upsample': upsample, 'Resize': resize,
}


if __name__ == '__main__':
    run_all([(GENERATORS, RTOL, ATOL)])
