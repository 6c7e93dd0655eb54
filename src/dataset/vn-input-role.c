/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an input of a network is for: by its name, its type, the table it is looked up in, and whether a recurrent layer starts
 * with it. Only what seldom is wrong is said; what is known of nothing is numbers. */
#include "vn-input-role.h"

#include "vn-i18n.h"

#include <string.h>

#define MAX_DEPTH 8       /* operators between an input and a recurrent layer */
#define MAX_USES 200      /* looked at in all */
#define USUAL_RATE 16000  /* of speech, in Hz */

/* Integers, by a part of the name in small letters; the first that fits counts. */
static const struct
{
  const char *part;
  VnInputRole role;
} integers[] = {
  { "mask", VN_INPUT_MASK },
  { "token_type", VN_INPUT_SEGMENTS },
  { "segment", VN_INPUT_SEGMENTS },
  { "type_id", VN_INPUT_SEGMENTS },
  { "position", VN_INPUT_POSITIONS },
  { "length", VN_INPUT_LENGTH },
  { "_len", VN_INPUT_LENGTH },
  { "sample_rate", VN_INPUT_RATE },
  { "sampling_rate", VN_INPUT_RATE },
};

/* Words of names of floats; a word ends where letters do. */
static const struct
{
  const char *word;
  VnInputRole role;
} floats[] = {
  { "past", VN_INPUT_PAST }, { "attention_mask", VN_INPUT_MASK }, { "attn_mask", VN_INPUT_MASK }, { "state", VN_INPUT_STATE },
  { "states", VN_INPUT_STATE }, { "cache", VN_INPUT_STATE }, { "hidden", VN_INPUT_STATE }, { "h0", VN_INPUT_STATE },
  { "c0", VN_INPUT_STATE }, { "hx", VN_INPUT_STATE }, { "cx", VN_INPUT_STATE }, { "h", VN_INPUT_STATE }, { "c", VN_INPUT_STATE },
  { "memory", VN_INPUT_STATE },
};

static const char * const recurrent[] = { "LSTM", "GRU", "RNN", NULL };
/* Operators that hand values on in other shapes. */
static const char * const passing[] = {
  "Cast", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze", NULL
};

/* ---- roles ---- */

static gboolean
input_role_has_word (const char *name,
                     const char *word)
{
  const gsize n = strlen (word);

  for (const char *at = strstr (name, word); at != NULL; at = strstr (at + 1, word))
    if ((at == name || !g_ascii_isalnum (at[-1])) && !g_ascii_isalpha (at[n]))
      return TRUE;
  return FALSE;
}

static gboolean
input_role_is_picture (const VnInputSpec *spec)
{
  const VnShape *shape = &spec->shape;

  for (guint last = 0; last < 2 && shape->rank == 4; last++)
    {
      const gint64 channels = shape->dims[last ? 3 : 1], height = shape->dims[last ? 1 : 2], width = shape->dims[last ? 2 : 3];

      if ((channels == 1 || channels == 3 || channels == 4) && (height < 0 || height >= 8) && (width < 0 || width >= 8))
        return TRUE;
    }
  return FALSE;
}

static VnInputRole
input_role_of_integers (const VnInputSpec *spec,
                        const char        *name)
{
  if (g_str_equal (name, "sr") && spec->shape.rank < 2)
    return VN_INPUT_RATE;
  for (guint i = 0; i < G_N_ELEMENTS (integers); i++)
    if (strstr (name, integers[i].part) != NULL && (integers[i].role != VN_INPUT_LENGTH || spec->shape.rank < 2))
      return integers[i].role;
  if (spec->limit > 0)
    return VN_INPUT_TOKENS;
  return spec->dtype == VN_DTYPE_U8 && input_role_is_picture (spec) ? VN_INPUT_IMAGE : VN_INPUT_NUMBERS;
}

/* One axis of many values, beside the batch and dims of 1. */
static gboolean
input_role_is_sound (const VnInputSpec *spec,
                     const char        *name)
{
  static const char * const words[] = { "audio", "wav", "waveform", "speech", "pcm", "sound", "samples", NULL };
  guint n_long = 0;

  for (int i = 0; i < spec->shape.rank; i++)
    n_long += spec->shape.dims[i] > 1 || (spec->shape.dims[i] < 0 && i > 0);
  if (spec->shape.rank < 1 || spec->shape.rank > 3 || n_long != 1)
    return FALSE;
  if (spec->beside_rate)
    return TRUE;
  for (guint i = 0; words[i] != NULL; i++)
    if (strstr (name, words[i]) != NULL)
      return TRUE;
  for (int i = 0; i < spec->shape.rank; i++)
    if (spec->shape.dims[i] >= 8000)
      return TRUE;
  return FALSE;
}

