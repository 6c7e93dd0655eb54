/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lifetimes of values and their places in the arena: the largest blocks first, each at the lowest offset where no
 * block that lives at the same time is in the way. */
#include "vn-plan-passes.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"

#define VERY_MANY 256    /* values that live at the same time */
#define TOO_MANY 2048    /* to be placed one beside the other as well as can be */

/* Nothing but the shape differs, and nothing else is wanted of the operator. */
static gboolean
plan_memory_is_alias (VnPlan       *self,
                      const VnStep *step)
{
  if (!vn_op_is_alias (step->op, step->node) || step->activation.active || step->n_inputs == 0 || step->inputs[0] < 0 ||
      step->outputs[0] < 0 || self->values[step->inputs[0]].type.dtype != self->values[step->outputs[0]].type.dtype)
    return FALSE;
  for (guint i = 1; i < step->n_outputs; i++)
    if (step->outputs[i] >= 0)
      return FALSE;
  return TRUE;
}

/* A clamp nobody else stands beside writes over its input. What looks at that input does so before this step runs: taps
 * and outputs get their values where these are computed. */
static gboolean
plan_memory_clamps_in_place (VnPlan       *self,
                             const VnStep *step)
{
  const VnPlanValue *from, *to;
  VnActivation clamp;

  if (step->dynamic || step->activation.active || step->n_inputs == 0 || step->inputs[0] < 0 || step->outputs[0] < 0 ||
      !vn_plan_match_clamp (self, step, &clamp))
    return FALSE;
  from = &self->values[step->inputs[0]];
  to = &self->values[step->outputs[0]];
  return from->store == VN_STORE_ARENA && from->root == (guint) step->inputs[0] && from->n_uses == 1 &&
         to->store == VN_STORE_ARENA && from->type.dtype == VN_DTYPE_F32 && to->type.dtype == VN_DTYPE_F32;
}

static VnStore
plan_memory_choose_store (VnPlan       *self,
                          const VnStep *step,
                          const VnPlanValue *value)
{
  if (step->dynamic || value->type.dtype == VN_DTYPE_STRING)
    return VN_STORE_HEAP;
  if (step->alias && self->values[self->values[step->inputs[0]].root].store != VN_STORE_ARENA)
    return VN_STORE_HEAP;
  return VN_STORE_ARENA;
}

static gboolean
plan_memory_set_stores (VnPlan  *self,
                        VnStep  *step,
                        guint    index,
                        GError **error)
{
  step->alias = plan_memory_is_alias (self, step);
  for (guint i = 0; i < step->n_outputs; i++)
    {
      VnPlanValue *value;
      gsize n_elements;

      if (step->outputs[i] < 0)
        continue;
      value = &self->values[step->outputs[i]];
      value->first_step = value->last_step = index;
      value->store = plan_memory_choose_store (self, step, value);
      if (step->alias || plan_memory_clamps_in_place (self, step))
        value->root = self->values[step->inputs[0]].root;
      if (value->store == VN_STORE_ARENA &&
          !vn_tensor_size_in_bytes (value->type.dtype, &value->type.shape, &n_elements, &value->n_bytes))
        {
          g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("“%s” is too large"), value->value->name);
          vn_step_prefix_error (step, error);
          return FALSE;
        }
    }
  return TRUE;
}

static void
plan_memory_set_last_uses (VnPlan       *self,
                           const VnStep *step,
                           guint         index)
{
  for (guint i = 0; i < step->n_inputs; i++)
    {
      VnPlanValue *value;

      if (step->inputs[i] < 0)
        continue;
      value = &self->values[step->inputs[i]];
      value->last_step = index;
      self->values[value->root].last_step = index;
    }
}

static void
plan_memory_list_dying (VnPlan *self)
{
  for (guint id = 0; id < self->n_values; id++)
    if (self->values[id].store == VN_STORE_HEAP)
      {
        VnStep *step = g_ptr_array_index (self->steps, self->values[id].last_step);

        g_array_append_val (step->dying, id);
      }
}

/* ---- arena ---- */

static gint
plan_memory_compare_blocks (gconstpointer a,
                            gconstpointer b,
                            gpointer      data)
{
  const VnPlanValue *values = data;
  const VnPlanValue *x = &values[*(const guint *) a];
  const VnPlanValue *y = &values[*(const guint *) b];

  if (x->n_bytes != y->n_bytes)
    return x->n_bytes > y->n_bytes ? -1 : 1;
  if (x->first_step != y->first_step)
    return x->first_step < y->first_step ? -1 : 1;
  return x->root < y->root ? -1 : x->root > y->root;
}

static GArray *
plan_memory_collect_blocks (VnPlan *self)
{
  GArray *blocks = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint id = 0; id < self->n_values; id++)
    if (self->values[id].store == VN_STORE_ARENA && self->values[id].root == id)
      g_array_append_val (blocks, id);
  g_array_sort_with_data (blocks, plan_memory_compare_blocks, self->values);
  return blocks;
}

