/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Errors of the tensors of a quantized network, one row each, and of its weights. */

#include "vn-error-table.h"

#include <math.h>
#include <string.h>

struct _VnErrorTable
{
  gatomicrefcount  ref;
  GPtrArray       *rows, *weights;
  GPtrArray       *bodies;      /* of VnBodyErrors */
  GHashTable      *by_value;
  guint            n_samples;
};

/**
 * vn_error_row_new:
 *
 * Returns: (transfer full): an empty row, whose contribution was not measured
 */
VnErrorRow *
vn_error_row_new (void)
{
  VnErrorRow *self = g_new0 (VnErrorRow, 1);

  self->contribution = self->preparation_db = self->margin_db = self->held_out_db = NAN;
  return self;
}

/**
 * vn_error_row_copy:
 *
 * Returns: (transfer full): a row of its own
 */
VnErrorRow *
vn_error_row_copy (const VnErrorRow *row)
{
  VnErrorRow *copy;

  g_return_val_if_fail (row != NULL, NULL);

  copy = g_memdup2 (row, sizeof *row);
  copy->value = g_strdup (row->value);
  copy->node = g_strdup (row->node);
  copy->op_type = g_strdup (row->op_type);
  copy->parts = row->parts != NULL ? g_ptr_array_ref (row->parts) : NULL;   /* nobody changes them any more */
  return copy;
}

/**
 * vn_error_row_free:
 * @row: (transfer full): of vn_error_row_new(), in no table
 */
void
vn_error_row_free (VnErrorRow *row)
{
  g_free (row->value);
  g_free (row->node);
  g_free (row->op_type);
  g_clear_pointer (&row->parts, g_ptr_array_unref);
  g_free (row);
}

/**
 * vn_error_row_take_part:
 * @row: a row that nobody else has seen yet
 * @part: (transfer full): what it says counts for the row if no other part is worse
 */
void
vn_error_row_take_part (VnErrorRow  *row,
                        VnErrorPart *part)
{
  g_return_if_fail (row != NULL && part != NULL);

  if (row->parts == NULL)
    row->parts = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_error_part_free);
  g_ptr_array_add (row->parts, part);
  if (isnan (part->sqnr_db))
    return;
  row->sqnr_db = MIN (row->sqnr_db, part->sqnr_db);
  row->noise_to_signal = MAX (row->noise_to_signal, part->noise_to_signal);
  row->cosine = MIN (row->cosine, part->cosine);
}

/**
 * vn_error_row_get_worst_part:
 *
 * Returns: (transfer none) (nullable): the part with the most noise, a dead one first; %NULL: it has no parts
 */
const VnErrorPart *
vn_error_row_get_worst_part (const VnErrorRow *row)
{
  const VnErrorPart *worst = NULL;

  g_return_val_if_fail (row != NULL, NULL);

  for (guint i = 0; row->parts != NULL && i < row->parts->len; i++)
    {
      const VnErrorPart *part = g_ptr_array_index (row->parts, i);

      if (worst == NULL || part->is_dead > worst->is_dead || (part->is_dead == worst->is_dead && part->sqnr_db < worst->sqnr_db))
        worst = part;
    }
  return worst;
}

/**
 * vn_error_row_is_dead:
 *
 * Returns: whether the tensor, or a part of it, is one constant in the quantized network, while it varies in the float one
 */
gboolean
vn_error_row_is_dead (const VnErrorRow *row)
{
  const VnErrorPart *worst;

  g_return_val_if_fail (row != NULL, FALSE);

  worst = vn_error_row_get_worst_part (row);
  return (worst != NULL && worst->is_dead) || (row->n > 1 && row->quant_min == row->quant_max && row->float_min < row->float_max);
}

/**
 * vn_error_row_dup_title:
 *
 * Returns: (transfer full): the tensor, and the part that its figure is of: “output0, channels 4–21 (up to 0.9)”
 */
char *
vn_error_row_dup_title (const VnErrorRow *row)
{
  const VnErrorPart *worst;
  g_autofree char *part = NULL;

  g_return_val_if_fail (row != NULL, NULL);

  worst = vn_error_row_get_worst_part (row);
  part = worst != NULL ? vn_error_part_dup_title (worst) : NULL;
  return part != NULL ? g_strdup_printf ("%s, %s", row->value, part) : g_strdup (row->value);
}

/**
 * vn_error_table_new:
 * @n_samples: how many samples the errors are over
 *
 * Returns: (transfer full): an empty table; whoever makes it fills it before anybody else sees it
 */
VnErrorTable *
vn_error_table_new (guint n_samples)
{
  VnErrorTable *self = g_new0 (VnErrorTable, 1);

  g_atomic_ref_count_init (&self->ref);
  self->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_error_row_free);
  self->weights = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_error_row_free);
  self->bodies = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_body_errors_unref);
  self->by_value = g_hash_table_new (g_str_hash, g_str_equal);
  self->n_samples = n_samples;
  return self;
}

