/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network that is looked at beside another one: the float network, a quantized result of it, or a file that another tool
 * made. */
#pragma once

#include "vn-node-match.h"
#include "vn-run-figures.h"
#include "vn-tensor-pair.h"

G_BEGIN_DECLS

/**
 * VnComparedModel: immutable.
 */
typedef struct _VnComparedModel VnComparedModel;

VnComparedModel   *vn_compared_model_new_float   (VnModel               *model);
VnComparedModel   *vn_compared_model_new_result  (VnRun                 *result);
VnComparedModel   *vn_compared_model_new_file    (VnModel               *float_model,
                                                  VnModel               *model,
                                                  VnErrorTable          *errors);     /* nullable */
void             vn_compared_model_make_forecast (VnComparedModel *self);
VnComparedModel   *vn_compared_model_ref         (VnComparedModel       *self);
void               vn_compared_model_unref       (VnComparedModel       *self);
VnModel           *vn_compared_model_get_model   (VnComparedModel       *self);       /* whose nodes are shown; borrowed */
VnRun             *vn_compared_model_get_result  (VnComparedModel       *self);       /* borrowed; NULL: it has none */
VnErrorTable      *vn_compared_model_get_errors  (VnComparedModel       *self);       /* borrowed; NULL: not measured */
gboolean           vn_compared_model_is_float    (VnComparedModel       *self);
gboolean           vn_compared_model_is_file     (VnComparedModel       *self);
gboolean           vn_compared_model_has_network (VnComparedModel       *self);
guint              vn_compared_model_get_float_node (VnComparedModel    *self,
                                                     guint               node);
guint              vn_compared_model_get_node    (VnComparedModel       *self,
                                                  guint                  float_node);
const VnErrorRow  *vn_compared_model_get_row     (VnComparedModel       *self,
                                                  guint                  node);
const VnErrorRow * const *vn_compared_model_get_rows (VnComparedModel   *self);       /* by node; NULL: not measured */
gboolean           vn_compared_model_find_tensor (VnComparedModel       *self,
                                                  VnComparedModel       *beside,
                                                  guint                  float_node,
                                                  VnTensorSource        *source);
gboolean           vn_compared_model_find_weight (VnComparedModel       *self,
                                                  VnComparedModel       *beside,
                                                  guint                  float_node,
                                                  VnTensorSource        *source);
VnNodeMatch       *vn_compared_model_match       (VnComparedModel       *self,
                                                  VnComparedModel       *other);
void               vn_compared_model_get_figures (VnComparedModel       *self,
                                                  VnRunFigures          *figures);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnComparedModel, vn_compared_model_unref)

G_END_DECLS
