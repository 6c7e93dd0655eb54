/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "onnx-backend-lists.h"

#include "vn-error.h"
#include "vn-op.h"

#include <stdio.h>
#include <string.h>

/* Without comments and blanks around. */
static char **
read_lines (const char  *path,
            GError     **error)
{
  g_autofree char *text = NULL;
  char **lines;

  if (!g_file_get_contents (path, &text, NULL, error))
    return NULL;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *comment = strchr (lines[i], '#');

      if (comment != NULL)
        *comment = '\0';
      g_strstrip (lines[i]);
    }
  return lines;
}

static gboolean
read_list (Lists       *self,
           const char  *path,
           GError     **error)
{
  g_auto(GStrv) lines = read_lines (path, error);

  if (lines == NULL)
    return FALSE;
  self->operators = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->globs = g_ptr_array_new_with_free_func ((GDestroyNotify) g_pattern_spec_free);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      if (*lines[i] == '\0')
        continue;
      g_hash_table_add (self->operators, g_strdup (lines[i]));
      g_ptr_array_add (self->globs, g_pattern_spec_new (lines[i]));
    }
  return TRUE;
}

/* Cuts "[FIRST-LAST]" off the end of @name: the opsets an entry is for. Either number may be missing. */
static gboolean
take_opsets (char   *name,
             gint64  opset)
{
  char *bracket = strchr (name, '['), *dash = bracket != NULL ? strchr (bracket, '-') : NULL;
  guint64 first, last;

  if (bracket == NULL)
    return TRUE;
  first = g_ascii_strtoull (bracket[1] == '-' ? "0" : bracket + 1, NULL, 10);
  last = g_ascii_strtoull (dash != NULL ? dash + 1 : "0", NULL, 10);
  *bracket = '\0';
  g_strchomp (name);
  return (guint64) opset >= first && (last == 0 || (guint64) opset <= last);
}

/* "opsets: 17 22": the releases of the cases that the list is complete for. */
static gboolean
names_opset (const char *numbers,
             gint64      opset)
{
  g_auto(GStrv) parts = g_strsplit_set (numbers, " ", -1);
  gboolean is_named = FALSE;

  for (guint i = 0; parts[i] != NULL; i++)
    is_named |= *parts[i] != '\0' && g_ascii_strtoll (parts[i], NULL, 10) == opset;
  return is_named;
}

/* Lines "case: reason" or "case [FIRST-LAST]: reason"; a reason must be there, and no case twice. */
static gboolean
read_expected (Lists       *self,
               const char  *path,
               gint64       opset,
               GError     **error)
{
  g_auto(GStrv) lines = read_lines (path, error);

  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    {
      g_auto(GStrv) parts = g_strsplit (lines[i], ":", 2);

      if (*lines[i] == '\0')
        continue;
      if (parts[1] == NULL || *g_strstrip (parts[1]) == '\0' || g_hash_table_contains (self->expected, parts[0]))
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, "%s:%u: “%s” has no reason or is listed twice", path, i + 1,
                       lines[i]);
          return FALSE;
        }
      if (g_str_equal (parts[0], "opsets"))
        self->is_complete = names_opset (parts[1], opset);
      else if (take_opsets (parts[0], opset))
        g_hash_table_insert (self->expected, g_strdup (parts[0]), g_strdup (parts[1]));
    }
  return lines != NULL;
}

/* Columns separated by tabs: the case, and PASS or something else. */
static gboolean
read_reference (Lists       *self,
                const char  *path,
                GError     **error)
{
  g_auto(GStrv) lines = read_lines (path, error);

  self->reference = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    {
      g_auto(GStrv) parts = g_strsplit (lines[i], "\t", 3);

      if (g_strv_length (parts) > 1 && g_str_equal (parts[1], "PASS"))
        g_hash_table_add (self->reference, g_strdup (parts[0]));
    }
  return lines != NULL;
}

/**
 * lists_read:
 * @list: (nullable): a file of operators and globs for names of cases, or %NULL to run all
 * @expected: (nullable): a file of cases that may fail
 * @opset: the newest one that the cases import, which tells their release
 * @reference: (nullable): a table of what a reference does
 *
 * @self must be cleared in either case.
 *
 * Returns: whether the files could be read
 */
gboolean
lists_read (Lists       *self,
            const char  *list,
            const char  *expected,
            gint64       opset,
            const char  *reference,
            GError     **error)
{
  self->is_complete = TRUE;
  self->expected = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->visited = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return (list == NULL || read_list (self, list, error)) &&
         (expected == NULL || read_expected (self, expected, opset, error)) &&
         (reference == NULL || read_reference (self, reference, error));
}

