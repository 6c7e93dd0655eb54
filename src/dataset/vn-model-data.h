/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-dataset.h"
#include "vn-model.h"

G_BEGIN_DECLS

/* The input specs of a model for its data set. Free with vn_input_specs_free(). */
VnInputSpec      *vn_model_dup_input_specs (const VnModel *model,
                                            GHashTable    *input_shapes,
                                            guint         *n);
gboolean          vn_model_may_take_pictures (const VnModel *model);
gboolean          vn_model_has_past        (const VnModel *model);
char             *vn_model_dup_main_input  (const VnModel *model,
                                            VnInputRole   *role);
VnDataset        *vn_model_open_data       (const VnModel     *model,
                                            const VnDataSpec  *data,
                                            GHashTable        *given,     /* nullable */
                                            GHashTable       **shapes,
                                            VnNotes           *notes,     /* nullable */
                                            GError           **error);
VnTurned          vn_value_find_turned     (const VnValue     *input);
void              vn_data_spec_take_tokenizer (VnDataSpec *self,
                                               const VnModel *model);
void              vn_input_specs_free      (VnInputSpec   *specs,
                                            guint          n);

G_END_DECLS
