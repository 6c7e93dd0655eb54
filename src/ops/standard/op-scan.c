/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scan: a graph that is run for each slice of its inputs. Up to opset 8 the first dim is a batch, whose members are
 * scanned one after the other, and lengths of the sequences may be given; from opset 9 on any axis may be scanned. */
#include "vn-op-body.h"

#include "vn-elem.h"

typedef struct
{
  const VnGraph *body;
  gboolean       batched;
  guint          first;                 /* input where the carried values begin */
  guint          n_states, n_ins, n_outs;
  int           *in_axes;
  gboolean      *in_back, *out_back;    /* from the end to the begin */
  VnTensor     **values;                /* inputs of the graph */
  VnTensor     **results;
  GPtrArray    **scans;
  gsize          n_bytes;               /* in all of them, over all members of a batch */
} Scan;

static void
scan_clear (Scan *self)
{
  if (self->values != NULL)
    vn_body_values_clear (self->values, self->n_states + self->n_ins);
  if (self->results != NULL)
    vn_body_values_clear (self->results, self->n_states + self->n_outs);
  for (guint i = 0; self->scans != NULL && i < self->n_outs; i++)
    g_ptr_array_unref (self->scans[i]);
  g_free (self->in_axes);
  g_free (self->in_back);
  g_free (self->out_back);
  g_free (self->values);
  g_free (self->results);
  g_free (self->scans);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Scan, scan_clear)

static gboolean
scan_get_directions (VnOpContext *ctx,
                     const char  *name,
                     guint        n,
                     gboolean   **back,
                     GError     **error)
{
  gsize n_given;
  const gint64 *given = vn_node_get_ints (ctx->node, name, &n_given);

  *back = g_new0 (gboolean, n + 1);
  if (n_given != 0 && n_given != n)
    return vn_op_fail (ctx, error,
                       ngettext ("Scan: “%s” has %zu value, expected %u",
                                 "Scan: “%s” has %zu values, expected %u", n_given), name, n_given, n);
  for (guint i = 0; i < n_given; i++)
    {
      if (given[i] != 0 && given[i] != 1)
        return vn_op_fail (ctx, error, _("Scan: “%s” contains %lld, expected 0 or 1"), name,
                           (long long) given[i]);
      (*back)[i] = given[i] == 1;
    }
  return TRUE;
}

