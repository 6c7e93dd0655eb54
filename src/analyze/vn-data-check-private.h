/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the parts of the check of samples share: the first layer behind an input, and how it is judged. */

#include "vn-data-check.h"

G_BEGIN_DECLS

/* The first layer behind an input. */
typedef struct
{
  guint         input;
  gboolean      direct;     /* the input itself is looked at */
  VnValue      *value;      /* looked at: the output of a Conv, or what goes into a BatchNormalization */
  const VnNode *norm;       /* nullable: the BatchNormalization behind it */
  VnTensor     *bias;       /* nullable: of the Conv */
  double        clamp;      /* upper limit right behind it, or infinity */

  double       *sum, *squares;
  gsize         n_channels;
  double        n;          /* elements of a channel */
  guint         n_tensors;
} VnFirstLayer;

gboolean _vn_first_layer_find          (VnValue            *value,
                                        VnFirstLayer       *layer);
void     _vn_first_layer_add           (VnFirstLayer       *layer,
                                        const VnTensor     *tensor);
gboolean _vn_first_layer_judge_by_norm (const VnFirstLayer *layer,
                                        const char         *input,
                                        VnNotes            *notes);
void     _vn_first_layer_judge_by_bias (const VnFirstLayer *layer,
                                        const char         *input,
                                        VnNotes            *notes);
void     _vn_first_layer_judge_colors  (const VnFirstLayer *layer,
                                        const VnFirstLayer *swapped,
                                        const char         *input,
                                        VnNotes            *notes);

G_END_DECLS
