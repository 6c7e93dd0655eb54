/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-equalize.h"
#include "vn-rewrite-private.h"

G_BEGIN_DECLS

/**
 * VnEqualLayer: a Conv, ConvTranspose or Gemm whose constants can be scaled (equalize-layer.c).
 * @weight, @bias: copies that are scaled; @bias: NULL: none
 * @n_out, @n_in: channels of the result and of what is read
 * @row: numbers of one row, which has one channel of each kind
 * @out_first: whether the first axis of the weights is that of the channels of the result
 */
typedef struct
{
  VnNode   *node;
  VnTensor *weight, *bias;
  gsize     n_out, n_in, group;
  gsize     n_rows, row;
  gboolean  out_first, changed;
} VnEqualLayer;

gboolean vn_equal_layer_is_depthwise (const VnEqualLayer *self);
void     vn_equal_layer_free         (VnEqualLayer       *self);
gboolean vn_equal_layer_new          (VnNode             *node,
                                      VnEqualLayer      **layer,
                                      GError            **error);
void     vn_equal_layer_ranges_out   (const VnEqualLayer *self,
                                      double             *ranges);
void     vn_equal_layer_ranges_in    (const VnEqualLayer *self,
                                      double             *ranges);
void     vn_equal_layer_scale_out    (VnEqualLayer       *self,
                                      const float        *factors);
void     vn_equal_layer_scale_in     (VnEqualLayer       *self,
                                      const float        *factors,
                                      gboolean            inverse);
void     vn_equal_layer_append_bias  (const VnEqualLayer *self,
                                      double             *ranges);
void     vn_equal_layer_write        (VnEqualLayer       *self);

/**
 * VnEqualGroup: layers between which one set of factors moves; of a triple: two sets.
 * @heads, @tails: of VnEqualLayer, borrowed; of a triple: its first and its last layer
 * @middle: (nullable): of a triple: the depthwise convolution
 * @factors: of double: what the heads' channels were multiplied by in all; @factors2: those of @middle
 */
typedef struct
{
  GPtrArray    *heads, *tails;
  VnEqualLayer *middle;
  gsize         n;
  double       *factors, *factors2;
} VnEqualGroup;

/* Layers of a graph and the groups in the order they are gone through (equalize-groups.c). */
typedef struct
{
  VnModel                 *model;
  const VnEqualizeOptions *options;
  GHashTable              *returned;
  GHashTable              *layers;   /* VnNode -> VnEqualLayer */
  GPtrArray               *order;    /* of VnEqualLayer, as in the graph */
  GPtrArray               *groups;   /* of VnEqualGroup; one may stand there twice */
  GPtrArray               *owned;    /* the groups, each once */
} VnEqualizer;

void          vn_equalizer_find_pairs  (VnEqualizer  *self);
void          vn_equalizer_find_groups (VnEqualizer  *self);
VnEqualGroup *vn_equalizer_add_group   (VnEqualizer  *self,
                                        gsize         n);
gboolean      vn_equalizer_propagates  (const VnEqualizer *self,
                                        const VnNode      *node,
                                        const VnValue     *value);

G_END_DECLS
