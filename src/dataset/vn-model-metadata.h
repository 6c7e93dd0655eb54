/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a file of a network says of its samples in its metadata. */

#include "vn-dataset.h"
#include "vn-model.h"

G_BEGIN_DECLS

#define VN_METADATA_CLASSES 65536u   /* numbers of classes are below this */

/**
 * VnModelMetadata:
 * @task: (nullable): as Ultralytics calls it: "detect", "classify" …
 * @width, @height: of the pictures; 0: not said
 * @stride: both are multiples of it; 0: not said
 * @names: (array zero-terminated) (nullable): of the classes, by number; empty where none is said
 * @n_names: of them; 0: not said
 * @sample_rate: of sounds, in Hz; 0: not said
 * @parts: what is said of @preprocess
 * @preprocess: only @parts of it count
 */
typedef struct
{
  char              *task;
  guint              width, height, stride;
  char             **names;
  guint              n_names;
  guint              sample_rate;
  VnPreprocessParts  parts;
  VnPreprocess       preprocess;
} VnModelMetadata;

VnModelMetadata   *vn_model_metadata_read     (const VnModel         *model);
void               vn_model_metadata_free     (VnModelMetadata       *self);
VnPreprocessParts  vn_model_metadata_apply    (const VnModelMetadata *self,
                                               VnPreprocess          *settings,
                                               VnPreprocessParts      parts);
VnPreprocessParts  vn_model_metadata_match    (const VnModelMetadata *self,
                                               const VnPreprocess    *settings);
gboolean           vn_model_metadata_fill_size (const VnModelMetadata *self,
                                                VnShape               *shape);
char              *vn_preprocess_describe     (const VnPreprocess    *self,
                                               VnPreprocessParts      parts);
void               vn_data_spec_take_metadata (VnDataSpec            *self,
                                               const VnModel         *model,
                                               VnPreprocessParts      open);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnModelMetadata, vn_model_metadata_free)

G_END_DECLS
