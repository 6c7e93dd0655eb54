/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the document share: its structure and its own signals. */

#include "vn-bench-instance.h"
#include "vn-document.h"

G_BEGIN_DECLS

typedef enum { VN_DOCUMENT_SELECTION, VN_DOCUMENT_METRIC, VN_DOCUMENT_N_SIGNALS } VnDocumentSignal;

struct _VnDocument
{
  VnBench       parent_instance;

  GListStore   *nodes;
  GtkBitset    *selection;
  char         *tensor;         /* nullable: name of the value that is selected instead of nodes */
  VnMetric      metric;         /* if @metric_chosen */
  gboolean      metric_chosen;  /* by the user; else it is the best that was measured */
  VnMetric      emitted_metric; /* of the last signal */
  VnHeatHandles handles[VN_N_METRICS];     /* where the legend's handles are, if @has_handles */
  gboolean      has_handles[VN_N_METRICS];
};

void vn_document_emit (VnDocument       *self,
                       VnDocumentSignal  signal);

G_END_DECLS