/**
 * lists_select:
 * @model: (nullable): of the case, as far as it could be read
 *
 * Returns: whether the case is one to run
 */
gboolean
lists_select (const Lists   *self,
              const VnModel *model,
              const char    *name)
{
  if (self->operators == NULL)
    return TRUE;
  for (guint i = 0; i < self->globs->len; i++)
    if (g_pattern_spec_match_string (g_ptr_array_index (self->globs, i), name))
      return TRUE;
  for (guint i = 0; model != NULL && i < model->graph->nodes->len; i++)
    if (g_hash_table_contains (self->operators, ((const VnNode *) g_ptr_array_index (model->graph->nodes, i))->op_type))
      return TRUE;
  return FALSE;
}

/* Returns: (nullable): why the case may fail */
const char *
lists_get_reason (const Lists *self,
                  const char  *name)
{
  return g_hash_table_lookup (self->expected, name);
}

/* Decides about a case that was run, and keeps in mind that it was. */
Verdict
lists_judge (Lists      *self,
             const char *name,
             gboolean    failed)
{
  gboolean listed = lists_get_reason (self, name) != NULL;
  gboolean wanted = self->reference != NULL && g_hash_table_contains (self->reference, name);

  g_hash_table_add (self->visited, g_strdup (name));
  self->n_like_reference += wanted && !failed;
  if (!failed)
    return listed && self->is_complete ? PASSES_THOUGH_LISTED : PASSES;
  if (!listed)
    return FAILS;
  return wanted ? FAILS_UNLIKE_REFERENCE : FAILS_AS_LISTED;
}

/**
 * lists_finish:
 *
 * Prints which cases were named but not seen; only when all were run, of a release that the list is complete for, as else
 * nothing follows from that.
 *
 * Returns: how many
 */
guint
lists_finish (const Lists *self)
{
  GHashTable *named[] = { self->expected, self->reference };
  guint n_missing = 0;

  for (guint i = 0; self->operators == NULL && i < G_N_ELEMENTS (named); i++)
    {
      GHashTableIter iter;
      gpointer name;

      if (named[i] == NULL || (i == 0 && !self->is_complete))
        continue;
      g_hash_table_iter_init (&iter, named[i]);
      while (g_hash_table_iter_next (&iter, &name, NULL))
        if (!g_hash_table_contains (self->visited, name))
          {
            printf ("FAIL %s: %s, but there is no such case\n", (char *) name, i == 0 ? "listed" : "in the reference");
            n_missing++;
          }
    }
  if (self->reference != NULL)
    printf ("%u of the %u cases that the reference passes\n", self->n_like_reference, g_hash_table_size (self->reference));
  return n_missing;
}

void
lists_clear (Lists *self)
{
  g_clear_pointer (&self->operators, g_hash_table_unref);
  g_clear_pointer (&self->globs, g_ptr_array_unref);
  g_clear_pointer (&self->expected, g_hash_table_unref);
  g_clear_pointer (&self->reference, g_hash_table_unref);
  g_clear_pointer (&self->visited, g_hash_table_unref);
}

/* ---- what can be run at all ---- */

static char *
node_lacks (const VnNode *node)
{
  const VnOp *op = vn_op_lookup_node (node, NULL);
  const VnValue *data = vn_node_get_input (node, 0);
  VnDType dtype;

  if (op == NULL)
    return g_strdup_printf ("no kernel for %s of opset %" G_GINT64_FORMAT, node->op_type,
                            vn_model_get_opset (node->graph->model, node->domain));
  if (data == NULL)
    return NULL;
  dtype = data->initializer != NULL ? data->initializer->dtype : data->type.dtype;
  if (!vn_op_takes (op, dtype))
    return g_strdup_printf ("%s does not take %s", node->op_type, vn_dtype_get_name (dtype));
  return NULL;
}

static char *
graph_lacks (const VnGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      char *text = node_lacks (node);

      for (guint a = 0; a < node->attrs->len && text == NULL; a++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, a);

          text = attr->graph != NULL ? graph_lacks (attr->graph) : NULL;
        }
      if (text != NULL)
        return text;
    }
  return NULL;
}

/* Returns: (transfer full) (nullable): why the model cannot be run at all. */
char *
lists_model_lacks (const VnModel *model)
{
  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);

      if (value->type.kind != VN_TYPE_TENSOR && value->type.kind != VN_TYPE_SEQUENCE && value->type.kind != VN_TYPE_OPTIONAL)
        return g_strdup_printf ("input “%s” is no tensor", value->name);
    }
  return graph_lacks (model->graph);
}