static gint
plan_memory_compare_offsets (gconstpointer a,
                             gconstpointer b,
                             gpointer      data)
{
  const VnPlanValue *values = data;
  gsize x = values[*(const guint *) a].offset, y = values[*(const guint *) b].offset;

  return x < y ? -1 : x > y;
}

/* Sizes are whole cache lines; G_MAXSIZE: too much */
static gsize
plan_memory_round_up (gsize n_bytes)
{
  gsize size;

  return vn_checked_add (MAX (n_bytes, 1), 63, &size) ? size & ~(gsize) 63 : G_MAXSIZE;
}

/* @others: those placed that live at the same time. */
static gsize
plan_memory_find_offset (VnPlan *self,
                         GArray *others,
                         gsize   size)
{
  gsize end = 0;

  g_array_sort_with_data (others, plan_memory_compare_offsets, self->values);
  for (guint i = 0; i < others->len; i++)
    {
      const VnPlanValue *other = &self->values[g_array_index (others, guint, i)];

      if (other->offset >= end && other->offset - end >= size)
        break;
      end = MAX (end, other->offset + plan_memory_round_up (other->n_bytes));
    }
  return end;
}

/* The best place for each takes a time that goes with how many live at the same time: where these are very many, those that a
 * single walk through time finds, unless they waste memory and the best ones can still be had. */
static gboolean
plan_memory_sweep (VnPlan *self,
                   GArray *ids)
{
  g_autofree VnBlock *blocks = g_new (VnBlock, ids->len + 1);
  gsize least, size;
  guint most;

  for (guint i = 0; i < ids->len; i++)
    {
      const VnPlanValue *value = &self->values[g_array_index (ids, guint, i)];

      blocks[i] = (VnBlock) { plan_memory_round_up (value->n_bytes), 0, value->first_step, value->last_step };
    }
  most = vn_blocks_measure (blocks, ids->len, self->steps->len, &least);
  if (most < VERY_MANY || least > G_MAXSSIZE)
    return FALSE;
  size = vn_blocks_sweep (blocks, ids->len);
  if ((size > least && most < TOO_MANY) || size > G_MAXSSIZE)
    return FALSE;
  for (guint i = 0; i < ids->len; i++)
    self->values[g_array_index (ids, guint, i)].offset = blocks[i].offset;
  self->arena_size = size;
  return TRUE;
}

static gboolean
plan_memory_place_best (VnPlan  *self,
                        GArray  *blocks,
                        GError **error)
{
  g_autoptr(GArray) others = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr(VnLive) placed = vn_live_new (self->steps->len, self->n_values);

  for (guint i = 0; i < blocks->len; i++)
    {
      guint id = g_array_index (blocks, guint, i);
      VnPlanValue *block = &self->values[id];
      const gsize size = plan_memory_round_up (block->n_bytes);
      gsize end;

      vn_live_find (placed, block->first_step, block->last_step, others);
      block->offset = plan_memory_find_offset (self, others, size);
      if (size == G_MAXSIZE || !vn_checked_add (block->offset, size, &end) || end > G_MAXSSIZE)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
                       _("The activations need more memory than can be addressed (“%s” alone %zu bytes)"), block->value->name,
                       block->n_bytes);
          return FALSE;
        }
      vn_live_add (placed, id, block->first_step, block->last_step);
      self->arena_size = MAX (self->arena_size, end);
    }
  return TRUE;
}

static gboolean
plan_memory_place_blocks (VnPlan  *self,
                          GError **error)
{
  g_autoptr(GArray) blocks = plan_memory_collect_blocks (self);

  if (!plan_memory_sweep (self, blocks) && !plan_memory_place_best (self, blocks, error))
    return FALSE;
  for (guint id = 0; id < self->n_values; id++)
    if (self->values[id].store == VN_STORE_ARENA)
      self->values[id].offset = self->values[self->values[id].root].offset;
  return TRUE;
}

/**
 * vn_plan_place:
 *
 * Decides for every value where its memory comes from, how long it lives and where in the arena it lies.
 */
gboolean
vn_plan_place (VnPlan  *self,
               GError **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->steps->len; i++)
    {
      VnStep *step = g_ptr_array_index (self->steps, i);

      step->index = i;
      if (!plan_memory_set_stores (self, step, i, error))
        return FALSE;
      plan_memory_set_last_uses (self, step, i);
      self->max_inputs = MAX (self->max_inputs, step->n_inputs);
      self->max_outputs = MAX (self->max_outputs, step->n_outputs);
      if (!step->dynamic)
        self->scratch_size = MAX (self->scratch_size, step->scratch_bytes);
    }
  plan_memory_list_dying (self);
  return plan_memory_place_blocks (self, error);
}