/**
 * vn_error_table_add:
 * @row: (transfer full): in execution order; its strings are freed with g_free()
 */
void
vn_error_table_add (VnErrorTable *self,
                    VnErrorRow   *row)
{
  g_return_if_fail (self != NULL && row != NULL);

  g_ptr_array_add (self->rows, row);
  g_hash_table_insert (self->by_value, row->value, row);
}

/**
 * vn_error_table_copy:
 *
 * Returns: (transfer full): a table of its own with the same rows
 */
VnErrorTable *
vn_error_table_copy (VnErrorTable *self)
{
  VnErrorTable *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = vn_error_table_new (self->n_samples);
  for (guint i = 0; i < self->rows->len; i++)
    vn_error_table_add (copy, vn_error_row_copy (g_ptr_array_index (self->rows, i)));
  for (guint i = 0; i < self->weights->len; i++)
    vn_error_table_add_weight (copy, vn_error_row_copy (g_ptr_array_index (self->weights, i)));
  for (guint i = 0; i < self->bodies->len; i++)
    vn_error_table_take_body (copy, vn_body_errors_ref (g_ptr_array_index (self->bodies, i)));
  return copy;
}

/**
 * vn_error_table_clear_contributions:
 *
 * Says of all rows that no error starts there, of a table that nobody else has seen yet.
 */
void
vn_error_table_clear_contributions (VnErrorTable *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->rows->len; i++)
    ((VnErrorRow *) g_ptr_array_index (self->rows, i))->contribution = 0;
  for (guint i = 0; i < self->weights->len; i++)
    ((VnErrorRow *) g_ptr_array_index (self->weights, i))->contribution = 0;
}

/**
 * vn_error_table_add_contribution:
 * @value: whose row gets @share; nothing happens if there is none
 * @weight: (nullable): that it comes from
 */
void
vn_error_table_add_contribution (VnErrorTable *self,
                                 const char   *value,
                                 const char   *weight,
                                 double        share)
{
  VnErrorRow *row;

  g_return_if_fail (self != NULL && value != NULL);

  row = g_hash_table_lookup (self->by_value, value);
  if (row != NULL)
    row->contribution += share;
  for (guint i = 0; weight != NULL && i < self->weights->len; i++)
    {
      row = g_ptr_array_index (self->weights, i);
      if (g_str_equal (row->value, weight))
        row->contribution += share;
    }
}

static gint
vn_error_table_compare_noise (gconstpointer a,
                              gconstpointer b)
{
  const VnErrorRow *x = *(const VnErrorRow * const *) a, *y = *(const VnErrorRow * const *) b;

  if (x->noise_to_signal != y->noise_to_signal)
    return x->noise_to_signal > y->noise_to_signal ? -1 : 1;
  return strcmp (x->value, y->value);
}

/**
 * vn_error_table_add_weight:
 * @row: (transfer full): a weight; @node is what computes with it
 */
void
vn_error_table_add_weight (VnErrorTable *self,
                           VnErrorRow   *row)
{
  g_return_if_fail (self != NULL && row != NULL);

  g_ptr_array_add (self->weights, row);
}

/**
 * vn_error_table_sort_weights:
 *
 * Puts the noisiest first, once all weights are there.
 */
void
vn_error_table_sort_weights (VnErrorTable *self)
{
  g_return_if_fail (self != NULL);

  g_ptr_array_sort (self->weights, vn_error_table_compare_noise);
}

guint
vn_error_table_get_n_weights (VnErrorTable *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->weights->len;
}

const VnErrorRow *
vn_error_table_get_weight (VnErrorTable *self,
                           guint         i)
{
  g_return_val_if_fail (self != NULL, NULL);

  return i < self->weights->len ? g_ptr_array_index (self->weights, i) : NULL;
}

VnErrorTable *
vn_error_table_ref (VnErrorTable *self)
{
  g_return_val_if_fail (self != NULL, NULL);

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
  g_ptr_array_unref (self->bodies);
  g_free (self);
}

guint
vn_error_table_get_n (VnErrorTable *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->rows->len;
}

const VnErrorRow *
vn_error_table_get (VnErrorTable *self,
                    guint         i)
{
  g_return_val_if_fail (self != NULL, NULL);

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
  g_return_val_if_fail (self != NULL, NULL);

  return g_hash_table_lookup (self->by_value, value);
}

guint
vn_error_table_get_n_samples (VnErrorTable *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_samples;
}

static gint
vn_error_table_compare_worst (gconstpointer a,
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
  GArray *order;

  g_return_val_if_fail (self != NULL, NULL);

  order = g_array_sized_new (FALSE, FALSE, sizeof (guint), self->rows->len);
  for (guint i = 0; i < self->rows->len; i++)
    g_array_append_val (order, i);
  g_array_sort_with_data (order, vn_error_table_compare_worst, self);
  return order;
}

/* ---- bodies ---- */

