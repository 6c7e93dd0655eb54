/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-quantize.h"

G_BEGIN_DECLS

/**
 * VnGiven: what somebody gives for a tensor instead of having it found by calibration.
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
} VnGiven;

/**
 * VnGivenTable: ranges or parameters by name of tensor. Immutable once others have it.
 */
typedef struct _VnGivenTable VnGivenTable;

void           vn_given_clear          (VnGiven        *self);

VnGivenTable  *vn_given_table_new      (void);
void           vn_given_table_free     (VnGivenTable   *self);
VnGivenTable  *vn_given_table_load     (const char     *path,
                                        GError        **error);
VnGivenTable  *vn_given_table_parse    (GBytes         *bytes,
                                        const char     *name,      /* of the file, for messages */
                                        GError        **error);
gboolean       vn_given_table_save     (VnGivenTable   *self,
                                        const char     *path,
                                        GError        **error);
VnGivenTable  *vn_given_table_new_from_stats (const VnModel   *prepared,
                                              const VnRecipe  *recipe,
                                              VnStats         *stats,
                                              GError         **error);
gboolean       vn_given_table_add      (VnGivenTable   *self,
                                        const char     *tensor,
                                        const VnGiven  *given,
                                        GError        **error);
const VnGiven *vn_given_table_get      (VnGivenTable   *self,
                                        const char     *tensor);   /* NULL: not in it */
guint          vn_given_table_get_n    (VnGivenTable   *self);
const char    *vn_given_table_get_name (VnGivenTable   *self,
                                        guint           i);        /* in the order of the file */

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnGiven, vn_given_clear)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnGivenTable, vn_given_table_free)

G_END_DECLS