static VnInputRole
input_role_of_floats (const VnInputSpec *spec,
                      const char        *name)
{
  if (spec->starts_recurrence)
    return VN_INPUT_STATE;
  for (guint i = 0; i < G_N_ELEMENTS (floats); i++)
    if (input_role_has_word (name, floats[i].word) || (floats[i].role == VN_INPUT_PAST && g_str_has_prefix (name, "past")))
      return floats[i].role;
  if (input_role_is_picture (spec))
    return VN_INPUT_IMAGE;
  return input_role_is_sound (spec, name) ? VN_INPUT_AUDIO : VN_INPUT_NUMBERS;
}

/* Rows, columns and as many channels as files of pictures have, in either order; what is open may be anything. */
static gboolean
input_role_fits_picture (const VnShape *shape)
{
  const gint64 *dims = shape->dims + MAX (shape->rank - 3, 0);

  for (guint i = 0; i < 2 && (shape->rank == 3 || shape->rank == 4); i++)
    {
      const gint64 channels = dims[i == 0 ? 0 : 2], height = dims[i == 0 ? 1 : 0], width = dims[i == 0 ? 2 : 1];

      if ((channels < 0 || channels == 1 || channels == 3 || channels == 4) && (height < 0 || height > 1) &&
          (width < 0 || width > 1))
        return TRUE;
    }
  return shape->rank < 0;
}

/**
 * vn_input_specs_may_take_pictures:
 * @specs: (array length=n): of a network
 *
 * Returns: whether samples may be pictures, as far as shapes and types tell: of tokens, sounds and tables nothing is scaled or
 *   seen
 */
gboolean
vn_input_specs_may_take_pictures (const VnInputSpec *specs,
                                  guint              n)
{
  g_return_val_if_fail (specs != NULL || n == 0, FALSE);

  for (guint i = 0; i < n; i++)
    if ((specs[i].dtype == VN_DTYPE_UNDEFINED || specs[i].dtype == VN_DTYPE_U8 || vn_dtype_is_float (specs[i].dtype)) &&
        vn_input_role_get_fill (vn_input_role_find (&specs[i])) == VN_FILL_NONE && input_role_fits_picture (&specs[i].shape))
      return TRUE;
  return FALSE;
}

/**
 * vn_input_role_find:
 *
 * Returns: what @spec is for
 */
VnInputRole
vn_input_role_find (const VnInputSpec *spec)
{
  g_autofree char *name = NULL;

  g_return_val_if_fail (spec != NULL, VN_INPUT_NUMBERS);

  name = g_ascii_strdown (spec->name, -1);
  return vn_dtype_is_float (spec->dtype) ? input_role_of_floats (spec, name) : input_role_of_integers (spec, name);
}

/* ---- what the network does with it ---- */

static gboolean
input_role_starts_recurrence (const VnValue *value,
                              guint          depth,
                              guint         *budget)
{
  for (guint i = 0; depth < MAX_DEPTH && i < value->uses->len && *budget > 0; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      (*budget)--;
      if (g_strv_contains (recurrent, use->node->op_type) && use->index >= 5)
        return TRUE;
      for (guint k = 0; use->index == 0 && g_strv_contains (passing, use->node->op_type) && k < use->node->outputs->len; k++)
        {
          const VnValue *output = vn_node_get_output (use->node, k);

          if (output != NULL && input_role_starts_recurrence (output, depth + 1, budget))
            return TRUE;
        }
    }
  return FALSE;
}

/**
 * vn_input_spec_init:
 * @self: (out): its name is borrowed
 * @input: of a network
 *
 * What samples must have for @input, as the network declares it.
 */
void
vn_input_spec_init (VnInputSpec   *self,
                    const VnValue *input)
{
  guint budget = MAX_USES;

  g_return_if_fail (self != NULL && input != NULL);

  *self = (VnInputSpec) { .name = input->name, .dtype = input->type.dtype, .shape = input->type.shape };
  self->limit = vn_value_find_index_limit (input);
  self->starts_recurrence = input_role_starts_recurrence (input, 0, &budget);
  for (int i = 0; i < self->shape.rank; i++)
    {
      const char *symbol = input->type.symbols[i];

      if (symbol == NULL || *symbol == '\0')
        continue;
      self->symbols[i] = MAX (g_str_hash (symbol), 1);      /* 0: none */
      self->is_past[i] = strstr (symbol, "past") != NULL && strstr (symbol, "total") == NULL && strchr (symbol, '+') == NULL;
    }
}

