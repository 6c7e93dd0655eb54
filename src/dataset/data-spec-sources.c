/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places of samples by input: NAME=PATH;NAME=PATH, taken apart and put together. */
#include "vn-dataset.h"

#include <string.h>

/* Whether something lies where an item with @part behind it says. */
static gboolean
data_spec_sources_lies (const char *item)
{
  const char *equals = strchr (item, '=');

  return equals != NULL && equals[1] != '\0' && g_file_test (equals + 1, G_FILE_TEST_EXISTS);
}

/* Up to which part an item goes on that begins with part @first: a path may hold what parts items. */
static guint
data_spec_sources_find_end (char **parts,
                            guint  first)
{
  g_autoptr(GString) joined = g_string_new (parts[first]);

  if (strchr (parts[first], '=') == NULL || data_spec_sources_lies (parts[first]))
    return first;
  for (guint i = first + 1; parts[i] != NULL; i++)
    {
      g_string_append_printf (joined, ";%s", parts[i]);
      if (data_spec_sources_lies (joined->str))
        return i;
    }
  return first;
}

/**
 * vn_data_spec_split:
 * @path: NAME=PATH;NAME=PATH, or on lines of their own
 *
 * A path that holds “;” counts as one if something lies there.
 *
 * Returns: (transfer full): each NAME=PATH
 */
char **
vn_data_spec_split (const char *path)
{
  g_autoptr(GPtrArray) items = g_ptr_array_new ();
  g_auto(GStrv) parts = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  parts = g_strsplit_set (path, ";\n", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    {
      const guint end = data_spec_sources_find_end (parts, i);
      GString *item = g_string_new (parts[i]);

      for (; i < end; i++)
        g_string_append_printf (item, ";%s", parts[i + 1]);
      g_ptr_array_add (items, g_string_free (item, FALSE));
    }
  g_ptr_array_add (items, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&items), FALSE);
}

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

  items = vn_data_spec_split (self->path);
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
 * @source: (nullable): a path, or the word of a fill; %NULL: none, so that it is filled as usual
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
