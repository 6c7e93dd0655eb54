/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls of operators. Where an operator has no kernel for an element type, `run` may see a stand-in instead:
 *
 *   float16, bfloat16   float32; results are rounded to nearest, ties to even
 *   string              the address of the string as an integer: may be moved, repeated or left out; 0 is “”
 *   4 and 2 bits        one element in each byte
 *
 * The descriptor says which. Everything lies in the scratch that `infer` asked for; constants are widened once, in
 * `prepare`. */
#include "vn-elem.h"
#include "vn-float-mode.h"
#include "vn-op-flushes.h"

#define HANDLE (sizeof (gpointer) == 8 ? VN_DTYPE_U64 : VN_DTYPE_U32)

/* What `prepare` leaves for an operator that may have stand-ins. */
typedef struct
{
  gpointer   inner;
  guint      n;            /* 0: nothing stands in */
  VnTensor **constants;    /* NULL: input is no constant */
} Prepared;

/* Type that the kernel of @op sees for @dtype. */
static VnDType
stand_in (const VnOp *op,
          VnDType     dtype)
{
  VnDTypeSet bit = dtype < VN_N_DTYPES ? (VnDTypeSet) 1 << dtype : 0;

  if ((op->stand_ins & VN_STAND_IN_HALVES) != 0 && (bit & VN_HALF_BITS & ~op->dtypes) != 0)
    return VN_DTYPE_F32;
  if ((op->stand_ins & VN_STAND_IN_STRINGS) != 0 && (bit & VN_DTYPE_BIT (STRING)) != 0)
    return HANDLE;
  if ((op->stand_ins & VN_STAND_IN_PACKED) != 0 && (bit & VN_PACKED_BITS) != 0)
    return VN_DTYPE_U8;
  return dtype;
}

/**
 * vn_op_get_dtypes:
 *
 * Returns: the element types of input 0 that can be computed, those with a stand-in included; 0: it has no input
 */
VnDTypeSet
vn_op_get_dtypes (const VnOp *op)
{
  VnDTypeSet set = op->dtypes;

  if ((op->stand_ins & VN_STAND_IN_HALVES) != 0 && (set & VN_DTYPE_BIT (F32)) != 0)
    set |= VN_HALF_BITS;
  if ((op->stand_ins & VN_STAND_IN_STRINGS) != 0 && (set & VN_DTYPE_BIT (U64)) != 0)
    set |= VN_DTYPE_BIT (STRING);
  if ((op->stand_ins & VN_STAND_IN_PACKED) != 0 && (set & VN_DTYPE_BIT (U8)) != 0)
    set |= VN_PACKED_BITS;
  return set;
}

/**
 * vn_op_takes:
 * @dtype: element type of input 0; %VN_DTYPE_UNDEFINED is taken
 *
 * Returns: whether @op can compute with it
 */
gboolean
vn_op_takes (const VnOp *op,
             VnDType     dtype)
{
  return dtype == VN_DTYPE_UNDEFINED || op->dtypes == 0 || (vn_op_get_dtypes (op) >> dtype & 1) != 0;
}

/**
 * vn_op_get_input_dtypes:
 *
 * Returns: the element types that input @input may have; 0: not stated, or there is no such input
 */
VnDTypeSet
vn_op_get_input_dtypes (const VnOp *op,
                        guint       input)
{
  if (input > 0 && input < VN_OP_MAX_OTHERS && op->others[input] != 0)
    return op->others[input];
  if (input < op->max_inputs && op->dtypes == 0 && (input == 0 || op->max_inputs == VN_OP_MAX_INPUTS))
    return G_MAXUINT32;   /* takes anything */
  if (input == 0 || op->max_inputs == VN_OP_MAX_INPUTS || (input < 16 && (op->same_dtype >> input & 1) != 0))
    return vn_op_get_dtypes (op);
  return 0;
}

/**
 * vn_op_is_alias:
 *
 * Returns: whether output 0 of @node is its input 0 with another shape
 */
gboolean
vn_op_is_alias (const VnOp   *op,
                const VnNode *node)
{
  for (guint i = 0; i < 16; i++)
    if ((op->unalias >> i & 1) != 0 && vn_node_get_input (node, i) != NULL)
      return FALSE;
  return op->aliases;
}

static gboolean
op_stand_in_needs (const VnOpContext *ctx)
{
  if (ctx->op->stand_ins == 0)
    return FALSE;
  for (guint i = 0; i < ctx->n_inputs; i++)
    if (stand_in (ctx->op, ctx->in_types[i].dtype) != ctx->in_types[i].dtype)
      return TRUE;
  return FALSE;
}

