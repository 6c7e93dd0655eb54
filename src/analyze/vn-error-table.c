/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-error-table-private.h"

#include <string.h>

struct _VnErrorTable
{
  gatomicrefcount  ref;
  GPtrArray       *rows, *weights;
  GHashTable      *by_value;
  guint            n_samples;
};

static void
row_free (gpointer data)
{
  VnErrorRow *row = data;

  g_free (row->value);
  g_free (row->node);
  g_free (row->op_type);
  g_free (row);
}

VnErrorTable *
_vn_error_table_new (guint n_samples)
{
  VnErrorTable *self = g_new0 (VnErrorTable, 1);

  g_atomic_ref_count_init (&self->ref);
  self->rows = g_ptr_array_new_with_free_func (row_free);
  self->weights = g_ptr_array_new_with_free_func (row_free);
  self->by_value = g_hash_table_new (g_str_hash, g_str_equal);
  self->n_samples = n_samples;
  return self;
}

/* @row: (transfer full) */
void
_vn_error_table_add (VnErrorTable *self,
                     VnErrorRow   *row)
{
  g_ptr_array_add (self->rows, row);
  g_hash_table_insert (self->by_value, row->value, row);
}

void
_vn_error_row_set (VnErrorRow       *row,
                   const VnErrorSum *sum)
{
  row->n = sum->n;
  row->n_bad = sum->n_bad;
  row->noise_to_signal = vn_error_sum_noise (sum);
  row->sqnr_db = vn_error_sum_sqnr (sum);
  row->cosine = vn_error_sum_cosine (sum);
  row->mse = vn_error_sum_mse (sum);
  row->max_error = sum->max_error;
  row->float_min = sum->float_min;
  row->float_max = sum->float_max;
  row->quant_min = sum->quant_min;
  row->quant_max = sum->quant_max;
}

static gint
compare_noise (gconstpointer a,
               gconstpointer b)
{
  const VnErrorRow *x = *(const VnErrorRow * const *) a, *y = *(const VnErrorRow * const *) b;

  if (x->noise_to_signal != y->noise_to_signal)
    return x->noise_to_signal > y->noise_to_signal ? -1 : 1;
  return strcmp (x->value, y->value);
}

/* @user: (nullable): who computes with it */
void
_vn_error_table_add_weight (VnErrorTable     *self,
                            const char       *name,
                            const VnNode     *user,
                            const VnErrorSum *sum)
{
  VnErrorRow *row = g_new0 (VnErrorRow, 1);

  row->value = g_strdup (name);
  row->node = user != NULL ? vn_node_dup_label (user) : g_strdup ("");
  row->op_type = g_strdup (user != NULL ? user->op_type : "");
  _vn_error_row_set (row, sum);
  g_ptr_array_add (self->weights, row);
}

/* Once all weights are there. */
void
_vn_error_table_sort_weights (VnErrorTable *self)
{
  g_ptr_array_sort (self->weights, compare_noise);
}

guint
vn_error_table_get_n_weights (VnErrorTable *self)
{
  return self->weights->len;
}

const VnErrorRow *
vn_error_table_get_weight (VnErrorTable *self,
                           guint         i)
{
  return i < self->weights->len ? g_ptr_array_index (self->weights, i) : NULL;
}

VnErrorTable *
vn_error_table_ref (VnErrorTable *self)
{
  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_error_table_unref (VnErrorTable *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_hash_table_unref (self->by_value);
  g_ptr_array_unref (self->rows);
  g_ptr_array_unref (self->weights);
  g_free (self);
}

guint
vn_error_table_get_n (VnErrorTable *self)
{
  return self->rows->len;
}

const VnErrorRow *
vn_error_table_get (VnErrorTable *self,
                    guint         i)
{
  return i < self->rows->len ? g_ptr_array_index (self->rows, i) : NULL;
}

/**
 * vn_error_table_find:
 * @value: name of a value of the float model
 *
 * Returns: (transfer none) (nullable): its row
 */
const VnErrorRow *
vn_error_table_find (VnErrorTable *self,
                     const char   *value)
{
  return g_hash_table_lookup (self->by_value, value);
}

guint
vn_error_table_get_n_samples (VnErrorTable *self)
{
  return self->n_samples;
}

static gint
compare_worst (gconstpointer a,
               gconstpointer b,
               gpointer      data)
{
  VnErrorTable *self = data;
  guint i = *(const guint *) a, k = *(const guint *) b;
  const VnErrorRow *x = vn_error_table_get (self, i), *y = vn_error_table_get (self, k);

  if (x->noise_to_signal != y->noise_to_signal)
    return x->noise_to_signal > y->noise_to_signal ? -1 : 1;
  return i < k ? -1 : i > k;
}

/**
 * vn_error_table_sort_worst:
 *
 * Returns: (transfer full) (element-type guint): row numbers, highest noise:signal first, ties in execution order
 */
GArray *
vn_error_table_sort_worst (VnErrorTable *self)
{
  GArray *order = g_array_sized_new (FALSE, FALSE, sizeof (guint), self->rows->len);

  for (guint i = 0; i < self->rows->len; i++)
    g_array_append_val (order, i);
  g_array_sort_with_data (order, compare_worst, self);
  return order;
}
