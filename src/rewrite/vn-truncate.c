/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the nodes behind given values, which truncation leaves in float. */
#include "vn-truncate.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

/* Names that are so much alike are offered. */
#define MAX_DISTANCE 4
#define MAX_NAMES 3
#define MAX_LENGTH 256

typedef struct
{
  const VnModel *model;
  GHashTable    *cut;        /* set of VnValue */
  GHashTable    *tail;       /* set of VnNode */
  GHashTable    *varying;    /* set of VnNode: what depends on inputs, but by their sizes */
  GHashTable    *captured;   /* VnNode -> GPtrArray of VnValue: what the graphs inside take */
} Truncation;

/* ---- names ---- */

/* How many letters differ, are missing or too many; a large number if more than a few. */
static guint
truncate_count_differences (const char *a,
                            const char *b)
{
  gsize n = strlen (b);
  guint row[MAX_LENGTH + 1];

  if (n > MAX_LENGTH || strlen (a) > MAX_LENGTH)
    return G_MAXUINT;
  for (gsize k = 0; k <= n; k++)
    row[k] = (guint) k;
  for (gsize i = 0; a[i] != '\0'; i++)
    {
      guint diagonal = row[0], least = (guint) i + 1;

      row[0] = (guint) i + 1;
      for (gsize k = 0; k < n; k++)
        {
          guint best = MIN (diagonal + (a[i] != b[k]), MIN (row[k], row[k + 1]) + 1);

          diagonal = row[k + 1];
          row[k + 1] = best;
          least = MIN (least, best);
        }
      if (least > MAX_DISTANCE)
        return G_MAXUINT;
    }
  return row[n];
}

static char *
truncate_suggest (const VnGraph *graph,
                  const char    *name)
{
  g_autoptr(GPtrArray) near_names = g_ptr_array_new ();
  g_autofree char *list = NULL;

  for (guint distance = 1; distance <= MAX_DISTANCE; distance++)
    for (guint i = 0; i < graph->values->len && near_names->len < MAX_NAMES; i++)
      {
        const VnValue *value = g_ptr_array_index (graph->values, i);

        if (value->producer != NULL && truncate_count_differences (value->name, name) == distance)
          g_ptr_array_add (near_names, value->name);
      }
  if (near_names->len == 0)
    return g_strdup (_("“inspect --tensors” lists the names"));
  g_ptr_array_add (near_names, NULL);
  list = g_strjoinv (", ", (char **) near_names->pdata);
  return g_strdup_printf (_("did you mean one of these: %s?"), list);
}

static gboolean
truncate_find_cut (Truncation          *self,
                   const char * const  *names,
                   GError             **error)
{
  for (guint i = 0; names[i] != NULL; i++)
    {
      VnValue *value = g_hash_table_lookup (self->model->graph->by_name, names[i]);
      g_autofree char *hint = value == NULL ? truncate_suggest (self->model->graph, names[i]) : NULL;

      if (value != NULL && value->producer != NULL)
        {
          g_hash_table_add (self->cut, value);
          continue;
        }
      if (value != NULL)
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                     _("The model cannot be truncated at “%s”: it is an input or a weight; specify the output of a node"),
                     names[i]);
      else
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                     _("The model cannot be truncated at “%s”: no tensor has that name; %s"), names[i], hint);
      return FALSE;
    }
  return TRUE;
}

/* ---- what lies behind ---- */

static void
truncate_collect_captured (Truncation *self)
{
  const VnGraph *graph = self->model->graph;

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);

      if (vn_node_has_graphs (node))
        g_hash_table_insert (self->captured, node, vn_node_list_captured (node));
    }
}

/* The node of the outermost graph that holds @node, or is it. */
static VnNode *
truncate_find_outer (VnNode *node)
{
  while (node != NULL && node->graph->parent != NULL)
    node = node->graph->parent_node;
  return node;
}