/* Adds the room of a stand-in; nothing for a type that needs none or a size not yet known. */
static gboolean
op_stand_in_add_room (const VnOp         *op,
                      const VnTensorType *type,
                      gsize              *total)
{
  VnDType seen = stand_in (op, type->dtype);
  gsize n_elements, n_bytes;

  if (seen == type->dtype || !vn_shape_is_static (&type->shape))
    return TRUE;
  return vn_tensor_size_in_bytes (seen, &type->shape, &n_elements, &n_bytes) && vn_checked_add (n_bytes, 63, &n_bytes) &&
         vn_checked_add (*total, n_bytes & ~(gsize) 63, total);
}

static gboolean
op_stand_in_count_room (const VnOpContext *ctx,
                        gsize             *total)
{
  *total = 0;
  for (guint i = 0; i < ctx->n_inputs; i++)
    if (!op_stand_in_add_room (ctx->op, &ctx->in_types[i], total))
      return FALSE;
  for (guint i = 0; i < ctx->n_outputs; i++)
    if (!op_stand_in_add_room (ctx->op, &ctx->out_types[i], total))
      return FALSE;
  return TRUE;
}

static VnTensorType *
op_stand_in_seen_types (const VnOp         *op,
                        const VnTensorType *types,
                        guint               n)
{
  VnTensorType *seen = g_new (VnTensorType, n + 1);

  for (guint i = 0; i < n; i++)
    seen[i] = (VnTensorType) { stand_in (op, types[i].dtype), types[i].shape };
  return seen;
}

/* How much scratch the kernel itself wants, with the types it will see. */
static gboolean
op_stand_in_infer_scratch (VnOpContext *ctx,
                           gsize       *bytes,
                           GError     **error)
{
  g_autofree VnTensorType *in_types = op_stand_in_seen_types (ctx->op, ctx->in_types, ctx->n_inputs);
  g_autofree VnTensorType *out_types = g_new0 (VnTensorType, ctx->n_outputs + 1);
  g_autofree VnTensor **in = g_new0 (VnTensor *, ctx->n_inputs + 1);
  g_autofree VnTensor **out = g_new0 (VnTensor *, ctx->n_outputs + 1);
  VnOpContext inner = *ctx;
  gboolean ok;

  for (guint i = 0; i < ctx->n_inputs; i++)
    in[i] = ctx->in != NULL && in_types[i].dtype == ctx->in_types[i].dtype ? ctx->in[i] : NULL;
  inner.in_types = in_types;
  inner.out_types = out_types;
  inner.in = in;
  inner.out = out;
  inner.scratch_bytes = 0;
  inner.numbers = NULL;
  ok = ctx->op->infer (&inner, error);
  for (guint i = 0; i < ctx->n_outputs; i++)
    g_clear_pointer (&out[i], vn_tensor_unref);
  *bytes = inner.scratch_bytes;
  return ok;
}

/**
 * vn_op_infer:
 * @ctx: as `infer` of the operator wants it
 *
 * Calls `infer` and adds to the scratch what stand-ins need.
 *
 * Returns: %FALSE if the operator rejects its inputs, or they are too large
 */
gboolean
vn_op_infer (VnOpContext *ctx,
             GError     **error)
{
  gsize room;

  if (!ctx->op->infer (ctx, error))
    return FALSE;
  if (!op_stand_in_needs (ctx))
    return TRUE;
  if (!op_stand_in_infer_scratch (ctx, &ctx->scratch_bytes, error))
    return FALSE;
  if (op_stand_in_count_room (ctx, &room) && vn_checked_add (room, ctx->scratch_bytes, &ctx->scratch_bytes) &&
      ctx->scratch_bytes <= G_MAXSSIZE)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("%s: its data are too large for this machine"), ctx->op->type);
  return FALSE;
}

/* ---- elements in and out ---- */

typedef struct
{
  VnDType       dtype;
  gconstpointer from;
  gpointer      to;
  gboolean      narrow;
} Conversion;

static void
op_stand_in_convert_range (gpointer data,
                           gsize    first,
                           gsize    n)
{
  const Conversion *self = data;

  if (self->narrow)
    vn_elem_from_float (self->dtype, (const float *) self->from + first, (guint16 *) self->to + first, n);
  else
    vn_elem_to_float (self->dtype, (const guint16 *) self->from + first, (float *) self->to + first, n);
}

