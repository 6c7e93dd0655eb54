/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best factors and steps of tensors whose channels depend on each other. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Factors stay between these, as weights that are all but zero say little. */
#define VN_BALANCE_LEAST_FACTOR (1.0 / 1024)
#define VN_BALANCE_MOST_FACTOR 1024.0

/* What one step is for: its numbers in front of the factors (divided by them) or behind (multiplied). */
typedef struct
{
  gboolean behind;
  GArray  *entries;                /* of VnBalanceEntry */
  int      exponent;
} VnBalanceTerm;

typedef struct
{
  guint  root;
  double top, cost;                /* least step that holds the channel; noise for the square of the step */
} VnBalanceEntry;

/**
 * VnBalanceUnit:
 * @roots: (element-type guint): indices of channels, as the caller counts them
 * @terms: (element-type VnBalanceTerm)
 * @power_of_two: steps are
 * @has_clamp: some channels are clamped
 * @clamp: exponent of the largest factor of those, which decides where the clamp will be
 * @pinned: by root: its factor is 1
 * @factors: by root: what it is divided by: (inout) of vn_balance_unit_minimize_noise()
 * @clipped: by root: its largest number as a part of where it is clamped; 0: it is not
 */
typedef struct
{
  GArray   *roots;
  GArray   *terms;
  gboolean  power_of_two, has_clamp;
  int       clamp;
  gboolean *pinned;
  double   *factors, *clipped;

  /*< private >*/
  double   *low, *high, *front, *behind;
} VnBalanceUnit;

VnBalanceUnit *vn_balance_unit_new            (GArray        *roots,
                                               gboolean       power_of_two);
void           vn_balance_unit_free           (VnBalanceUnit *self);
GArray        *vn_balance_unit_add_term       (VnBalanceUnit *self,
                                               gboolean       behind);
gboolean       vn_balance_unit_minimize_noise (VnBalanceUnit *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnBalanceUnit, vn_balance_unit_free)

G_END_DECLS