/* Axes of the inputs; unknown ranks are looked at again when the network runs. */
static gboolean
scan_get_axes (VnOpContext *ctx,
               Scan        *self,
               GError     **error)
{
  gsize n_given = 0;
  const gint64 *given = self->batched ? NULL : vn_node_get_ints (ctx->node, "scan_input_axes", &n_given);

  self->in_axes = g_new0 (int, self->n_ins + 1);
  if (n_given != 0 && n_given != self->n_ins)
    return vn_op_fail (ctx, error,
                       ngettext ("Scan: “%s” has %zu value, expected %u",
                                 "Scan: “%s” has %zu values, expected %u", n_given), "scan_input_axes",
                       n_given, self->n_ins);
  for (guint i = 0; i < self->n_ins; i++)
    {
      const VnShape *shape = &ctx->in_types[self->first + self->n_states + i].shape;

      if (shape->rank >= 0 &&
          !vn_op_axis (ctx, shape, self->batched ? 1 : n_given > 0 ? given[i] : 0, &self->in_axes[i], error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
scan_init (VnOpContext *ctx,
           Scan        *self,
           GError     **error)
{
  gint64 n_ins = vn_node_get_int (ctx->node, "num_scan_inputs", 0);
  guint n_data;

  *self = (Scan) { .batched = ctx->opset < 9 };
  self->first = self->batched ? 1 : 0;
  n_data = ctx->n_inputs - self->first;
  if (n_ins < 1 || n_ins > (gint64) n_data)
    return vn_op_fail (ctx, error, _("Scan: %lld scan inputs, but the node has %u inputs"), (long long) n_ins, n_data);
  self->n_ins = (guint) n_ins;
  self->n_states = n_data - self->n_ins;
  self->body = vn_op_get_body (ctx, "body", n_data, VN_BODY_ANY, error);
  if (self->body == NULL || !vn_op_need_inputs (ctx, self->first, error))
    return FALSE;
  if (self->body->outputs->len < self->n_states || self->body->outputs->len != ctx->n_outputs)
    return vn_op_fail (ctx, error,
                       ngettext ("Scan: its body has %u output, the node has %u outputs and %u state variables",
                                 "Scan: its body has %u outputs, the node has %u outputs and %u state variables",
                                 self->body->outputs->len),
                       self->body->outputs->len, ctx->n_outputs, self->n_states);
  self->n_outs = self->body->outputs->len - self->n_states;
  return scan_get_axes (ctx, self, error) &&
         scan_get_directions (ctx, self->batched ? "directions" : "scan_input_directions", self->n_ins, &self->in_back, error) &&
         scan_get_directions (ctx, self->batched ? "" : "scan_output_directions", self->n_outs, &self->out_back, error);
}

static gboolean
scan_output_axis (VnOpContext    *ctx,
                  const Scan     *self,
                  guint           i,
                  const VnShape  *element,
                  int            *axis,
                  GError        **error)
{
  gsize n = 0;
  const gint64 *given = self->batched ? NULL : vn_node_get_ints (ctx->node, "scan_output_axes", &n);
  VnShape shape = *element;

  *axis = 0;
  if (n != 0 && n != self->n_outs)
    return vn_op_fail (ctx, error,
                       ngettext ("Scan: “%s” has %zu value, expected %u",
                                 "Scan: “%s” has %zu values, expected %u", n), "scan_output_axes", n,
                       self->n_outs);
  if (shape.rank < 0 || shape.rank >= VN_MAX_RANK)
    return TRUE;
  shape.rank++;
  return n == 0 || vn_op_axis (ctx, &shape, given[i], axis, error);
}

static void
scan_insert_dim (VnShape *shape,
                 int      axis,
                 gint64   dim)
{
  memmove (&shape->dims[axis + 1], &shape->dims[axis], (size_t) (shape->rank - axis) * sizeof shape->dims[0]);
  shape->dims[axis] = dim;
  shape->rank++;
}

static gint64
scan_planned_length (VnOpContext *ctx,
                     const Scan  *self)
{
  const VnShape *shape = &ctx->in_types[self->first + self->n_states].shape;

  return shape->rank > 0 ? shape->dims[self->in_axes[0]] : VN_DIM_UNKNOWN;
}

static gboolean
scan_infer (VnOpContext *ctx,
            GError     **error)
{
  g_auto(Scan) self = { 0 };

  if (!scan_init (ctx, &self, error))
    return FALSE;
  for (guint i = 0; i < ctx->n_outputs; i++)
    {
      VnTensorType type = vn_op_body_type (ctx, self.body, i);
      int axis;

      if (i < self.n_states)
        type = (VnTensorType) { ctx->in_types[self.first + i].dtype, VN_SHAPE_UNKNOWN };
      else if (!scan_output_axis (ctx, &self, i - self.n_states, &type.shape, &axis, error))
        return FALSE;
      else if (self.batched || type.shape.rank >= VN_MAX_RANK)
        type.shape = VN_SHAPE_UNKNOWN;
      else if (type.shape.rank >= 0)
        scan_insert_dim (&type.shape, axis, scan_planned_length (ctx, &self));
      ctx->out_types[i] = type;
    }
  return TRUE;
}

/* ---- one scan ---- */

static gboolean
scan_check_slice (VnOpContext    *ctx,
                  const VnTensor *old,
                  const VnTensor *new,
                  guint           i,
                  GError        **error)
{
  if (old->kind == VN_KIND_TENSOR && new->kind == VN_KIND_TENSOR && old->dtype == new->dtype)
    return TRUE;
  return vn_op_fail (ctx, error, _("Scan: state variable %u changed from %s to %s"), i, vn_dtype_get_name (old->dtype),
                     vn_dtype_get_name (new->dtype));
}

/* One round; the results of the last stay behind where they are not carried on. */
static gboolean
scan_round (VnOpContext       *ctx,
            Scan              *self,
            VnTensor * const  *ins,
            gint64             round,
            gint64             length,
            GError           **error)
{
  for (guint i = 0; i < self->n_ins; i++)
    {
      VnTensor **value = &self->values[self->n_states + i];

      g_clear_pointer (value, vn_tensor_unref);
      *value = vn_slab_take (ins[i], self->in_axes[i] - (self->batched ? 1 : 0),
                             self->in_back[i] ? length - 1 - round : round, 1, FALSE, error);
      if (*value == NULL)
        return FALSE;
    }
  if (!vn_op_run_body (ctx, self->body, self->values, self->results, error))
    return FALSE;
  for (guint i = 0; i < self->n_states; i++)
    {
      if (!scan_check_slice (ctx, self->values[i], self->results[i], i, error))
        return FALSE;
      vn_tensor_unref (self->values[i]);
      self->values[i] = g_steal_pointer (&self->results[i]);
    }
  for (guint i = 0; i < self->n_outs; i++)
    if (!vn_op_gather (ctx, self->scans[i], &self->results[self->n_states + i], &self->n_bytes, error))
      return FALSE;
  return TRUE;
}

static void
scan_turn_around (GPtrArray *array)
{
  for (guint i = 0; i < array->len / 2; i++)
    {
      gpointer item = array->pdata[i];

      array->pdata[i] = array->pdata[array->len - 1 - i];
      array->pdata[array->len - 1 - i] = item;
    }
}

static VnTensor *
scan_zeros (VnDType         dtype,
            const VnShape  *shape,
            GError        **error)
{
  VnTensor *tensor = vn_tensor_new (dtype, shape, error);

  if (tensor != NULL && dtype != VN_DTYPE_STRING && tensor->n_bytes > 0)
    memset (tensor->data, 0, tensor->n_bytes);
  return tensor;
}

/* What was gathered for output @i, made @n_pad longer; what no round has made is as the graph declares it. */
static VnTensor *
scan_stack_output (VnOpContext *ctx,
                   Scan        *self,
                   guint        i,
                   gint64       n_pad,
                   GError     **error)
{
  const VnValue *value = g_ptr_array_index (self->body->outputs, self->n_states + i);
  VnTensorType type = vn_op_body_type (ctx, self->body, self->n_states + i), declared = vn_type_get_declared (&value->type);
  const VnTensor *first = self->scans[i]->len > 0 ? g_ptr_array_index (self->scans[i], 0) : NULL;
  VnShape shape = first != NULL ? first->shape : type.shape.rank >= 0 ? type.shape : declared.shape;
  VnDType dtype = first != NULL ? first->dtype : type.dtype != VN_DTYPE_UNDEFINED ? type.dtype : declared.dtype;
  g_autoptr(VnTensor) stacked = NULL;
  g_autoptr(VnTensor) padding = NULL;
  g_autoptr(GPtrArray) both = g_ptr_array_new ();
  int axis;

  if (shape.rank < 0)
    shape = VN_SHAPE_SCALAR;
  for (int d = 0; d < shape.rank; d++)
    shape.dims[d] = MAX (shape.dims[d], 0);
  if (!scan_output_axis (ctx, self, i, &shape, &axis, error))
    return NULL;
  if (self->out_back[i])
    scan_turn_around (self->scans[i]);
  if (first != NULL)
    stacked = vn_slab_join (self->scans[i], axis, TRUE, error);
  if (first != NULL && (stacked == NULL || n_pad == 0))
    return g_steal_pointer (&stacked);
  if (shape.rank == VN_MAX_RANK)
    {
      vn_op_fail (ctx, error, _("Scan: output %u would have more than %d dims"), i, VN_MAX_RANK);
      return NULL;
    }
  scan_insert_dim (&shape, axis, n_pad);
  padding = scan_zeros (dtype, &shape, error);
  if (padding == NULL || first == NULL)
    return g_steal_pointer (&padding);
  g_ptr_array_add (both, stacked);
  g_ptr_array_add (both, padding);
  return vn_slab_join (both, axis, FALSE, error);
}

static gboolean
scan_check_lengths (VnOpContext  *ctx,
                    const Scan   *self,
                    gint64       *length,
                    GError      **error)
{
  for (guint i = 0; i < self->n_ins; i++)
    {
      const VnTensor *tensor = ctx->in[self->first + self->n_states + i];
      const VnTensor *before = ctx->in[self->first + self->n_states];

      if (tensor->shape.dims[self->in_axes[i]] != before->shape.dims[self->in_axes[0]] ||
          (self->batched && tensor->shape.dims[0] != before->shape.dims[0]))
        return vn_op_fail (ctx, error, _("Scan: the scan inputs differ in length: %lld and %lld"),
                           (long long) before->shape.dims[self->in_axes[0]],
                           (long long) tensor->shape.dims[self->in_axes[i]]);
      *length = tensor->shape.dims[self->in_axes[i]];
    }
  return TRUE;
}

static void
scan_begin (Scan *self)
{
  self->values = g_new0 (VnTensor *, self->n_states + self->n_ins + 1);
  self->results = g_new0 (VnTensor *, self->n_states + self->n_outs + 1);
  self->scans = g_new0 (GPtrArray *, self->n_outs + 1);
  for (guint i = 0; i < self->n_outs; i++)
    self->scans[i] = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
}

/* Runs over @length of @total slices and puts the results into @outputs. */
static gboolean
scan_sequence (VnOpContext       *ctx,
               Scan              *self,
               VnTensor * const  *states,
               VnTensor * const  *ins,
               gint64             length,
               gint64             total,
               VnTensor         **outputs,
               GError           **error)
{
  for (guint i = 0; i < self->n_states; i++)
    {
      g_clear_pointer (&self->values[i], vn_tensor_unref);
      self->values[i] = vn_tensor_ref (states[i]);
    }
  for (guint i = 0; i < self->n_outs; i++)
    g_ptr_array_set_size (self->scans[i], 0);
  for (gint64 round = 0; round < length; round++)
    if (!scan_round (ctx, self, ins, round, length, error))
      return FALSE;
  for (guint i = 0; i < self->n_states + self->n_outs; i++)
    {
      outputs[i] = i < self->n_states ? vn_tensor_own (self->values[i], error)
                                      : scan_stack_output (ctx, self, i - self->n_states, total - length, error);
      if (outputs[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

/* ---- a batch of scans ---- */

static gboolean
scan_batch_length (VnOpContext *ctx,
                   gint64       member,
                   gint64       n_members,
                   gint64       total,
                   gint64      *length,
                   GError     **error)
{
  const VnTensor *lengths = ctx->in[0];

  *length = total;
  if (lengths == NULL)
    return TRUE;
  if (lengths->dtype != VN_DTYPE_S64 || (gint64) lengths->n_elements != n_members)
    return vn_op_fail (ctx, error, _("Scan: %zu sequence lengths, but %lld sequences"),
                       lengths->n_elements, (long long) n_members);
  *length = ((const gint64 *) lengths->data)[member];
  if (*length < 0 || *length > total)
    return vn_op_fail (ctx, error, _("Scan: the sequence length is %lld, but there are %lld slices"),
                       (long long) *length, (long long) total);
  return TRUE;
}

static gboolean
scan_member (VnOpContext *ctx,
             Scan        *self,
             gint64       member,
             gint64       n_members,
             gint64       total,
             VnTensor   **outputs,
             GError     **error)
{
  guint n = self->n_states + self->n_ins;
  g_autofree VnTensor **slices = g_new0 (VnTensor *, n + 1);
  gint64 length;
  gboolean ok = scan_batch_length (ctx, member, n_members, total, &length, error);

  for (guint i = 0; ok && i < n; i++)
    {
      const VnTensor *tensor = ctx->in[self->first + i];

      if (tensor->shape.rank < 1 || tensor->shape.dims[0] != n_members)
        ok = vn_op_fail (ctx, error, _("Scan: input %u has no batch of %lld"), self->first + i, (long long) n_members);
      else
        ok = (slices[i] = vn_slab_take (tensor, 0, member, 1, FALSE, error)) != NULL;
    }
  ok = ok && scan_sequence (ctx, self, slices, slices + self->n_states, length, total, outputs, error);
  vn_body_values_clear (slices, n);
  return ok;
}

static gboolean
scan_join_members (VnOpContext  *ctx,
                   GPtrArray   **members,
                   GError      **error)
{
  for (guint i = 0; i < ctx->n_outputs; i++)
    {
      if (members[i]->len == 0)
        return vn_op_fail (ctx, error, _("Scan: an empty batch has no outputs"));
      ctx->out[i] = vn_slab_join (members[i], 0, TRUE, error);
      if (ctx->out[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
scan_batch (VnOpContext *ctx,
            Scan        *self,
            gint64       total,
            GError     **error)
{
  gint64 n_members = ctx->in[self->first + self->n_states]->shape.dims[0];
  g_autofree GPtrArray **members = g_new0 (GPtrArray *, ctx->n_outputs + 1);
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, ctx->n_outputs + 1);
  gboolean ok = TRUE;

  for (guint i = 0; i < ctx->n_outputs; i++)
    members[i] = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  for (gint64 b = 0; ok && b < n_members; b++)
    {
      ok = scan_member (ctx, self, b, n_members, total, outputs, error);
      for (guint i = 0; ok && i < ctx->n_outputs; i++)
        g_ptr_array_add (members[i], g_steal_pointer (&outputs[i]));
    }
  ok = ok && scan_join_members (ctx, members, error);
  vn_body_values_clear (outputs, ctx->n_outputs);
  for (guint i = 0; i < ctx->n_outputs; i++)
    g_ptr_array_unref (members[i]);
  return ok;
}

static gboolean
scan_run (VnOpContext *ctx,
          GError     **error)
{
  g_auto(Scan) self = { 0 };
  gint64 length = 0;

  if (!scan_init (ctx, &self, error) || !scan_check_lengths (ctx, &self, &length, error))
    return FALSE;
  scan_begin (&self);
  if (self.batched)
    return scan_batch (ctx, &self, length, error);
  return scan_sequence (ctx, &self, ctx->in, ctx->in + self.n_states, length, length, ctx->out, error);
}

#define SCAN(name, first, last, n_inputs, left_out)                                                            \
  const VnOp name = {                                                                                          \
    .domain = "", .type = "Scan", .since = first, .until = last,                                               \
    .min_inputs = n_inputs, .max_inputs = VN_OP_MAX_INPUTS, .min_outputs = 0, .max_outputs = VN_OP_MAX_INPUTS, \
    .optional = left_out,                                                                                      \
    .family = VN_FAMILY_OTHER,                                                                                 \
    .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),                                                         \
    .makes_outputs = TRUE,                                                                                     \
    .infer = scan_infer,                                                                                       \
    .run = scan_run,                                                                                           \
  };

SCAN (vn_op_scan_8, 8, 8, 2, 1)
SCAN (vn_op_scan_9, 9, 0, 1, 0)
