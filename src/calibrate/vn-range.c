/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-range-private.h"

#include "vn-error.h"

#include <math.h>

#define VN_RANGE(name) extern const VnRangeMethod vn_range_##name;
#include "vn-ranges.def"
#undef VN_RANGE

static const VnRangeMethod * const methods[] = {
#define VN_RANGE(name) &vn_range_##name,
#include "vn-ranges.def"
#undef VN_RANGE
};

/**
 * vn_range_method_list:
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): all methods that choose a range, in the order of menus
 */
const VnRangeMethod * const *
vn_range_method_list (guint *n)
{
  *n = G_N_ELEMENTS (methods);
  return methods;
}

/**
 * vn_range_method_find:
 * @id: such as "minmax"
 *
 * Returns: (transfer none) (nullable): the method; an unknown id is %VN_ERROR_SETTING
 */
const VnRangeMethod *
vn_range_method_find (const char  *id,
                      GError     **error)
{
  g_autoptr(GString) known = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    {
      if (g_str_equal (methods[i]->id, id))
        return methods[i];
      g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", methods[i]->id);
    }

  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is no calibration method “%s”; choose one of: %s"),
               id, known->str);
  return NULL;
}

/**
 * vn_range_method_check:
 *
 * Returns: whether there is a method called @id; %VN_ERROR_SETTING otherwise
 */
gboolean
vn_range_method_check (const char  *id,
                       GError     **error)
{
  return vn_range_method_find (id, error) != NULL;
}

/* A range needs a finite value. */
gboolean
vn_range_check (const VnHistogram  *histogram,
                GError            **error)
{
  if (vn_histogram_n_finite (histogram) > 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_NUMERIC,
               _("No finite value was seen (%llu NaN, %llu infinite)"),
               (unsigned long long) histogram->n_nan,
               (unsigned long long) (histogram->n_pos_inf + histogram->n_neg_inf));
  return FALSE;
}

guint
vn_range_get_bits (const VnRangeSettings *settings)
{
  return settings->bits > 0 ? CLAMP (settings->bits, 2, 32) : 8;
}

/* A copy of @self with all mass on the positive side. */
VnHistogram *
vn_histogram_fold_signs (const VnHistogram *self)
{
  const guint half = VN_HISTOGRAM_PAGES / 2;
  VnHistogram *sum = vn_histogram_new ();

  sum->n = self->n;
  sum->n_zero = self->n_zero;
  sum->max = MAX (fabsf (self->min), fabsf (self->max));
  sum->min = 0;
  for (guint p = 0; p < VN_HISTOGRAM_PAGES; p++)
    if (self->pages[p] != NULL)
      {
        guint64 *page = vn_histogram_page (sum, p % half);

        for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)
          page[m] += self->pages[p][m];
      }
  return sum;
}
