/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-plan.h"

G_BEGIN_DECLS

/**
 * VnDumpFile: one tensor that was written, as FILE.bin (its elements, little-endian, in C order) and FILE.txt (one a line).
 * @file: without ending; the name of the tensor with _ for what file names should not have, and unlike all others
 * @value: the tensor's name; of a pair of quantization and dequantization that of the float tensor behind it
 * @node, @op_type: what computes it; "" for inputs of the network
 * @quantized: whole numbers as they are in the quantized network, or floats on a grid
 * @dtype: of FILE.bin; elements of less than 8 bits take a byte each
 * @scale, @zero_point: (nullable): what the whole numbers mean, where that is constant
 * @axis: of several scales
 */
typedef struct
{
  char     *file, *value, *node, *op_type;
  gboolean  quantized;
  VnDType   dtype;
  VnShape   shape;
  VnTensor *scale, *zero_point;
  gint64    axis;
} VnDumpFile;

/**
 * VnDump: writes what a quantized network computes from one sample.
 */
typedef struct _VnDump VnDump;

VnDump           *vn_dump_new         (VnModel          *model,
                                       GHashTable       *input_shapes,
                                       gboolean          floats,
                                       VnNotes          *notes,
                                       GError          **error);
void              vn_dump_free        (VnDump           *self);
VnPlan           *vn_dump_get_plan    (VnDump           *self);       /* borrowed: says which inputs it takes */
gboolean          vn_dump_run         (VnDump           *self,
                                       VnTensor * const *inputs,
                                       const char       *folder,
                                       guint             n_threads,
                                       GCancellable     *cancellable,
                                       GError          **error);
void              vn_dump_add_outputs (VnDump           *self,
                                       const char       *folder,
                                       VnFileSet        *set);
guint             vn_dump_get_n       (VnDump           *self);
const VnDumpFile *vn_dump_get         (VnDump           *self,
                                       guint             i);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnDump, vn_dump_free)

G_END_DECLS
