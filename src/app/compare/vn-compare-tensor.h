/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One tensor of two networks: pictures of a channel, values, error by channel and by photo, cause and fixes. */

#include "vn-document.h"

#include "vn-compared-model.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Signals: rebuild (): the networks of a run are wanted; sample-chosen (guint): another sample is to be shown, by its number. */
#define VN_TYPE_COMPARE_TENSOR (vn_compare_tensor_get_type ())
G_DECLARE_FINAL_TYPE (VnCompareTensor, vn_compare_tensor, VN, COMPARE_TENSOR, AdwBin)

void     vn_compare_tensor_set_document (VnCompareTensor *self,
                                         VnDocument      *document);
void     vn_compare_tensor_set_models   (VnCompareTensor *self,
                                         VnComparedModel *first,       /* nullable */
                                         VnComparedModel *second,      /* nullable */
                                         const char      *first_title,
                                         const char      *second_title);
void     vn_compare_tensor_set_node     (VnCompareTensor *self,
                                         guint            float_node,
                                         const char      *alone);      /* nullable */
gboolean vn_compare_tensor_is_busy      (VnCompareTensor *self);

G_END_DECLS