static void
op_stand_in_unpack (VnDType       dtype,
                    const guint8 *from,
                    guint8       *to,
                    gsize         n)
{
  guint bits = vn_dtype_get_bits (dtype), per_byte = 8 / bits, mask = (1u << bits) - 1;

  for (gsize i = 0; i < n; i++)
    to[i] = (guint8) (from[i / per_byte] >> i % per_byte * bits & mask);
}

static void
op_stand_in_pack (VnDType       dtype,
                  const guint8 *from,
                  guint8       *to,
                  gsize         n)
{
  guint bits = vn_dtype_get_bits (dtype), per_byte = 8 / bits, mask = (1u << bits) - 1;

  memset (to, 0, (n + per_byte - 1) / per_byte);
  for (gsize i = 0; i < n; i++)
    to[i / per_byte] |= (guint8) ((from[i] & mask) << i % per_byte * bits);
}

static void
op_stand_in_fill_input (const VnOpContext *ctx,
                        const VnTensor    *from,
                        gpointer           to)
{
  Conversion conversion = { from->dtype, from->data, to, FALSE };

  if ((VN_HALF_BITS >> from->dtype & 1) != 0)
    vn_op_for_ranges (ctx, from->n_elements, 2, op_stand_in_convert_range, &conversion);
  else if (from->dtype != VN_DTYPE_STRING)
    op_stand_in_unpack (from->dtype, from->data, to, from->n_elements);
  else if (from->n_bytes > 0)
    memcpy (to, from->data, from->n_bytes);
}

static GHashTable *
op_stand_in_collect_strings (const VnOpContext *ctx)
{
  GHashTable *known = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < ctx->n_inputs; i++)
    if (ctx->in[i] != NULL && ctx->in[i]->dtype == VN_DTYPE_STRING)
      for (gsize k = 0; k < ctx->in[i]->n_elements; k++)
        g_hash_table_add (known, ((gpointer *) ctx->in[i]->data)[k]);
  return known;
}

/* A kernel that computed instead of moving leaves what is no string: that must not be followed. */
static gboolean
op_stand_in_take_strings (const VnOpContext *ctx,
                          const gpointer    *from,
                          VnTensor          *to,
                          GError           **error)
{
  g_autoptr(GHashTable) known = op_stand_in_collect_strings (ctx);
  char **strings = to->data;

  for (gsize i = 0; i < to->n_elements; i++)
    {
      if (from[i] != NULL && !g_hash_table_contains (known, from[i]))
        {
          g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s cannot compute with strings, only copy them"),
                       ctx->op->type);
          return FALSE;
        }
      g_free (strings[i]);
      strings[i] = g_strdup (from[i] != NULL ? from[i] : "");
    }
  return TRUE;
}

static gboolean
op_stand_in_take_output (const VnOpContext *ctx,
                         gconstpointer      from,
                         VnTensor          *to,
                         GError           **error)
{
  Conversion conversion = { to->dtype, from, to->data, TRUE };

  if (to->dtype == VN_DTYPE_STRING)
    return op_stand_in_take_strings (ctx, from, to, error);
  if ((VN_HALF_BITS >> to->dtype & 1) != 0)
    vn_op_for_ranges (ctx, to->n_elements, 2, op_stand_in_convert_range, &conversion);
  else
    op_stand_in_pack (to->dtype, from, to->data, to->n_elements);
  return TRUE;
}

/* ---- running ---- */

/* Tensors as the kernel sees them; @room: where stand-ins lie. */
typedef struct
{
  VnTensor **in, **out;
  char      *room;
} View;

/* A tensor of the kernel's type over memory of the scratch. */
static VnTensor *
op_stand_in_place (View           *self,
                   const VnOp     *op,
                   const VnTensor *original,
                   GError        **error)
{
  VnTensor *tensor = vn_tensor_new_wrap (stand_in (op, original->dtype), &original->shape, self->room, NULL, NULL, error);

  if (tensor != NULL && tensor->n_bytes > 0)     /* without a byte there may be no room at all */
    self->room += (tensor->n_bytes + 63) & ~(gsize) 63;
  return tensor;
}

static gboolean
op_stand_in_view_inputs (View            *self,
                         VnOpContext     *ctx,
                         const Prepared  *prepared,
                         GError         **error)
{
  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      VnTensor *tensor = prepared != NULL && i < prepared->n ? prepared->constants[i] : NULL;

      if (tensor == NULL && ctx->in[i] != NULL && stand_in (ctx->op, ctx->in[i]->dtype) != ctx->in[i]->dtype)
        {
          self->in[i] = op_stand_in_place (self, ctx->op, ctx->in[i], error);
          if (self->in[i] == NULL)
            return FALSE;
          op_stand_in_fill_input (ctx, ctx->in[i], self->in[i]->data);
          continue;
        }
      tensor = tensor != NULL ? tensor : ctx->in[i];
      self->in[i] = tensor != NULL ? vn_tensor_ref (tensor) : NULL;
    }
  return TRUE;
}

