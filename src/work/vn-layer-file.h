/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The file beside an export that tells the tool of its target which layers most of the error comes from. */

#include "vn-job.h"
#include "vn-layer-list.h"

G_BEGIN_DECLS

#define VN_NOTE_CODE_LAYERS "target-layers"

/**
 * VnLayerFile:
 * @exported: the run of the export, with its networks
 * @path: where it goes
 * @layers: (nullable) (element-type VnListedLayer): %NULL: not measured yet
 */
typedef struct
{
  const VnLayerList *list;
  VnRun             *exported;
  char              *path, *model;
  guint              n_threads;
  GPtrArray         *layers;
} VnLayerFile;

VnLayerFile *vn_layer_file_new      (VnRun         *exported,
                                     const char    *model_path,
                                     guint          n_threads);    /* nullable */
void         vn_layer_file_free     (VnLayerFile   *self);
VnJob       *vn_layer_file_new_job  (VnLayerFile   *self);         /* nullable */
void         vn_layer_file_take     (VnLayerFile   *self,
                                     VnRun         *measured);
guint        vn_layer_file_count    (VnLayerFile   *self);
void         vn_layer_file_note     (VnLayerFile   *self,
                                     VnNotes       *notes);
void         vn_layer_file_add      (VnLayerFile   *self,
                                     VnJob         *export,
                                     GDestroyNotify destroy);      /* nullable */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnLayerFile, vn_layer_file_free)

G_END_DECLS