/* Adds the nodes that depend on @start. */
static void
truncate_follow (GHashTable *nodes,
                 VnValue    *start,
                 gboolean    through_sizes)
{
  g_autoptr(GPtrArray) stack = g_ptr_array_new ();

  g_ptr_array_add (stack, start);
  while (stack->len > 0)
    {
      const VnValue *value = g_ptr_array_steal_index_fast (stack, stack->len - 1);

      for (guint i = 0; i < value->uses->len; i++)
        {
          VnNode *node = truncate_find_outer (g_array_index (value->uses, VnUse, i).node);

          if (node == NULL || (!through_sizes && (vn_node_is (node, "Shape") || vn_node_is (node, "Size"))) ||
              !g_hash_table_add (nodes, node))
            continue;
          for (guint k = 0; k < node->outputs->len; k++)
            if (vn_node_get_output (node, k) != NULL)
              g_ptr_array_add (stack, vn_node_get_output (node, k));
        }
    }
}

/* ---- whether that divides the network ---- */

static gboolean
truncate_check_input (Truncation    *self,
                      const VnNode  *node,
                      const VnValue *value,
                      GError       **error)
{
  g_autofree char *label = NULL;

  if (value == NULL || value->graph != self->model->graph || g_hash_table_contains (self->cut, value) ||
      value->producer == NULL || g_hash_table_contains (self->tail, value->producer) ||
      !g_hash_table_contains (self->varying, value->producer))
    return TRUE;
  label = vn_node_dup_label (node);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("Truncating the model failed: the named tensors do not split it in two. “%s” bypasses them into node "
                 "“%s”; name it as well, or tensors further upstream"), value->name, label);
  return FALSE;
}

static gboolean
truncate_check_division (Truncation  *self,
                         GPtrArray   *nodes,
                         GError     **error)
{
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);
      GPtrArray *captured = g_hash_table_lookup (self->captured, node);

      for (guint k = 0; k < node->inputs->len; k++)
        if (!truncate_check_input (self, node, vn_node_get_input (node, k), error))
          return FALSE;
      for (guint k = 0; captured != NULL && k < captured->len; k++)
        if (!truncate_check_input (self, node, g_ptr_array_index (captured, k), error))
          return FALSE;
    }
  return TRUE;
}

/* A value at the cut that another one leads to is no end of the head. */
static gboolean
truncate_check_order (Truncation  *self,
                      GError     **error)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, self->cut);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      const VnValue *value = key;

      if (!g_hash_table_contains (self->tail, value->producer))
        continue;
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("Truncating the model failed: “%s” is downstream of another named tensor; remove one of them"),
                   value->name);
      return FALSE;
    }
  return TRUE;
}

/**
 * vn_model_truncate:
 * @names: of results of nodes, in the outermost graph; %NULL-terminated
 *
 * Finds what lies behind the values called @names: all nodes that depend on one of them. They must divide the network:
 * nothing else that is computed from the inputs may lead there, except by its sizes; inputs themselves may.
 *
 * Returns: (transfer container) (element-type VnNode) (nullable): those nodes, in the order of the file; empty if the
 *   values are outputs and nothing else. %NULL with %VN_ERROR_SETTING that names the value that leads past the cut, or
 *   offers names that are like one that does not exist
 */
GPtrArray *
vn_model_truncate (const VnModel       *model,
                   const char * const  *names,
                   GError             **error)
{
  g_autoptr(GHashTable) cut = g_hash_table_new (NULL, NULL);
  g_autoptr(GHashTable) tail = g_hash_table_new (NULL, NULL);
  g_autoptr(GHashTable) varying = g_hash_table_new (NULL, NULL);
  g_autoptr(GHashTable) captured = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_ptr_array_unref);
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  Truncation self;
  GHashTableIter iter;
  gpointer key;

  g_return_val_if_fail (model != NULL, NULL);

  self = (Truncation) { model, cut, tail, varying, captured };
  if (!truncate_find_cut (&self, names, error))
    return NULL;
  truncate_collect_captured (&self);
  g_hash_table_iter_init (&iter, cut);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    truncate_follow (tail, key, TRUE);
  for (guint i = 0; i < model->graph->inputs->len; i++)
    if (((const VnValue *) g_ptr_array_index (model->graph->inputs, i))->initializer == NULL)
      truncate_follow (varying, g_ptr_array_index (model->graph->inputs, i), FALSE);
  for (guint i = 0; i < model->graph->nodes->len; i++)
    if (g_hash_table_contains (tail, g_ptr_array_index (model->graph->nodes, i)))
      g_ptr_array_add (nodes, g_ptr_array_index (model->graph->nodes, i));
  return truncate_check_order (&self, error) && truncate_check_division (&self, nodes, error) ? g_steal_pointer (&nodes) : NULL;
}
