/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Parts of tensors: slices along one axis that hold numbers of the same size, such as the boxes and the scores of a detector. */

#include <glib.h>

G_BEGIN_DECLS

#define VN_MOST_PARTS 16u
#define VN_MOST_SLICES 4096u      /* of an axis that parts lie along */

/**
 * VnPartition: how a tensor is divided.
 * @axis: whose slices belong to parts
 * @n_slices: length of that axis
 * @n_parts: at least 2, at most %VN_MOST_PARTS
 * @part_of: (array length=n_slices): the part of each slice, from 0 on
 */
typedef struct
{
  guint   axis, n_slices, n_parts;
  guint8 *part_of;
} VnPartition;

/**
 * VnParts: partitions by name of a value of the float network. Immutable once made.
 */
typedef struct _VnParts VnParts;

VnPartition       *vn_partition_new       (guint              axis,
                                           guint              n_slices,
                                           guint              n_parts);
VnPartition       *vn_partition_new_range (const VnPartition *from,
                                           guint              axis,
                                           guint              first,
                                           guint              n);
void               vn_partition_free      (VnPartition       *self);
gboolean           vn_partition_add       (VnPartition       *self,
                                           const char        *slices);
char              *vn_partition_dup_slices (const VnPartition *self,
                                            guint              part);

VnParts           *vn_parts_new           (void);
VnParts           *vn_parts_ref           (VnParts           *self);
void               vn_parts_unref         (VnParts           *self);
void               vn_parts_take          (VnParts           *self,
                                           const char        *value,
                                           VnPartition       *partition);
const VnPartition *vn_parts_get           (VnParts           *self,        /* nullable */
                                           const char        *value);
guint              vn_parts_get_n         (VnParts           *self);

/**
 * VnErrorPart: the error of one part of a tensor.
 * @axis: whose slices they are
 * @slices: their numbers, from 0 on, in runs: “0-3, 16-21”
 * @size: the largest absolute value in the float network
 * @sqnr_db, @noise_to_signal, @cosine: as of VnErrorRow
 * @is_dead: one constant in the quantized network, while it varies in the float one
 */
typedef struct
{
  guint    axis;
  char    *slices;
  guint64  n, n_bad;
  double   size, sqnr_db, noise_to_signal, cosine;
  gboolean is_dead;
} VnErrorPart;

VnErrorPart *vn_error_part_copy      (const VnErrorPart *self);
void         vn_error_part_free      (VnErrorPart       *self);
char        *vn_error_part_dup_title (const VnErrorPart *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnErrorPart, vn_error_part_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnPartition, vn_partition_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnParts, vn_parts_unref)

G_END_DECLS
