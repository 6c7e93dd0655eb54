/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of choices share: one choice, and what is known while they are collected from a network. */

#include "curve-choices.h"

G_BEGIN_DECLS

typedef enum { VN_CURVE_ITEM_UNIT, VN_CURVE_ITEM_TENSOR, VN_CURVE_ITEM_WEIGHT, VN_CURVE_ITEM_BITS,
               VN_CURVE_ITEM_BIAS } VnCurveItemKind;

/**
 * VnCurveItem: one choice.
 * @names: (element-type utf8): borrowed: tensors that a rule names if it is taken; of VN_CURVE_ITEM_BITS: if it is not taken, or
 * taken, as
 *   @small says
 * @noise: by output: that is gone then
 * @group, @errors: the same
 * @small: VN_CURVE_ITEM_BITS: it is the recipe's type that has fewer bits
 */
typedef struct
{
  VnCurveItemKind  kind;
  GPtrArray       *names;
  double          *noise;
  guint            group;
  VnCurveErrors    errors;
  gboolean         small;
} VnCurveItem;

/**
 * VnCurveBuild: while choices are made.
 */
typedef struct
{
  VnCurveChoices *choices;
  const VnGraph  *graph;
  guint          *unit_of;     /* by node index: the node that stands for its unit */
  int            *item_of;     /* by node index: number of the choice of its unit; -1: is not on integers */
  GHashTable     *noise;       /* name -> VnContribution of the recipe */
  GHashTable     *other_noise;
  VnDType         wide;
} VnCurveBuild;

static inline VnCurveItem *
_vn_curve_get_item (const VnCurveChoices *self,
                    guint                 i)
{
  return &g_array_index (self->items, VnCurveItem, i);
}

/* curve-collect.c */
void _vn_curve_errors_init (VnCurveErrors      *self,
                        const VnCurveChoices *choices);
void _vn_curve_sum_up  (const VnCurveChoices *self,
                        const VnContribution *from,
                        double                times,
                        double               *noise,
                        VnCurveErrors        *errors);
void _vn_curve_collect (VnCurveBuild         *self);

G_END_DECLS
