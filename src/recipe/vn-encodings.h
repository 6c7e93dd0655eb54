/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-calibrate.h"

G_BEGIN_DECLS

/**
 * VnEncoding: what somebody gives for a tensor instead of having it found by calibration.
 * @has_params: @scale and @zero_point are given, not @range
 * @scale, @zero_point: of the tensor, or of its first channel
 * @dtype: the type they are for; %VN_DTYPE_UNDEFINED: whatever the tensor gets
 * @n: length of @scales and @zero_points, one for each channel; 0: one for all
 */
typedef struct
{
  gboolean has_params;
  VnRange  range;
  float    scale;
  gint64   zero_point;
  VnDType  dtype;
  guint    n;
  float   *scales;
  gint64  *zero_points;
} VnEncoding;

/**
 * VnEncodingTable: ranges or parameters by name of tensor. Immutable once several have it.
 */
typedef struct _VnGivenTable VnEncodingTable;

void           vn_encoding_clear       (VnEncoding        *self);

VnEncodingTable  *vn_encoding_table_new   (void);
void           vn_encoding_table_free  (VnEncodingTable   *self);
VnEncodingTable  *vn_encoding_table_load  (const char     *path,
                                           GError        **error);
VnEncodingTable  *vn_encoding_table_load_all (char       **paths,
                                              GError     **error);
VnEncodingTable  *vn_encoding_table_parse (GBytes         *bytes,
                                           const char     *name,      /* of the file, for messages */
                                           GError        **error);
gboolean       vn_encoding_table_save  (VnEncodingTable   *self,
                                        const char     *path,
                                        GError        **error);
gboolean       vn_encoding_table_add   (VnEncodingTable   *self,
                                        const char     *tensor,
                                        const VnEncoding  *imported,
                                        GError        **error);
void           vn_encoding_table_join  (VnEncodingTable   *self,
                                        VnEncodingTable   *later);
gboolean       vn_encoding_table_retype (VnEncodingTable   *self,
                                         const char        *tensor,
                                         VnDType            dtype);
const VnEncoding *vn_encoding_table_get   (VnEncodingTable   *self,
                                           const char     *tensor);   /* NULL: not in it */
guint          vn_encoding_table_get_n (VnEncodingTable   *self);
const char    *vn_encoding_table_get_name (VnEncodingTable   *self,
                                           guint           i);        /* in the order of the file */

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnEncoding, vn_encoding_clear)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnEncodingTable, vn_encoding_table_free)

G_END_DECLS