/* ---- what it is filled with ---- */

/**
 * vn_input_role_get_fill:
 *
 * Returns: what inputs of this role are filled with where samples have nothing for them; %VN_FILL_NONE: they need samples
 */
VnFill
vn_input_role_get_fill (VnInputRole role)
{
  static const VnFill fills[VN_N_INPUT_ROLES] = {
    [VN_INPUT_MASK] = VN_FILL_ONES, [VN_INPUT_SEGMENTS] = VN_FILL_ZEROS, [VN_INPUT_POSITIONS] = VN_FILL_POSITIONS,
    [VN_INPUT_LENGTH] = VN_FILL_LENGTH, [VN_INPUT_RATE] = VN_FILL_RATE, [VN_INPUT_STATE] = VN_FILL_ZEROS,
    [VN_INPUT_PAST] = VN_FILL_ZEROS,
  };

  g_return_val_if_fail (role < VN_N_INPUT_ROLES, VN_FILL_NONE);

  return fills[role];
}

/**
 * vn_fill_get_value:
 * @i: number of the element
 * @row: size of the last axis
 * @length: of the sample
 * @rate: of sounds, in Hz; 0: not known
 *
 * Returns: what an input is filled with there; 0 where that is random
 */
gint64
vn_fill_get_value (VnFill fill,
                   gsize  i,
                   gsize  row,
                   gint64 length,
                   guint  rate)
{
  g_return_val_if_fail (fill < VN_N_FILLS, 0);

  switch (fill)
    {
    case VN_FILL_ONES:
      return 1;
    case VN_FILL_POSITIONS:
      return (gint64) (i % MAX (row, 1));
    case VN_FILL_LENGTH:
      return length;
    case VN_FILL_RATE:
      return rate > 0 ? rate : USUAL_RATE;
    default:
      return 0;
    }
}

/**
 * vn_input_role_get_title:
 *
 * Returns: (transfer none): a word or two, translated
 */
const char *
vn_input_role_get_title (VnInputRole role)
{
  static const char * const titles[VN_N_INPUT_ROLES] = {
    [VN_INPUT_NUMBERS] = N_("numbers"), [VN_INPUT_IMAGE] = N_("image"), [VN_INPUT_AUDIO] = N_("audio"),
    [VN_INPUT_TOKENS] = N_("tokens"), [VN_INPUT_MASK] = N_("mask"), [VN_INPUT_SEGMENTS] = N_("segments"),
    [VN_INPUT_POSITIONS] = N_("positions"), [VN_INPUT_LENGTH] = N_("length"), [VN_INPUT_RATE] = N_("sample rate"),
    [VN_INPUT_STATE] = N_("state"), [VN_INPUT_PAST] = N_("past state"),
  };

  g_return_val_if_fail (role < VN_N_INPUT_ROLES, NULL);

  return _(titles[role]);
}

/**
 * vn_fill_get_title:
 * @fill: not %VN_FILL_NONE
 *
 * Returns: (transfer none): a word or two, translated
 */
const char *
vn_fill_get_title (VnFill fill)
{
  static const char * const titles[VN_N_FILLS] = {
    [VN_FILL_ONES] = N_("ones"), [VN_FILL_ZEROS] = N_("zeros"), [VN_FILL_POSITIONS] = N_("0, 1, 2 …"),
    [VN_FILL_LENGTH] = N_("the length of the sample"), [VN_FILL_RATE] = N_("the sample rate"),
    [VN_FILL_RANDOM] = N_("random values"),
  };

  g_return_val_if_fail (fill > VN_FILL_NONE && fill < VN_N_FILLS, NULL);

  return _(titles[fill]);
}

/* ---- words ---- */

/**
 * vn_input_spec_describe:
 *
 * Returns: (transfer full): what samples must have: meaning, type and shape, such as “tokens, int64, 1×?, 0 to 30521”
 */
char *
vn_input_spec_describe (const VnInputSpec *self)
{
  g_autofree char *shape = NULL;
  VnInputRole role;

  g_return_val_if_fail (self != NULL, NULL);

  role = vn_input_role_find (self);
  shape = self->shape.rank == 0 ? g_strdup (_("one value")) : vn_shape_to_string (&self->shape, "×");
  if (self->limit > 0)
    return g_strdup_printf (_("%s, %s, %s, 0 to %lld"), vn_input_role_get_title (role), vn_dtype_get_name (self->dtype), shape,
                            (long long) self->limit - 1);
  return g_strdup_printf ("%s, %s, %s", vn_input_role_get_title (role), vn_dtype_get_name (self->dtype), shape);
}
