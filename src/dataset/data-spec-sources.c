/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places of samples by input: NAME=PATH;NAME=PATH, taken apart and put together. */
#include "vn-dataset.h"

#include <string.h>

/* What is for @input in an item; %NULL: it is for another one. */
static const char *
data_spec_sources_match (const char *item,
                         const char *input)
{
  item += strspn (item, " ");
  return g_str_has_prefix (item, input) && item[strlen (input)] == '=' ? item + strlen (input) + 1 : NULL;
}

/**
 * vn_data_spec_dup_source:
 * @input: name of an input of the network
 *
 * Returns: (transfer full) (nullable): the path, or the word of a fill, that is given for @input alone; %NULL: none is
 */
char *
vn_data_spec_dup_source (const VnDataSpec *self,
                         const char       *input)
{
  g_auto(GStrv) items = NULL;

  g_return_val_if_fail (self != NULL && input != NULL, NULL);

  items = g_strsplit_set (self->path, ";\n", -1);
  for (guint i = 0; items[i] != NULL; i++)
    if (data_spec_sources_match (items[i], input) != NULL)
      return g_strdup (data_spec_sources_match (items[i], input));
  return NULL;
}

/**
 * vn_data_spec_set_source:
 * @inputs: (array zero-terminated): the names of all inputs of the network
 * @main: (nullable): that which the samples are for where they are not given by input
 * @input: one of @inputs
 * @source: (nullable): a path without “;”, or the word of a fill; %NULL: none, so that it is filled as usual
 *
 * Gives @input samples of its own; the others keep theirs.
 */
void
vn_data_spec_set_source (VnDataSpec         *self,
                         const char * const *inputs,
                         const char         *main,
                         const char         *input,
                         const char         *source)
{
  g_autoptr(GString) path = g_string_new (NULL);
  gboolean by_input = FALSE;

  g_return_if_fail (self != NULL && inputs != NULL && input != NULL);

  for (guint i = 0; inputs[i] != NULL; i++)
    {
      g_autofree char *own = vn_data_spec_dup_source (self, inputs[i]);

      by_input |= own != NULL;
    }
  for (guint i = 0; inputs[i] != NULL; i++)
    {
      g_autofree char *own = vn_data_spec_dup_source (self, inputs[i]);
      const char *place = g_str_equal (inputs[i], input) ? source
                        : own != NULL ? own
                        : !by_input && g_strcmp0 (inputs[i], main) == 0 && !vn_data_spec_is_random (self) ? self->path : NULL;

      if (place != NULL)
        g_string_append_printf (path, "%s%s=%s", path->len > 0 ? ";" : "", inputs[i], place);
    }
  g_free (self->path);
  self->path = g_string_free (g_steal_pointer (&path), FALSE);
}
