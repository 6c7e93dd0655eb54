/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What can be looked at beside something else: the float model, the quantized network, a run, a file. */

#include "vn-document.h"

#include "vn-compared-model.h"

G_BEGIN_DECLS

/* @VN_COMPARE_OPEN: none: stands in lists for opening a file. */
typedef enum { VN_COMPARE_FLOAT, VN_COMPARE_NOW, VN_COMPARE_RUN, VN_COMPARE_FILE, VN_COMPARE_OPEN } VnCompareKind;

/**
 * VnCompareSource: signal changed (): it was loaded, or measured, or that failed, or goes on.
 */
#define VN_TYPE_COMPARE_SOURCE (vn_compare_source_get_type ())
G_DECLARE_FINAL_TYPE (VnCompareSource, vn_compare_source, VN, COMPARE_SOURCE, GObject)

struct _VnCompareSource
{
  GObject          parent_instance;

  /*< public, read-only >*/
  VnCompareKind    kind;
  char            *title, *detail;   /* "Float", "16.9 MB" */
  VnProjectRun    *run;              /* of VN_COMPARE_RUN */
  char            *path;             /* of VN_COMPARE_FILE */
  VnComparedModel *model;            /* nullable: not loaded */
  VnJob           *job;              /* nullable: what is being done for it */
  GError          *error;            /* nullable: why it could not be loaded */

  /*< private >*/
  VnDocument      *document;
  VnModel         *file;             /* nullable: of VN_COMPARE_FILE */
  GCancellable    *cancellable;      /* nullable: of what goes on */
  gboolean         was_measured;
};

VnCompareSource *vn_compare_source_new       (VnDocument         *document,
                                              VnCompareKind       kind,
                                              VnProjectRun       *run,        /* nullable */
                                              const char         *path);      /* nullable */
void             vn_compare_source_load      (VnCompareSource    *self);
void             vn_compare_source_rebuild   (VnCompareSource    *self);
gboolean         vn_compare_source_may_measure_again (VnCompareSource *self);
void             vn_compare_source_measure_again (VnCompareSource *self);
gboolean         vn_compare_source_is_busy   (VnCompareSource    *self);
void             vn_compare_source_cancel    (VnCompareSource    *self);
void             vn_compare_source_forget_error (VnCompareSource *self);
void             vn_compare_source_update    (VnCompareSource    *self,
                                              VnProjectRun       *run);      /* nullable */
VnDataSpec      *vn_compare_source_dup_data  (VnDocument         *document,
                                              VnRun              *result,     /* nullable */
                                              GHashTable        **shapes,
                                              guint              *n_calibration);

G_END_DECLS
