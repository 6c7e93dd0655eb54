/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where samples are, how they are prepared, and how many of them serve for what. */
#include "vn-dataset-private.h"

#include <string.h>

static void
data_spec_input_data_free (gpointer data)
{
  VnInputData *self = data;

  g_free (self->script);
  g_free (self);
}

static int
data_spec_compare_texts (gconstpointer a,
                         gconstpointer b)
{
  return strcmp (*(const char * const *) a, *(const char * const *) b);
}

/**
 * vn_data_spec_new:
 * @path: where the samples are, or %VN_DATA_RANDOM
 *
 * Returns: (transfer full): a specification of all samples, pixels as they are
 */
VnDataSpec *
vn_data_spec_new (const char *path)
{
  VnDataSpec *self;

  g_return_val_if_fail (path != NULL, NULL);

  self = g_new0 (VnDataSpec, 1);
  self->path = g_strdup (path);
  self->held_out = VN_HELD_OUT_USUAL;
  vn_preprocess_init (&self->preprocess);
  return self;
}

VnDataSpec *
vn_data_spec_copy (const VnDataSpec *self)
{
  VnDataSpec *copy;
  GHashTableIter iter;
  gpointer name, data;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_new (VnDataSpec, 1);
  *copy = *self;
  copy->path = g_strdup (self->path);
  copy->script = g_strdup (self->script);
  copy->python = g_strdup (self->python);
  copy->labels = g_strdup (self->labels);
  copy->tokenizer = g_strdup (self->tokenizer);
  copy->inputs = NULL;
  if (self->inputs == NULL)
    return copy;
  g_hash_table_iter_init (&iter, self->inputs);
  while (g_hash_table_iter_next (&iter, &name, &data))
    {
      const VnInputData *input = data;

      vn_data_spec_set_input (copy, name, &input->preprocess, input->script);
      vn_data_spec_set_raw_type (copy, name, input->raw_type);
    }
  return copy;
}

void
vn_data_spec_free (VnDataSpec *self)
{
  if (self == NULL)
    return;
  g_free (self->path);
  g_free (self->script);
  g_free (self->python);
  g_free (self->labels);
  g_free (self->tokenizer);
  g_clear_pointer (&self->inputs, g_hash_table_unref);
  g_free (self);
}

/**
 * vn_data_spec_is_random:
 * @self: (nullable): no samples are no random ones
 *
 * Returns: whether values are made up instead of read from files
 */
gboolean
vn_data_spec_is_random (const VnDataSpec *self)
{
  return self != NULL && g_str_equal (self->path, VN_DATA_RANDOM);
}

/**
 * vn_data_spec_count_held_out:
 * @n: how many samples there are
 *
 * The one rule for how many samples calibration leaves to measure the error on, wherever it is not said: a fifth, at
 * most %VN_MOST_MEASURED.
 *
 * Returns: how many are held out; 0: none
 */
guint
vn_data_spec_count_held_out (const VnDataSpec *self,
                             guint             n)
{
  g_return_val_if_fail (self != NULL, 0);

  if (self->held_out == VN_HELD_OUT_USUAL)
    return MIN (n / 5, VN_MOST_MEASURED);
  /* Of fewer than twice as many none can be spared. */
  return n / 2 >= (guint) self->held_out ? (guint) self->held_out : 0;
}

/**
 * vn_data_spec_count_measured:
 * @n: how many samples there are
 *
 * Returns: on how many the error is measured: those held out, or if there are none, as many of those calibrated on as were
 *   to be held out
 */
guint
vn_data_spec_count_measured (const VnDataSpec *self,
                             guint             n)
{
  guint held;

  g_return_val_if_fail (self != NULL, 0);

  held = vn_data_spec_count_held_out (self, n);
  return held > 0 ? held : MIN (n, self->held_out > 0 ? (guint) self->held_out : VN_MOST_MEASURED);
}

/**
 * vn_data_spec_set_input:
 * @input: name of an input of the network
 * @preprocess: its settings
 * @script: (nullable): its FILE.py:FUNCTION, instead of the settings
 *
 * Gives one input settings of its own; they replace those of the whole.
 */
void
vn_data_spec_set_input (VnDataSpec         *self,
                        const char         *input,
                        const VnPreprocess *preprocess,
                        const char         *script)
{
  VnInputData *data;

  g_return_if_fail (self != NULL);

  data = g_new (VnInputData, 1);
  *data = (VnInputData) { *preprocess, g_strdup (script), VN_DTYPE_UNDEFINED };
  if (self->inputs == NULL)
    self->inputs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, data_spec_input_data_free);
  g_hash_table_replace (self->inputs, g_strdup (input), data);
}

