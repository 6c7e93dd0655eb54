#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""learning.py ENGINE_RUN [OPERATOR...]

The operators of ai.onnx.ml with attributes drawn at random, against onnxruntime. Strings are made of numbers, and
numbers of strings, by a LabelEncoder beside the node under test: arrays of strings have no file format.
"""
from operators import Case, run_all

RTOL, ATOL = 1e-4, 1e-5   # PROBIT cancels digits
ML = 'ai.onnx.ml'
TRANSFORMS = ['NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO', 'PROBIT']
WORDS = ['ant', 'bee', 'cat', 'dog', 'eel', '', 'fox', 'äöü']


class Ml(Case):
    """One node of ai.onnx.ml; @texts_in: input 0 holds places among WORDS, @texts_out: output 0 is strings."""

    def __init__(self, op, inputs, n_outputs=1, version=1, texts_in=False, texts_out=False, **attributes):
        super().__init__(op, inputs, n_outputs, opset=15, domain=ML, version=version, **attributes)
        self.texts_in, self.texts_out = texts_in, texts_out

    def __str__(self):
        return '%s, version %d, %s' % (super().__str__(), self.version, self.inputs[0].dtype)

    def model(self):
        from onnx import helper
        model = super().model()
        graph = model.graph
        numbers = list(range(len(WORDS)))
        if self.version == 1:
            words = dict(cats_int64s=numbers, cats_strings=WORDS)
            into_words = back = dict(words, op_type='CategoryMapper')
        else:
            into_words = dict(op_type='LabelEncoder', keys_int64s=numbers, values_strings=WORDS, default_string='none')
            back = dict(op_type='LabelEncoder', keys_strings=WORDS, values_int64s=numbers, default_int64=99)
        if self.texts_in:
            graph.node[0].input[0] = 'text0'
            graph.node.insert(0, helper.make_node(inputs=['in0'], outputs=['text0'], domain=ML, **into_words))
        if self.texts_out:
            graph.node[-1].output[0] = 'labels'
            graph.node.append(helper.make_node(inputs=['labels'], outputs=['out0'], domain=ML, **back))
        return model


def features(d, rows, columns, dtypes=('float32', 'float32', 'float64', 'int32', 'int64')):
    """Whole numbers now and then, so that comparisons with thresholds meet equality."""
    dtype = d.choice(dtypes)
    x = d.array(rows, columns) * 3
    if d.int(0, 2) == 0:
        x = d.np.round(x)
    return x.astype(dtype)


def floats(d, n, low=-2., high=2.):
    return [float(v) for v in d.rng.uniform(low, high, n).astype('float32')]


def words(d, n):
    return [WORDS[i] for i in d.rng.permutation(len(WORDS))[:n]]


def labels(d, n, ints='classlabels_ints'):
    """Attributes with @n labels, and whether they are strings."""
    if d.int(0, 1):
        return {'classlabels_strings': words(d, n)}, True
    return {ints: [int(v) for v in d.rng.permutation(20)[:n]]}, False


def transform(d, single=False):
    """@single: two classes with one score: onnxruntime leaves one of the results of PROBIT as it was in memory."""
    return {'post_transform': d.choice(TRANSFORMS[:4] if single else TRANSFORMS)} if d.int(0, 3) else {}


def extractor(d):
    shape = d.choice([[5], [3, 5], [2, 3, 5]])
    x = d.array(*shape).astype(d.choice(['float32', 'float64', 'int32', 'int64']))
    return Ml('ArrayFeatureExtractor', [x, d.np.array(d.ints(d.int(1, 6), 0, 4), 'int64')])


def binarizer(d):
    return Ml('Binarizer', [d.np.round(d.array(3, 4) * 2)], threshold=float(d.int(-1, 1)))


def scaler(d):
    columns = d.int(1, 5)
    n = d.choice([1, columns])
    return Ml('Scaler', [features(d, d.int(1, 4), columns)], offset=floats(d, n), scale=floats(d, n))


def normalizer(d):
    x = features(d, d.int(1, 4), d.int(1, 5))
    x[d.int(0, len(x) - 1)] *= d.int(0, 1)
    x = x if d.int(0, 3) else x[0]
    return Ml('Normalizer', [d.np.abs(x) if d.int(0, 1) else x], norm=d.choice(['MAX', 'L1', 'L2']))


def imputer(d):
    columns = d.int(1, 5)
    x = d.np.round(d.array(d.int(1, 6), columns))
    n = d.choice([1, columns])
    if d.int(0, 1):
        return Ml('Imputer', [x.astype('int64')], imputed_value_int64s=d.ints(n, -9, 9), replaced_value_int64=d.int(-1, 1))
    missing = d.choice([0., 1., float('nan')])
    if missing != missing:
        x[x == 0] = missing
    return Ml('Imputer', [x.astype(d.choice(['float32', 'float64']))], imputed_value_floats=floats(d, n),
              replaced_value_float=missing)


def vectorizer(d):
    rows, dtype = d.int(1, 4), d.choice(['float32', 'float64', 'int32', 'int64'])
    x = [(d.array(rows, d.int(1, 4)) * 5).astype(dtype) for _ in range(d.int(1, 3))]
    return Ml('FeatureVectorizer', x, inputdimensions=[max(1, a.shape[1] + d.choice([0, 0, 0, 1, -1])) for a in x])


def category_mapper(d):
    n = d.int(1, 6)
    places = d.np.array(d.ints(7, 0, len(WORDS) - 1), 'int64').reshape(7, 1)
    lists = dict(cats_int64s=[int(v) for v in d.rng.permutation(8)[:n]], cats_strings=words(d, n))
    if d.int(0, 1):
        return Ml('CategoryMapper', [places], texts_in=True, default_int64=-7, **lists)
    return Ml('CategoryMapper', [places], texts_out=True, default_string=d.choice(['bee', 'none']), **lists)


def label_encoder(d):
    version = d.choice([1, 2, 2, 4, 4])
    places = d.np.array(d.ints(9, 0, len(WORDS) - 1), 'int64')
    if version == 1:
        lists = dict(classes_strings=words(d, d.int(1, 6)))
        into = bool(d.int(0, 1))
        return Ml('LabelEncoder', [places], texts_in=into, texts_out=not into, **lists)
    n, key, value = d.int(1, 7), d.choice(['int64s', 'floats', 'strings']), d.choice(['int64s', 'floats', 'strings'])
    made = {'int64s': lambda: [int(v) for v in d.rng.permutation(8)[:n]],
            'floats': lambda: [float('nan') if v == 0 else float(v) / 2 for v in d.rng.permutation(8)[:n]],
            'strings': lambda: words(d, n)}
    keys, values, x = made[key](), made[value](), places
    defaults = {'int64s': {'default_int64': 77}, 'floats': {'default_float': 0.25}, 'strings': {'default_string': 'dog'}}[value]
    if key == 'floats':
        x = d.np.where(places == 0, d.np.nan, places / 2).astype('float32')
    if version == 4 and d.int(0, 1) and key != 'strings' and value != 'strings':
        return tensor_encoder(d, x, keys, values)
    return Ml('LabelEncoder', [x], version=version, texts_in=key == 'strings', texts_out=value == 'strings',
              **{'keys_' + key: keys, 'values_' + value: values}, **(defaults if d.int(0, 1) else {}))


def tensor_encoder(d, x, keys, values):
    from onnx import numpy_helper
    if x.dtype == 'float32' and d.int(0, 1):
        x = x.astype('float64')
    values = d.np.array(values)
    values = values.astype(d.choice(['float32', 'float64']) if values.dtype.kind == 'f' else 'int64')
    tensors = dict(keys_tensor=d.np.array(keys, x.dtype), values_tensor=values, default_tensor=values[:1] * 3)
    return Ml('LabelEncoder', [x], version=4, **{k: numpy_helper.from_array(v, k) for k, v in tensors.items()})


def one_hot(d):
    if d.int(0, 1):
        places = d.np.array(d.ints(6, 0, len(WORDS) - 1), 'int64').reshape(d.choice([(6,), (2, 3)]))
        return Ml('OneHotEncoder', [places], texts_in=True, cats_strings=words(d, 5), zeros=d.choice([1, 1, 0]))
    x = (d.array(3, 2) * 3).astype(d.choice(['float32', 'float64', 'int32', 'int64']))
    return Ml('OneHotEncoder', [x], cats_int64s=[int(v) - 4 for v in d.rng.permutation(9)[:6]], zeros=d.choice([1, 1, 1, 0]))


def linear_regressor(d):
    columns, targets = d.int(1, 5), d.choice([1, 1, 2, 3])
    attributes = dict(coefficients=floats(d, columns * targets), targets=targets, **transform(d))
    if d.int(0, 1):
        attributes['intercepts'] = floats(d, targets)
    return Ml('LinearRegressor', [features(d, d.int(1, 5), columns, ['float32'])], **attributes)


def linear_classifier(d):
    columns, classes = d.int(1, 5), d.choice([1, 2, 3, 4])
    named, texts = labels(d, max(classes, d.choice([1, 2])) if classes == 1 else classes)
    return Ml('LinearClassifier', [features(d, d.int(1, 5), columns)], 2, texts_out=texts,
              coefficients=floats(d, columns * classes), intercepts=floats(d, classes), multi_class=d.int(0, 1),
              **named, **transform(d, classes == 1))


def kernel(d):
    which = d.choice(['LINEAR', 'POLY', 'RBF', 'SIGMOID'])
    return dict(kernel_type=which, kernel_params=[float(d.np.float32(0.3)), 0.5, float(d.int(1, 3))])


def svm_regressor(d):
    columns, n = d.int(1, 4), d.choice([0, 1, 4])
    attributes = dict(rho=floats(d, 1), one_class=d.int(0, 1), n_supports=n, **kernel(d))
    if n:
        attributes.update(support_vectors=floats(d, n * columns), coefficients=floats(d, n))
    else:
        attributes['coefficients'] = floats(d, columns)
    return Ml('SVMRegressor', [features(d, d.int(1, 5), columns, ['float32'])], **attributes)


def svm_classifier(d):
    columns, classes = d.int(1, 4), d.int(2, 4)
    named, texts = labels(d, classes)
    attributes = dict(named, **kernel(d), **transform(d, classes == 2))
    if d.int(0, 3) == 0:
        attributes.update(coefficients=floats(d, columns * classes), rho=floats(d, d.choice([1, classes])))
    else:
        per_class, pairs = d.ints(classes, 1, 3), classes * (classes - 1) // 2
        n = sum(per_class)
        low = d.choice([-2., -2., 0.])
        attributes.update(vectors_per_class=per_class, support_vectors=floats(d, n * columns),
                          coefficients=floats(d, n * (classes - 1), low), rho=floats(d, pairs))
        if d.int(0, 1):
            attributes.update(prob_a=floats(d, pairs), prob_b=floats(d, pairs))
    return Ml('SVMClassifier', [features(d, d.int(1, 5), columns)], 2, texts_out=texts, **attributes)


class Grove:
    """Trees drawn at random: lists of (tree, node, feature, mode, value, yes, no, missing)."""

    def __init__(self, d, trees, columns):
        self.nodes, self.leaves = [], []
        mode = d.choice(['BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ', None])
        for tree in range(trees):
            n_inner = d.int(0 if d.int(0, 3) == 0 else 1, 5)
            nodes, open_ends = [], [None]
            for inner in range(2 * n_inner + 1):
                end = open_ends.pop(d.int(0, len(open_ends) - 1) if inner else 0)
                if end is not None:
                    nodes[end[0]][end[1]] = inner
                if inner < n_inner:
                    chosen = mode or d.choice(['BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ'])
                    nodes.append([tree, inner, d.int(0, columns - 1), chosen, float(d.int(-3, 3)), 0, 0, d.int(0, 1)])
                    open_ends += [(inner, 5), (inner, 6)]
                else:
                    nodes.append([tree, inner, 0, 'LEAF', 0., 0, 0, 0])
                    self.leaves.append((tree, inner))
            self.nodes += nodes

    def attributes(self, d):
        column = list(zip(*self.nodes))
        found = dict(nodes_treeids=column[0], nodes_nodeids=column[1], nodes_featureids=column[2], nodes_modes=column[3],
                     nodes_values=column[4], nodes_truenodeids=column[5], nodes_falsenodeids=column[6])
        if d.int(0, 1):
            found['nodes_missing_value_tracks_true'] = column[7]
        return {k: list(v) for k, v in found.items()}

    def votes(self, prefix, ids, weights):
        """@ids: for each leaf, a list."""
        rows = [(t, n, i) for (t, n), several in zip(self.leaves, ids) for i in several]
        return {prefix + 'treeids': [r[0] for r in rows], prefix + 'nodeids': [r[1] for r in rows],
                prefix + 'ids': [r[2] for r in rows], prefix + 'weights': weights(len(rows))}


def with_holes(d, x):
    if x.dtype.kind == 'f' and d.int(0, 1):
        x[d.int(0, x.shape[0] - 1), d.int(0, x.shape[1] - 1)] = d.np.nan
    return x


def as_tensors(d, attributes):
    """Doubles may be given in tensors since version 3."""
    from onnx import numpy_helper
    for name in [k for k in attributes if k in ('nodes_values', 'class_weights', 'target_weights', 'base_values')]:
        attributes[name + '_as_tensor'] = numpy_helper.from_array(d.np.array(attributes.pop(name), 'float64'), name)


def tree_case(d, op, columns, attributes, n_outputs, texts):
    version, x = d.choice([1, 3]), with_holes(d, features(d, d.int(1, 6), columns))
    if version == 3 and x.dtype == 'float64' and d.int(0, 1):
        as_tensors(d, attributes)
    return Ml(op, [x], n_outputs, version=version, texts_out=texts, **attributes)


def tree_regressor(d):
    columns, targets = d.int(1, 4), d.choice([1, 1, 2, 3])
    grove = Grove(d, d.int(1, 4), columns)
    ids = [list(range(targets)) for _ in grove.leaves]
    if d.int(0, 1):
        ids = [sorted(set(d.ints(2, 0, targets - 1))) for _ in grove.leaves]
    attributes = dict(grove.attributes(d), **grove.votes('target_', ids, lambda n: floats(d, n)), n_targets=targets,
                      **transform(d))
    attributes['aggregate_function'] = d.choice(['SUM', 'SUM', 'AVERAGE', 'MIN', 'MAX'])
    if d.int(0, 1) and all(len(i) == targets for i in ids):   # onnxruntime forgets the base of who got no vote
        attributes['base_values'] = floats(d, targets)
    return tree_case(d, 'TreeEnsembleRegressor', columns, attributes, 1, False)


def tree_classifier(d):
    columns, classes = d.int(1, 4), d.choice([2, 2, 3, 4])
    grove = Grove(d, d.int(1, 4), columns)
    named, texts = labels(d, classes, 'classlabels_int64s')
    single = classes == 2 and d.int(0, 1)
    if classes == 2 and not single and not texts:   # onnxruntime writes 0 and 1, whatever the labels
        named = {'classlabels_int64s': [0, 1]}
    ids = [[0] if single else list(range(classes)) for _ in grove.leaves]
    low = d.choice([-2., 0.])
    attributes = dict(grove.attributes(d), **grove.votes('class_', ids, lambda n: floats(d, n, low)), **named,
                      **transform(d, single))
    if d.int(0, 2) == 0 and (classes > 2 or single):   # else onnxruntime drops votes
        attributes['base_values'] = floats(d, 1 if single else classes)
    return tree_case(d, 'TreeEnsembleClassifier', columns, attributes, 2, texts)


def tree_ensemble(d):
    """Version 5: leaves are kept apart from inner nodes."""
    from onnx import numpy_helper
    columns, targets, dtype = d.int(1, 4), d.int(1, 3), d.choice(['float32', 'float64'])
    grove = Grove(d, d.int(1, 4), columns)
    modes = ['BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ']
    inner = [n for n in grove.nodes if n[3] != 'LEAF']
    place = {(n[0], n[1]): i for i, n in enumerate(inner)}
    leaf = {name: i for i, name in enumerate(grove.leaves)}
    roots = [place[t, 0] for t in sorted({n[0] for n in grove.nodes}) if (t, 0) in place]
    if not roots:
        return tree_ensemble(d)

    def child(k):
        names = [(n[0], n[k]) for n in inner]
        return [leaf.get(n, place.get(n)) for n in names], [int(n in leaf) for n in names]
    (yes, yes_leaf), (no, no_leaf) = child(5), child(6)
    tensors = dict(nodes_modes=d.np.array([modes.index(n[3]) for n in inner], 'uint8'),
                   nodes_splits=d.np.array([n[4] for n in inner], dtype),
                   leaf_weights=d.np.array(floats(d, len(grove.leaves)), dtype))
    x = with_holes(d, d.np.round(d.array(d.int(1, 6), columns) * 3).astype(dtype))
    return Ml('TreeEnsemble', [x], version=5, n_targets=targets, tree_roots=roots, nodes_featureids=[n[2] for n in inner],
              nodes_truenodeids=yes, nodes_trueleafs=yes_leaf, nodes_falsenodeids=no, nodes_falseleafs=no_leaf,
              nodes_missing_value_tracks_true=[n[7] for n in inner], leaf_targetids=d.ints(len(grove.leaves), 0, targets - 1),
              # onnxruntime mixes 1 and 2 up
              aggregate_function=d.choice([1, 1, 0, 2, 3]), post_transform=d.choice([0, 0, 3, 4]),

              **{k: numpy_helper.from_array(v, k) for k, v in tensors.items()})


GENERATORS = {
    'ArrayFeatureExtractor': extractor, 'Binarizer': binarizer, 'Scaler': scaler, 'Normalizer': normalizer, 'Imputer': imputer,
    'FeatureVectorizer': vectorizer, 'CategoryMapper': category_mapper, 'LabelEncoder': label_encoder, 'OneHotEncoder': one_hot,
    'LinearRegressor': linear_regressor, 'LinearClassifier': linear_classifier, 'SVMRegressor': svm_regressor,
    'SVMClassifier': svm_classifier, 'TreeEnsembleRegressor': tree_regressor, 'TreeEnsembleClassifier': tree_classifier,
    'TreeEnsemble': tree_ensemble,
}


if __name__ == '__main__':
    run_all([(GENERATORS, RTOL, ATOL)])
