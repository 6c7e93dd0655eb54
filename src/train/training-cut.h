/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network in blocks that are trained one after the other. */
#pragma once

#include "vn-model.h"
#include "vn-recipe.h"

G_BEGIN_DECLS

/**
 * VnTrainPart:
 * @nodes: (element-type VnNode): in the order of running
 * @n_layers: how many of them have constant weights
 */
typedef struct
{
  GPtrArray *nodes;
  guint      n_layers;
} VnTrainPart;

GPtrArray *vn_training_cut (const VnGraph  *graph,
                                VnTrainUnit     unit,
                                GError        **error);

G_END_DECLS
