/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The user's own measure of what a network makes of samples: a function in Python. */

#include "vn-tensor.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _VnUserMetric VnUserMetric;

/**
 * VnMetricSample: what the function is told of a sample.
 * @name: as of vn_dataset_get_name()
 * @path: (nullable): its file
 * @index: its number, from 0
 * @label: number of its class; -1: not known
 * @class_name: (nullable): what the class is called
 * @model: what the network is called
 */
typedef struct
{
  const char *name, *path;
  guint       index;
  int         label;
  const char *class_name;
  const char *model;
} VnMetricSample;

typedef struct
{
  char  *name;
  double value;        /* finite */
} VnMetricNumber;

/**
 * VnMetricResult: what the function returned.
 * @numbers: (element-type VnMetricNumber): in the order in which they were given
 * @rest: (nullable): all of it, for vn_user_metric_finish()
 */
typedef struct
{
  GArray *numbers;
  GBytes *rest;
} VnMetricResult;

VnUserMetric   *vn_user_metric_new        (const char             *script,
                                           const char             *python,       /* nullable */
                                           guint                   timeout,
                                           GCancellable           *cancellable,
                                           GError                **error);
void            vn_user_metric_free       (VnUserMetric           *self);
gboolean        vn_user_metric_has_finish (const VnUserMetric     *self);
VnMetricResult *vn_user_metric_measure    (VnUserMetric           *self,
                                           const VnMetricSample   *sample,
                                           const char * const     *names,
                                           VnTensor * const       *outputs,
                                           guint                   n_outputs,
                                           GError                **error);
VnMetricResult *vn_user_metric_finish     (VnUserMetric           *self,
                                           VnMetricResult * const *results,
                                           guint                   n_results,
                                           GError                **error);
GArray         *vn_metric_numbers_new     (void);
void            vn_metric_result_free     (VnMetricResult         *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnUserMetric, vn_user_metric_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnMetricResult, vn_metric_result_free)

G_END_DECLS