static gboolean
op_stand_in_view_outputs (View         *self,
                          VnOpContext  *ctx,
                          GError      **error)
{
  for (guint i = 0; i < ctx->n_outputs; i++)
    {
      VnTensor *tensor = ctx->out[i];

      if (tensor == NULL || stand_in (ctx->op, tensor->dtype) == tensor->dtype)
        {
          self->out[i] = tensor != NULL ? vn_tensor_ref (tensor) : NULL;
          continue;
        }
      self->out[i] = op_stand_in_place (self, ctx->op, tensor, error);
      if (self->out[i] == NULL)
        return FALSE;
      if (tensor->dtype == VN_DTYPE_STRING)
        memset (self->out[i]->data, 0, self->out[i]->n_bytes);
    }
  return TRUE;
}

static gboolean
op_stand_in_run_viewed (View            *self,
                        VnOpContext     *ctx,
                        const Prepared  *prepared,
                        GError         **error)
{
  g_autofree VnTensorType *in_types = op_stand_in_seen_types (ctx->op, ctx->in_types, ctx->n_inputs);
  g_autofree VnTensorType *out_types = op_stand_in_seen_types (ctx->op, ctx->out_types, ctx->n_outputs);
  VnOpContext inner = *ctx;
  gsize room;

  if (!op_stand_in_view_inputs (self, ctx, prepared, error) || !op_stand_in_view_outputs (self, ctx, error))
    return FALSE;
  op_stand_in_count_room (ctx, &room);
  inner.in_types = in_types;
  inner.out_types = out_types;
  inner.in = self->in;
  inner.out = self->out;
  inner.prepared = prepared != NULL ? prepared->inner : NULL;
  inner.scratch = room > 0 ? (char *) ctx->scratch + room : ctx->scratch;   /* of which there may be none */
  inner.scratch_bytes = ctx->scratch_bytes - room;
  if (!ctx->op->run (&inner, error))
    return FALSE;
  for (guint i = 0; i < ctx->n_outputs; i++)
    if (self->out[i] != ctx->out[i] && !op_stand_in_take_output (ctx, self->out[i]->data, ctx->out[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
op_stand_in_run_with_stand_ins (VnOpContext     *ctx,
                                const Prepared  *prepared,
                                GError         **error)
{
  View view = { g_new0 (VnTensor *, ctx->n_inputs + 1), g_new0 (VnTensor *, ctx->n_outputs + 1), ctx->scratch };
  gboolean ok = op_stand_in_run_viewed (&view, ctx, prepared, error);

  for (guint i = 0; i < ctx->n_inputs; i++)
    g_clear_pointer (&view.in[i], vn_tensor_unref);
  for (guint i = 0; i < ctx->n_outputs; i++)
    g_clear_pointer (&view.out[i], vn_tensor_unref);
  g_free (view.in);
  g_free (view.out);
  return ok;
}

static gboolean
op_stand_in_compute (VnOpContext  *ctx,
                     GError      **error)
{
  const Prepared *prepared = ctx->prepared;
  VnOpContext inner;

  if (ctx->op->stand_ins == 0)
    return ctx->op->run (ctx, error);
  if (op_stand_in_needs (ctx))
    return op_stand_in_run_with_stand_ins (ctx, prepared, error);
  inner = *ctx;
  inner.prepared = prepared != NULL ? prepared->inner : NULL;
  return ctx->op->run (&inner, error);
}

static guint
op_stand_in_begin_mode (const VnOpContext *ctx)
{
  const gboolean flushes = ctx->subnormals != VN_OP_SUBNORMALS_ASK
                           ? ctx->subnormals == VN_OP_SUBNORMALS_FLUSHED
                           : vn_op_flushes (ctx->op, ctx->n_inputs > 0 ? ctx->in_types[0].dtype : VN_DTYPE_UNDEFINED);

  return vn_float_mode_begin (flushes);
}

/**
 * vn_op_run:
 * @ctx: as `run` of the operator wants it, inferred by vn_op_infer() and prepared, if at all, by vn_op_prepare()
 *
 * Computes the outputs. Where vn_op_flushes() says so, subnormal numbers are 0 in it, whatever the calling thread takes them for.
 *
 * Returns: %FALSE with an error that names what does not fit
 */
gboolean
vn_op_run (VnOpContext *ctx,
           GError     **error)
{
  const guint mode = op_stand_in_begin_mode (ctx);
  const gboolean good = op_stand_in_compute (ctx, error);

  vn_float_mode_end (mode);
  return good;
}

/* ---- constants ---- */

static void
op_stand_in_prepared_free (Prepared *self)
{
  for (guint i = 0; i < self->n; i++)
    g_clear_pointer (&self->constants[i], vn_tensor_unref);
  g_free (self->constants);
  g_free (self);
}

/* Constants as the kernel will see them, each input that is one. */
static gboolean
op_stand_in_widen_constants (VnOpContext  *ctx,
                             Prepared     *self,
                             GError      **error)
{
  self->n = ctx->n_inputs;
  self->constants = g_new0 (VnTensor *, self->n + 1);
  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      VnTensor *tensor = ctx->in[i];
      VnDType seen = tensor != NULL ? stand_in (ctx->op, tensor->dtype) : VN_DTYPE_UNDEFINED;

      if (tensor == NULL || tensor->dtype == VN_DTYPE_STRING)
        continue;
      self->constants[i] = seen == tensor->dtype ? vn_tensor_ref (tensor) : vn_tensor_new (seen, &tensor->shape, error);
      if (self->constants[i] == NULL)
        return FALSE;
      if (seen != tensor->dtype)
        op_stand_in_fill_input (ctx, tensor, self->constants[i]->data);
    }
  return TRUE;
}

static gboolean
op_stand_in_prepare_inner (VnOpContext  *ctx,
                           Prepared     *self,
                           gboolean      stands_in,
                           GError      **error)
{
  g_autofree VnTensorType *in_types = op_stand_in_seen_types (ctx->op, ctx->in_types, ctx->n_inputs);
  g_autofree VnTensorType *out_types = op_stand_in_seen_types (ctx->op, ctx->out_types, ctx->n_outputs);
  VnOpContext inner = *ctx;

  if (stands_in && !op_stand_in_widen_constants (ctx, self, error))
    return FALSE;
  if (ctx->op->prepare == NULL)
    return TRUE;
  inner.in_types = in_types;
  inner.out_types = out_types;
  inner.in = stands_in ? self->constants : ctx->in;
  return ctx->op->prepare (&inner, &self->inner, error);
}

static gboolean
op_stand_in_has_constants (const Prepared *self)
{
  for (guint i = 0; i < self->n; i++)
    if (self->constants[i] != NULL)
      return TRUE;
  return FALSE;
}

static gboolean
op_stand_in_prepare (VnOpContext  *ctx,
                     gpointer     *prepared,
                     GError      **error)
{
  Prepared *self;

  *prepared = NULL;
  if (ctx->op->stand_ins == 0)
    return ctx->op->prepare == NULL || ctx->op->prepare (ctx, prepared, error);
  /* Which types a kernel will see must be the same then as now. */
  for (guint i = 0; i < ctx->n_inputs; i++)
    if (ctx->in_types[i].dtype == VN_DTYPE_UNDEFINED && vn_op_has_input (ctx, i))
      return TRUE;
  self = g_new0 (Prepared, 1);
  if (!op_stand_in_prepare_inner (ctx, self, op_stand_in_needs (ctx), error))
    {
      op_stand_in_prepared_free (self);
      return FALSE;
    }
  if (self->inner != NULL || op_stand_in_has_constants (self))
    *prepared = self;
  else
    op_stand_in_prepared_free (self);
  return TRUE;
}

/**
 * vn_op_prepare:
 * @ctx: as `prepare` of the operator wants it
 * @prepared: (out) (nullable): for `ctx->prepared` in vn_op_run(); %NULL if there is nothing to prepare
 *
 * Lets an operator pack its constant inputs, once per node; what stands in for constants is made here, too.
 */
gboolean
vn_op_prepare (VnOpContext *ctx,
               gpointer    *prepared,
               GError     **error)
{
  const guint mode = op_stand_in_begin_mode (ctx);
  const gboolean good = op_stand_in_prepare (ctx, prepared, error);

  vn_float_mode_end (mode);
  return good;
}

/**
 * vn_op_release:
 * @prepared: (transfer full) (nullable): from vn_op_prepare() of the same operator
 */
void
vn_op_release (const VnOp *op,
               gpointer    prepared)
{
  Prepared *self = prepared;

  if (prepared == NULL)
    return;
  if (op->stand_ins == 0)
    {
      op->release (prepared);
      return;
    }
  if (self->inner != NULL)
    op->release (self->inner);
  op_stand_in_prepared_free (self);
}
