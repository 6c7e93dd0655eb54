/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the operators of ai.onnx.ml share: rows of features, transforms of scores, labels, look-up by key. */

#include "vn-elem.h"

G_BEGIN_DECLS

#define VN_ML_FEATURE_BITS (VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64))

/* Numbered as in TreeEnsemble. */
typedef enum
{
  VN_ML_NONE,
  VN_ML_SOFTMAX,
  VN_ML_LOGISTIC,
  VN_ML_SOFTMAX_ZERO,
  VN_ML_PROBIT,
  VN_ML_N_TRANSFORMS
} VnMlTransform;

/**
 * VnMlPair: what a classifier of two classes with a single score s writes. VN_ML_LOGISTIC makes logistic (-s) and
 * logistic (s) of either.
 */
typedef enum
{
  VN_ML_PAIR_COMPLEMENT,  /* 1 - s, s */
  VN_ML_PAIR_NEGATIVE,    /* -s, s */
} VnMlPair;

/**
 * VnMlLabels: names of classes, borrowed from the attributes of a node. One of the lists is %NULL.
 */
typedef struct
{
  const gint64 *ints;
  GPtrArray    *strings;   /* of GBytes */
  gsize         n;
} VnMlLabels;

gboolean  vn_ml_read_transform  (VnOpContext      *ctx,
                                 VnMlTransform    *transform,
                                 GError          **error);
void      vn_ml_transform       (VnMlTransform     transform,
                                 float            *scores,
                                 gsize             n);
void      vn_ml_transform_pair  (VnMlTransform     transform,
                                 VnMlPair          pair,
                                 float             scores[2]);
gboolean  vn_ml_get_rows        (VnOpContext      *ctx,
                                 const VnShape    *shape,
                                 gint64           *rows,
                                 gint64           *columns,
                                 GError          **error);
gboolean  vn_ml_read_labels     (VnOpContext      *ctx,
                                 const char       *ints,
                                 const char       *strings,
                                 VnMlLabels       *labels,
                                 GError          **error);
VnDType   vn_ml_labels_dtype    (const VnMlLabels *self);
void      vn_ml_labels_store    (const VnMlLabels *self,
                                 VnTensor         *out,
                                 gsize             row,
                                 gsize             label);
void      vn_ml_labels_store_sign (const VnMlLabels *self,
                                   VnTensor         *out,
                                   gsize             row,
                                   gboolean          positive);
char     *vn_ml_dup_bytes       (GBytes           *bytes);

/* ---- look-up by key (vn-ml-table.c) ---- */

typedef struct _VnMlTable VnMlTable;

VnMlTable *vn_ml_table_new      (VnTensor        *keys,
                                 gboolean         last_wins,
                                 GError         **error);
void       vn_ml_table_free     (VnMlTable       *self);
gboolean   vn_ml_table_is_text  (const VnMlTable *self);
gboolean   vn_ml_table_find     (const VnMlTable *self,
                                 const VnTensor  *in,
                                 gsize            i,
                                 gsize           *found);
VnTensor  *vn_ml_dup_list       (VnOpContext     *ctx,
                                 const char      *ints,
                                 const char      *floats,
                                 const char      *strings,
                                 const char      *tensor,
                                 GError         **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnMlTable, vn_ml_table_free)

G_END_DECLS
