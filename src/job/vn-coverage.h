/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a recipe does to a network, told before any sample is run: which operators stay in float, and how large the file gets. */

#include "vn-model.h"
#include "vn-recipe.h"

G_BEGIN_DECLS

/**
 * VnCoverageType: an operator of which nodes stay in float.
 * @type: such as "LSTM", with its domain unless that is ONNX's own
 * @n: nodes that stay in float
 * @weight_bytes: constants that these read
 */
typedef struct
{
  char    *type;
  guint    n;
  guint64  weight_bytes;
} VnCoverageType;

/**
 * VnCoverage: immutable.
 * @kept: (element-type VnCoverageType): what stays in float: most bytes of weights first
 * @n_nodes, @n_quantized: nodes that compute with floats, in graphs inside nodes, too; of these those that are quantized
 * @weight_bytes, @kept_bytes: of the constants that these nodes read; of those that stay in float
 * @float_bytes, @quantized_bytes: of the file as opened; of the one that is written
 * @is_float_between: all but products with weights stays in float, as the format has it
 * @needs_samples: ranges of activations are stored, which samples tell
 */
typedef struct
{
  GPtrArray *kept;
  guint      n_nodes, n_quantized;
  guint64    weight_bytes, kept_bytes;
  guint64    float_bytes, quantized_bytes;
  gboolean   is_float_between, needs_samples;
  /*< private >*/
  gatomicrefcount ref;
} VnCoverage;

VnCoverage *vn_coverage_new      (VnModel           *model,
                                  const VnRecipe    *recipe,
                                  GHashTable        *input_shapes,   /* nullable */
                                  GCancellable      *cancellable,
                                  GError           **error);
VnCoverage *vn_coverage_ref      (VnCoverage        *self);
void        vn_coverage_unref    (VnCoverage        *self);
char       *vn_coverage_dup_size (const VnCoverage  *self);
char       *vn_coverage_dup_kept (const VnCoverage  *self);
char       *vn_coverage_dup_text (const VnCoverage  *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnCoverage, vn_coverage_unref)

G_END_DECLS
