/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dims that depend on open dims of the inputs. Instead of teaching every operator to compute with names, the network
 * is inferred several times with different numbers in their place: what comes out the same each time does not depend
 * on them, what equals the number of one of them each time is that dim, anything else stays open. */
#include "vn-infer-private.h"

#define N_PROBES 3

/* Numbers for the i-th open dim: start + step * i. Networks that halve pictures several times need multiples of a
 * power of two, those with tables of positions need small numbers; the last probe of each set, of odd numbers, finds
 * what rounds, and may fail where networks cannot take it. */
static const struct
{
  gint64 start, step;
} probe_sets[][N_PROBES] = {
  { { 192, 64 }, { 704, 128 }, { 97, 6 } },
  { { 8, 4 }, { 40, 12 }, { 17, 6 } },
};

typedef struct
{
  const VnValue *input;
  int            axis;
  const char    *name;    /* nullable */
  guint          number;  /* dims of one name share a number */
} OpenDim;

/* Open dims of the inputs; freed by the caller. */
static GArray *
find_open_dims (const VnModel *model)
{
  GArray *dims = g_array_new (FALSE, FALSE, sizeof (OpenDim));
  guint next = 0;

  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);

      if (value->type.kind != VN_TYPE_TENSOR)
        continue;
      for (int a = 0; a < value->type.shape.rank; a++)
        {
          OpenDim dim = { value, a, value->type.symbols[a], next };

          if (value->type.shape.dims[a] >= 0)
            continue;
          for (guint k = 0; k < dims->len && dim.name != NULL; k++)
            if (g_strcmp0 (g_array_index (dims, OpenDim, k).name, dim.name) == 0)
              dim.number = g_array_index (dims, OpenDim, k).number;
          next += dim.number == next;
          g_array_append_val (dims, dim);
        }
    }
  return dims;
}

static gint64
probe_size (guint          set,
            guint          probe,
            const OpenDim *dim)
{
  return probe_sets[set][probe].start + probe_sets[set][probe].step * (gint64) dim->number;
}

/* The network with numbers for its open dims, or NULL if it cannot take them. */
static VnModel *
run_probe (const VnModel *model,
           GArray        *dims,
           guint          set,
           guint          probe)
{
  g_autoptr(VnModel) copy = vn_model_copy (model);
  g_autoptr(GHashTable) shapes = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);

  for (guint i = 0; i < dims->len; i++)
    {
      const OpenDim *dim = &g_array_index (dims, OpenDim, i);
      VnShape *shape = g_hash_table_lookup (shapes, dim->input->name);

      if (shape == NULL)
        {
          shape = g_memdup2 (&dim->input->type.shape, sizeof (VnShape));
          g_hash_table_insert (shapes, dim->input->name, shape);
        }
      shape->dims[dim->axis] = probe_size (set, probe, dim);
    }
  return vn_infer_plain (copy, shapes, NULL, NULL) ? g_steal_pointer (&copy) : NULL;
}

/* ---- comparing ---- */

typedef struct
{
  GArray  *dims;
  guint    set;
  VnModel *probes[N_PROBES];   /* NULL: it failed */
} Probes;

/* Type of a value in one probe, NULL if not known there. */
static const VnType *
probed_type (const Probes  *self,
             guint          probe,
             const VnValue *value)
{
  const VnValue *found;

  if (self->probes[probe] == NULL)
    return NULL;
  found = g_hash_table_lookup (self->probes[probe]->graph->by_name, value->name);
  return found != NULL && found->type.kind == VN_TYPE_TENSOR && found->type.shape.rank >= 0 ? &found->type : NULL;
}

/* The open dim whose number this dim was in every probe. */
static const OpenDim *
matching_dim (const Probes  *self,
              const VnValue *value,
              int            axis)
{
  for (guint i = 0; i < self->dims->len; i++)
    {
      const OpenDim *dim = &g_array_index (self->dims, OpenDim, i);
      gboolean same = TRUE;

      for (guint p = 0; p < N_PROBES && same; p++)
        {
          const VnType *type = probed_type (self, p, value);

          same = type == NULL || type->shape.dims[axis] == probe_size (self->set, p, dim);
        }
      if (same)
        return dim;
    }
  return NULL;
}

static void
learn_dim (const Probes *self,
           VnValue      *value,
           int           axis)
{
  const OpenDim *dim;
  gint64 size = VN_DIM_UNKNOWN;
  gboolean same = TRUE;

  for (guint p = 0; p < N_PROBES; p++)
    {
      const VnType *type = probed_type (self, p, value);

      if (type == NULL)
        continue;
      same = same && type->shape.dims[axis] >= 0 && (size < 0 || size == type->shape.dims[axis]);
      size = type->shape.dims[axis];
    }
  if (same)
    {
      value->type.shape.dims[axis] = size;
      g_clear_pointer (&value->type.symbols[axis], g_free);
      return;
    }
  dim = matching_dim (self, value, axis);
  if (dim != NULL && value->type.symbols[axis] == NULL)
    value->type.symbols[axis] = g_strdup (dim->name);
}

static void
learn_value (const Probes *self,
             VnValue      *value)
{
  const VnType *first = probed_type (self, 0, value), *second = probed_type (self, 1, value);
  const VnType *third = probed_type (self, 2, value);
  VnShape shape;

  if (value->is_input || first == NULL || second == NULL || first->shape.rank != second->shape.rank ||
      first->dtype != second->dtype || (third != NULL && third->shape.rank != first->shape.rank) ||
      (value->type.kind != VN_TYPE_UNKNOWN && value->type.kind != VN_TYPE_TENSOR))
    return;
  if (value->type.kind == VN_TYPE_UNKNOWN || value->type.shape.rank < 0)
    {
      shape.rank = first->shape.rank;
      for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = VN_DIM_UNKNOWN;
      vn_type_clear (&value->type);
      vn_type_init_tensor (&value->type, first->dtype, &shape);
    }
  if (value->type.shape.rank != first->shape.rank)
    return;
  for (int a = 0; a < value->type.shape.rank; a++)
    if (value->type.shape.dims[a] < 0)
      learn_dim (self, value, a);
}

/**
 * vn_infer_symbols:
 * @model: one that vn_infer_plain() has seen
 *
 * Finds out what it can about the dims that depend on open dims of the inputs. A network that cannot take the numbers
 * tried stays as it is.
 */
void
vn_infer_symbols (VnModel *model)
{
  g_autoptr(GArray) dims = find_open_dims (model);
  Probes self = { dims };

  if (dims->len == 0)
    return;
  for (self.set = 0; self.set < G_N_ELEMENTS (probe_sets); self.set++)
    {
      self.probes[0] = run_probe (model, dims, self.set, 0);
      self.probes[1] = self.probes[0] != NULL ? run_probe (model, dims, self.set, 1) : NULL;
      if (self.probes[1] != NULL)
        break;
      g_clear_pointer (&self.probes[0], vn_model_unref);
    }
  if (self.probes[0] == NULL)
    return;

  self.probes[2] = run_probe (model, dims, self.set, 2);
  for (guint i = 0; i < model->graph->values->len; i++)
    learn_value (&self, g_ptr_array_index (model->graph->values, i));
  for (guint p = 0; p < N_PROBES; p++)
    g_clear_pointer (&self.probes[p], vn_model_unref);
}
