/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inspector of the model as a whole: what its file says of itself, its inputs and outputs, what others have written into
 * it. */
#include "inspector-sections.h"

#include "vn-body-run.h"
#include "vn-body.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-quantize.h"
#include "vn-rows.h"

#define MOST_ROWS    40
#define MOST_LETTERS 4000    /* of a text in the file */
#define MOST_SHOWN   48      /* of it in a row that is closed */

static void
inspector_model_add (GtkWidget  *list,
                     const char *title,
                     const char *value)
{
  if (value != NULL && *value != '\0')
    gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (title, value));
}

static void
inspector_model_add_count (GtkWidget  *list,
                           const char *title,
                           gint64      n)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, n);

  inspector_model_add (list, title, text);
}

/**
 * vn_inspector_model:
 *
 * Returns: sizes of the model, and how much of it is quantized already
 */
GtkWidget *
vn_inspector_model (VnModel *model)
{
  GtkWidget *list = vn_row_list_new ();
  guint n_quantized;
  g_autofree char *size = NULL, *weights = NULL;

  g_return_val_if_fail (model != NULL, NULL);

  n_quantized = vn_quantize_count_quantized (model);
  size = vn_format_bytes (model->file_size);
  weights = vn_format_bytes (vn_graph_weight_bytes (model->graph));
  inspector_model_add_count (list, _("Nodes"), model->graph->nodes->len);
  if (vn_graph_count_inner_nodes (model->graph) > 0)
    inspector_model_add_count (list, _("Nodes in bodies"), vn_graph_count_inner_nodes (model->graph));
  if (model->path != NULL)
    inspector_model_add (list, _("File size"), size);
  inspector_model_add (list, _("Weights"), weights);
  if (n_quantized > 0)
    {
      g_autofree char *quantized = g_strdup_printf (_("%u of %u"), n_quantized, model->graph->nodes->len);

      inspector_model_add (list, _("Already quantized"), quantized);
    }
  return vn_section_new (_("Model"), NULL, list);
}

/**
 * vn_inspector_file:
 *
 * Returns: versions, producer and the other files of the model
 */
GtkWidget *
vn_inspector_file (VnModel *model)
{
  GtkWidget *list = vn_row_list_new ();
  g_autofree char *producer = NULL;

  g_return_val_if_fail (model != NULL, NULL);

  for (guint i = 0; i < MIN (model->opsets->len, MOST_ROWS); i++)
    {
      const VnOpset *opset = &g_array_index (model->opsets, VnOpset, i);
      g_autofree char *title = *opset->domain != '\0' ? g_strdup_printf (_("Opset of %s"), opset->domain) : g_strdup (_("Opset"));

      inspector_model_add_count (list, title, opset->version);
    }
  inspector_model_add_count (list, _("IR version"), model->ir_version);
  if (model->producer_name != NULL)
    producer = g_strdup_printf ("%s %s", model->producer_name, model->producer_version != NULL ? model->producer_version : "");
  inspector_model_add (list, _("Producer"), producer != NULL ? g_strstrip (producer) : NULL);
  inspector_model_add (list, _("Domain"), model->domain);
  if (model->has_model_version && model->model_version != 0)
    inspector_model_add_count (list, _("Model version"), model->model_version);
  inspector_model_add (list, _("Graph"), model->graph->name);
  if (model->functions->len > 0)
    inspector_model_add_count (list, _("Functions"), model->functions->len);
  for (guint i = 0; i < MIN (model->files->len, MOST_ROWS); i++)
    inspector_model_add (list, _("External data"), g_ptr_array_index (model->files, i));
  vn_row_list_add_rest (list, model->files->len - MIN (model->files->len, MOST_ROWS));
  return vn_section_new (_("File"), NULL, list);
}

/* A text of the file, to be read and copied as a whole. */
static GtkWidget *
inspector_model_make_text (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1), *start = g_utf8_substring (valid, 0, MIN (g_utf8_strlen (valid, -1),
                                                                                                    MOST_LETTERS));
  GtkWidget *label = vn_label_new (start, "caption"), *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_box_append (GTK_BOX (card), label);
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "error-card");
  return card;
}

