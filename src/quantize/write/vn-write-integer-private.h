/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-quant-write.h"

G_BEGIN_DECLS

/* What the formats share that put products of integers into a float network. */

/* A tensor of integers with its scale and zero point. */
typedef struct
{
  VnValue *data, *scale, *zero_point;
} VnIntegerOperand;

typedef struct
{
  VnGraph        *graph;
  const VnWriteScheme *scheme;
  VnQuantPlan    *plan;
  GHashTable     *activations;   /* VnValue -> VnIntegerOperand */
  GHashTable     *weights;       /* name, and whether transposed -> VnIntegerOperand */
} VnIntegerWriter;

VnNode                 *vn_integer_add_node       (VnIntegerWriter         *self,      /* write-integer-operands.c */
                                                   VnNode                  *before,
                                                   const char              *base,
                                                   const char              *suffix,
                                                   const char              *op_type,
                                                   VnValue                **inputs,
                                                   guint                    n_inputs,
                                                   VnValue                **outputs,
                                                   guint                    n_outputs);
const VnIntegerOperand *vn_integer_get_activation (VnIntegerWriter         *self,
                                                   VnNode                  *node,
                                                   VnValue                 *x);
const VnIntegerOperand *vn_integer_get_weight     (VnIntegerWriter         *self,
                                                   VnValue                 *value,
                                                   gboolean                 transposed,
                                                   GError                 **error);
gboolean                vn_integer_has_qlinear    (const VnNode            *node);      /* write-qlinear.c */
gboolean                vn_integer_write_qlinear  (VnIntegerWriter         *self,
                                                   VnNode                  *node,
                                                   GError                 **error);
void                    vn_integer_drop_unread    (VnIntegerWriter         *self,
                                                   GHashTable              *captured,
                                                   GHashTable              *names);

G_END_DECLS