/**
 * vn_body_errors_new:
 * @scope: vn_graph_dup_scope()
 * @n_samples: of the run
 *
 * Returns: (transfer full): with no rows; whoever makes it fills it before anybody else sees it
 */
VnBodyErrors *
vn_body_errors_new (const char *scope,
                    guint       n_samples)
{
  VnBodyErrors *self;

  g_return_val_if_fail (scope != NULL, NULL);

  self = g_new0 (VnBodyErrors, 1);
  g_atomic_ref_count_init (&self->ref);
  self->scope = g_strdup (scope);
  self->errors = vn_error_table_new (n_samples);
  return self;
}

VnBodyErrors *
vn_body_errors_ref (VnBodyErrors *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_body_errors_unref (VnBodyErrors *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_free (self->scope);
  vn_error_table_unref (self->errors);
  g_free (self);
}

/**
 * vn_body_errors_get_worst:
 *
 * Returns: (transfer none) (nullable): the row with the most noise; %NULL: no run of it was compared
 */
const VnErrorRow *
vn_body_errors_get_worst (const VnBodyErrors *self)
{
  const VnErrorRow *worst = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  for (guint i = 0; i < vn_error_table_get_n (self->errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get (self->errors, i);

      if (worst == NULL || row->noise_to_signal > worst->noise_to_signal)
        worst = row;
    }
  return worst;
}

/**
 * vn_error_table_take_body:
 * @body: (transfer full): in execution order of the nodes that hold it
 */
void
vn_error_table_take_body (VnErrorTable *self,
                          VnBodyErrors *body)
{
  g_return_if_fail (self != NULL && body != NULL);

  g_ptr_array_add (self->bodies, body);
}

guint
vn_error_table_get_n_bodies (VnErrorTable *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->bodies->len;
}

VnBodyErrors *
vn_error_table_get_body (VnErrorTable *self,
                         guint         i)
{
  g_return_val_if_fail (self != NULL, NULL);

  return i < self->bodies->len ? g_ptr_array_index (self->bodies, i) : NULL;
}

/**
 * vn_error_table_find_body:
 * @scope: vn_graph_dup_scope() in the float model
 *
 * Returns: (transfer none) (nullable): what was measured inside that body
 */
VnBodyErrors *
vn_error_table_find_body (VnErrorTable *self,
                          const char   *scope)
{
  g_return_val_if_fail (self != NULL && scope != NULL, NULL);

  for (guint i = 0; i < self->bodies->len; i++)
    if (g_str_equal (((const VnBodyErrors *) g_ptr_array_index (self->bodies, i))->scope, scope))
      return g_ptr_array_index (self->bodies, i);
  return NULL;
}

/**
 * vn_error_table_take_inside:
 * @self: errors of the body @scope as a network of its own
 * @around: of the network around it
 *
 * Takes over what @around says of bodies inside that body.
 */
void
vn_error_table_take_inside (VnErrorTable *self,
                            VnErrorTable *around,
                            const char   *scope)
{
  g_return_if_fail (self != NULL && around != NULL && scope != NULL);

  for (guint i = 0; i < around->bodies->len; i++)
    {
      const VnBodyErrors *from = g_ptr_array_index (around->bodies, i);
      VnBodyErrors *body;

      if (!g_str_has_prefix (from->scope, scope) || g_str_equal (from->scope, scope))
        continue;
      body = vn_body_errors_new (from->scope + strlen (scope), from->errors->n_samples);
      vn_error_table_unref (body->errors);
      body->errors = vn_error_table_ref (from->errors);
      body->n_float = from->n_float;
      body->n_quant = from->n_quant;
      body->n_both = from->n_both;
      body->n_compared = from->n_compared;
      vn_error_table_take_body (self, body);
    }
}

static VnPartition *
error_table_join_parts (const GPtrArray *parts)
{
  VnPartition *joined = vn_partition_new (((const VnErrorPart *) g_ptr_array_index (parts, 0))->axis, 0, 0);

  for (guint i = 0; i < parts->len && joined != NULL; i++)
    if (!vn_partition_add (joined, ((const VnErrorPart *) g_ptr_array_index (parts, i))->slices))
      g_clear_pointer (&joined, vn_partition_free);
  return joined;
}

/**
 * vn_error_table_list_parts:
 *
 * Returns: (transfer full): how its tensors are divided, for whoever measures more of the same network
 */
VnParts *
vn_error_table_list_parts (VnErrorTable *self)
{
  VnParts *parts;

  g_return_val_if_fail (self != NULL, NULL);

  parts = vn_parts_new ();
  for (guint i = 0; i < self->rows->len; i++)
    {
      const VnErrorRow *row = g_ptr_array_index (self->rows, i);
      VnPartition *found = row->parts != NULL && row->parts->len > 0 ? error_table_join_parts (row->parts) : NULL;

      if (found != NULL)
        vn_parts_take (parts, row->value, found);
    }
  return parts;
}