const VnPreprocess *
vn_data_spec_get_preprocess (const VnDataSpec *self,
                             const char       *input)
{
  const VnInputData *data = self->inputs != NULL ? g_hash_table_lookup (self->inputs, input) : NULL;

  return data != NULL ? &data->preprocess : &self->preprocess;
}

/* NULL: the settings prepare @input. */
const char *
vn_data_spec_get_script (const VnDataSpec *self,
                         const char       *input)
{
  const VnInputData *data = self->inputs != NULL ? g_hash_table_lookup (self->inputs, input) : NULL;

  return data != NULL ? data->script : self->script;
}

/**
 * vn_data_spec_set_raw_type:
 * @input: one that vn_data_spec_set_input() was called for
 * @raw_type: element type of its .raw and .bin files; %VN_DTYPE_UNDEFINED: that of the whole
 */
void
vn_data_spec_set_raw_type (VnDataSpec *self,
                           const char *input,
                           VnDType     raw_type)
{
  VnInputData *data;

  g_return_if_fail (self != NULL);

  data = self->inputs != NULL ? g_hash_table_lookup (self->inputs, input) : NULL;
  g_return_if_fail (data != NULL);

  data->raw_type = raw_type;
}

VnDType
vn_data_spec_get_raw_type (const VnDataSpec *self,
                           const char       *input)
{
  const VnInputData *data = self->inputs != NULL ? g_hash_table_lookup (self->inputs, input) : NULL;

  return data != NULL && data->raw_type != VN_DTYPE_UNDEFINED ? data->raw_type : self->raw_type;
}

/**
 * vn_data_spec_list_scripts:
 *
 * Returns: (transfer full): each FILE.py:FUNCTION that prepares an input, once, sorted
 */
char **
vn_data_spec_list_scripts (const VnDataSpec *self)
{
  g_autoptr(GPtrArray) scripts = NULL;
  GHashTableIter iter;
  gpointer data;

  g_return_val_if_fail (self != NULL, NULL);

  scripts = g_ptr_array_new ();
  if (self->script != NULL)
    g_ptr_array_add (scripts, g_strdup (self->script));
  if (self->inputs != NULL)
    g_hash_table_iter_init (&iter, self->inputs);
  while (self->inputs != NULL && g_hash_table_iter_next (&iter, NULL, &data))
    {
      const char *script = ((const VnInputData *) data)->script;

      if (script != NULL && !g_ptr_array_find_with_equal_func (scripts, script, g_str_equal, NULL))
        g_ptr_array_add (scripts, g_strdup (script));
    }
  g_ptr_array_sort (scripts, data_spec_compare_texts);
  g_ptr_array_add (scripts, NULL);
  return (char **) g_ptr_array_steal (scripts, NULL);
}

/**
 * vn_data_spec_has_script:
 *
 * Returns: whether somebody's own Python prepares any of the inputs
 */
gboolean
vn_data_spec_has_script (const VnDataSpec *self)
{
  g_auto(GStrv) scripts = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  scripts = vn_data_spec_list_scripts (self);
  return scripts[0] != NULL;
}

/**
 * vn_data_spec_may_run:
 *
 * Returns: whether opening the samples runs no Python but what the user has named or allowed
 */
gboolean
vn_data_spec_may_run (const VnDataSpec *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return !self->foreign || !vn_data_spec_has_script (self);
}

/**
 * vn_data_spec_trust:
 *
 * The user has been asked, or has named the scripts: they may run.
 */
void
vn_data_spec_trust (VnDataSpec *self)
{
  g_return_if_fail (self != NULL);

  self->foreign = FALSE;
}

/**
 * vn_data_spec_trust_known:
 * @known: FILE.py:FUNCTION that the user has named
 *
 * Trusts @self if it has no other scripts than these.
 *
 * Returns: vn_data_spec_may_run()
 */
gboolean
vn_data_spec_trust_known (VnDataSpec         *self,
                          const char * const *known)
{
  g_auto(GStrv) scripts = NULL;
  gboolean all = TRUE;

  g_return_val_if_fail (self != NULL && known != NULL, FALSE);

  scripts = vn_data_spec_list_scripts (self);
  for (guint i = 0; all && scripts[i] != NULL; i++)
    {
      g_autofree char *script = g_canonicalize_filename (scripts[i], NULL);

      all = FALSE;
      for (guint k = 0; !all && known[k] != NULL; k++)
        {
          g_autofree char *other = g_canonicalize_filename (known[k], NULL);

          all = g_str_equal (script, other);
        }
    }
  self->foreign &= !all;
  return vn_data_spec_may_run (self);
}
