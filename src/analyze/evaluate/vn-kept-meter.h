/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How much of the answers of a first network others keep, whoever runs them. */

#include "vn-dataset.h"
#include "vn-task-reader.h"

G_BEGIN_DECLS

typedef struct _VnKeptMeter VnKeptMeter;

VnKeptMeter *vn_kept_meter_new      (const VnModel       *first,
                                     const VnTaskHint    *hint,       /* nullable */
                                     guint                n_others);
void         vn_kept_meter_collect  (VnKeptMeter         *self,
                                     const guint         *samples,
                                     guint                n,
                                     gboolean             with_details);
GPtrArray   *vn_kept_meter_steal_answers (VnKeptMeter    *self,
                                     guint                k,
                                     VnDataset           *dataset);   /* of VnSampleAnswer */
void         vn_kept_meter_free     (VnKeptMeter         *self);
gboolean     vn_kept_meter_look     (VnKeptMeter         *self,
                                     const VnTaskOutputs *first);
VnTask       vn_kept_meter_get_task (const VnKeptMeter   *self);
gboolean     vn_kept_meter_tells_alone (const VnKeptMeter *self);
void         vn_kept_meter_add      (VnKeptMeter         *self,
                                     guint                item,
                                     const VnTaskOutputs *outputs);   /* of the first, and of the others */
GVariant    *vn_kept_meter_add_packed (VnKeptMeter       *self,
                                     guint                item,
                                     const VnTaskOutputs *outputs);
gboolean     vn_kept_meter_take     (VnKeptMeter         *self,
                                     guint                item,
                                     GVariant            *packed);
void         vn_kept_meter_measure  (const VnKeptMeter   *self,
                                     guint                k,
                                     gboolean             of_first,
                                     GArray              *numbers);   /* of VnMetricNumber */
void         vn_kept_meter_finish   (const VnKeptMeter   *self,
                                     guint                k,
                                     VnKept              *kept);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnKeptMeter, vn_kept_meter_free)

G_END_DECLS
