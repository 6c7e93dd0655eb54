/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-quantize.h"

G_BEGIN_DECLS

/**
 * VnGiven: what somebody gives for a tensor instead of having it found by calibration.
 * @has_params: @scale and @zero_point are given, not @range
 */
typedef struct
{
  gboolean has_params;
  VnRange  range;
  float    scale;
  gint64   zero_point;
} VnGiven;

/**
 * VnGivenTable: ranges or parameters by name of tensor. Immutable once others have it.
 */
typedef struct _VnGivenTable VnGivenTable;

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

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnGivenTable, vn_given_table_free)

G_END_DECLS