/**
 * vn_inspector_description:
 * @text: (nullable): what somebody wrote about a model, a graph or a node
 *
 * Returns: (nullable): that text; %NULL: there is none
 */
GtkWidget *
vn_inspector_description (const char *text)
{
  return text != NULL && *text != '\0' ? vn_section_new (_("Description"), NULL, inspector_model_make_text (text)) : NULL;
}

/**
 * vn_inspector_metadata:
 *
 * Returns: (nullable): names and values that tools have written into the file; %NULL: there are none
 */
GtkWidget *
vn_inspector_metadata (VnModel *model)
{
  GtkWidget *list;
  g_autofree char *note = NULL;

  g_return_val_if_fail (model != NULL, NULL);

  if (model->metadata->len < 2)
    return NULL;
  list = vn_row_list_new ();
  for (guint i = 0; i + 1 < MIN (model->metadata->len, 2 * MOST_ROWS); i += 2)
    {
      GtkWidget *row = adw_expander_row_new (), *text = inspector_model_make_text (g_ptr_array_index (model->metadata, i + 1));
      g_autofree char *line = g_strdelimit (g_utf8_make_valid (g_ptr_array_index (model->metadata, i + 1), -1), "\n\r\t", ' '),
                      *start = g_utf8_substring (line, 0, MIN (g_utf8_strlen (line, -1), MOST_SHOWN));

      adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), g_ptr_array_index (model->metadata, i));
      adw_expander_row_set_subtitle (ADW_EXPANDER_ROW (row), start);
      adw_expander_row_add_row (ADW_EXPANDER_ROW (row), text);
      gtk_list_box_append (GTK_LIST_BOX (list), row);
    }
  vn_row_list_add_rest (list, model->metadata->len / 2 - MIN (model->metadata->len / 2, MOST_ROWS));
  note = g_strdup_printf ("%u", model->metadata->len / 2);
  return vn_section_new (_("Metadata"), note, list);
}

/* The worst error inside, and what of the body was not compared. */
static char *
inspector_model_describe_body (VnRun        *run,
                               const VnNode *node,
                               const VnBody *body)
{
  const VnErrorRow *worst = run != NULL ? vn_run_get_worst_inside (run, node, body->attr) : NULL;
  const VnBodyErrors *found = run != NULL ? vn_run_find_body (run, node, body->attr) : NULL;
  g_autofree char *n = g_strdup_printf (ngettext ("%u node", "%u nodes", body->n_nodes), body->n_nodes);
  g_autofree char *db = NULL;

  if (worst == NULL && found != NULL && found->n_both == 0)
    return g_strdup_printf (_("%s · run by one of the models alone"), n);
  if (worst == NULL)
    return g_steal_pointer (&n);
  db = vn_metric_format (VN_METRIC_SQNR, worst->sqnr_db);
  return g_strdup_printf (_("%s · worst %s"), n, db);
}

/**
 * vn_inspector_bodies:
 * @run: (nullable): as it is shown
 *
 * Returns: (nullable): a row for each body that runs inside @node, which opens it; %NULL: there are none
 */
GtkWidget *
vn_inspector_bodies (const VnNode *node,
                     VnRun        *run)
{
  g_autoptr(GPtrArray) bodies = NULL;
  GtkWidget *list;

  g_return_val_if_fail (node != NULL, NULL);

  bodies = vn_node_list_bodies (node);
  if (bodies->len == 0)
    return NULL;
  list = vn_row_list_new ();
  for (guint i = 0; i < bodies->len; i++)
    {
      const VnBody *body = bodies->pdata[i];
      g_autofree char *text = inspector_model_describe_body (run, node, body);
      GtkWidget *row = vn_row_new (*body->attr != '\0' ? body->attr : _("Function"), text);

      adw_action_row_add_suffix (ADW_ACTION_ROW (row), gtk_image_new_from_icon_name ("go-next-symbolic"));
      gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
      gtk_actionable_set_action_name (GTK_ACTIONABLE (row), "win.open-body");
      gtk_actionable_set_action_target (GTK_ACTIONABLE (row), "s", body->attr);
      gtk_list_box_append (GTK_LIST_BOX (list), row);
    }
  return vn_section_new (_("Bodies"), NULL, list);
}
