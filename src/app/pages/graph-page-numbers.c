/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of nodes from a file: read in the background, shown by the colours of the graph until another model is there. */
#include "graph-page-private.h"

#include "vn-compat.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-shown.h"
#include "vn-thread.h"

#define MOST_TITLE 28    /* characters of a file's name in the legend */

/* What is read, and for which network. */
typedef struct
{
  char          *path;
  VnModel       *model;
  VnNodeNumbers *numbers;
} Reading;

static void
graph_page_numbers_free_reading (gpointer data)
{
  Reading *self = data;

  g_free (self->path);
  vn_model_unref (self->model);
  g_clear_pointer (&self->numbers, vn_node_numbers_free);
  g_free (self);
}

static void
graph_page_numbers_thread (GTask        *task,
                           gpointer      source,
                           gpointer      task_data,
                           GCancellable *cancellable)
{
  Reading *self = task_data;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnNodeData) data = vn_node_data_load (self->path, &error);

  if (data != NULL)
    self->numbers = vn_node_numbers_new (data, self->model->graph);
  if (data != NULL && self->numbers->n_known == 0)
    g_set_error (&error, VN_ERROR, VN_ERROR_MISSING_DATA,
                 ngettext ("The %u name in this file is none of a node of this model.",
                           "None of the %u names in this file is one of a node of this model.",
                           self->numbers->unmatched->len), self->numbers->unmatched->len);
  if (error != NULL)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_boolean (task, TRUE);
}

static char *
graph_page_numbers_dup_title (const char *path)
{
  g_autofree char *name = g_filename_display_basename (path), *shown = vn_shown_dup (name), *start = NULL;

  if (g_utf8_strlen (shown, -1) <= MOST_TITLE)
    return g_steal_pointer (&shown);
  start = g_utf8_substring (shown, 0, MOST_TITLE - 1);
  return g_strconcat (start, "…", NULL);
}

static void
graph_page_numbers_read (GObject      *source,
                         GAsyncResult *result,
                         gpointer      data)
{
  g_autoptr(VnGraphPage) self = data;
  Reading *reading = g_task_get_task_data (G_TASK (result));
  g_autoptr(GError) error = NULL;
  g_autofree char *title = NULL;

  if (!g_task_propagate_boolean (G_TASK (result), &error))
    {
      if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) && self->document != NULL)
        vn_bench_report_error (VN_BENCH (self->document), _("The values could not be opened"), error);
      return;
    }
  g_clear_object (&self->numbers_reading);
  if (self->document == NULL || vn_bench_get_model (VN_BENCH (self->document)) != reading->model)
    return;
  g_clear_pointer (&self->numbers, vn_node_numbers_free);
  self->numbers = g_steal_pointer (&reading->numbers);
  self->numbers_model = reading->model;
  title = graph_page_numbers_dup_title (reading->path);
  vn_legend_set_file (self->legend, title, self->numbers->is_time ? VN_OVERLAY_AMOUNT : VN_OVERLAY_NUMBER);
  vn_graph_page_update_legend (self);
  if (vn_legend_get_choice (self->legend) == VN_CHOICE_FILE)
    vn_graph_page_update_overlay (self);
  else
    vn_graph_page_choose_overlay (self, vn_overlay_choice_get_info (VN_CHOICE_FILE)->id);
}

/* In the background, of the model that is open. */
void
vn_graph_page_read_numbers (VnGraphPage *self,
                            const char  *path)
{
  g_autoptr(GTask) task = NULL;
  Reading *reading;

  vn_graph_page_cancel_numbers (self);
  self->numbers_reading = g_cancellable_new ();
  reading = g_new0 (Reading, 1);
  *reading = (Reading) { g_strdup (path), vn_model_ref (vn_bench_get_model (VN_BENCH (self->document))), NULL };
  task = g_task_new (NULL, self->numbers_reading, graph_page_numbers_read, g_object_ref (self));
  g_task_set_source_tag (task, vn_graph_page_read_numbers);
  g_task_set_task_data (task, reading, graph_page_numbers_free_reading);
  vn_thread_run_task (task, graph_page_numbers_thread);
}

void
vn_graph_page_cancel_numbers (VnGraphPage *self)
{
  if (self->numbers_reading != NULL)
    g_cancellable_cancel (self->numbers_reading);
  g_clear_object (&self->numbers_reading);
}

/* They are about the nodes of the model that was open. */
void
vn_graph_page_check_numbers (VnGraphPage *self)
{
  if (self->numbers == NULL || vn_bench_get_model (VN_BENCH (self->document)) == self->numbers_model)
    return;
  vn_graph_page_drop_numbers (self);
  vn_legend_set_file (self->legend, NULL, VN_OVERLAY_NUMBER);
  if (vn_legend_get_choice (self->legend) == VN_CHOICE_NONE)
    vn_graph_page_restore_overlay (self);
}

/* Also when the page goes. */
void
vn_graph_page_drop_numbers (VnGraphPage *self)
{
  vn_graph_page_cancel_numbers (self);
  g_clear_pointer (&self->numbers, vn_node_numbers_free);
  self->numbers_model = NULL;
}

static void
graph_page_numbers_chosen (GFile    *file,
                           gpointer  data)
{
  VnGraphPage *self = data;

  if (g_file_peek_path (file) != NULL && self->document != NULL && vn_bench_get_model (VN_BENCH (self->document)) != NULL)
    vn_graph_page_read_numbers (self, g_file_peek_path (file));
}

void
vn_graph_page_ask_numbers (GSimpleAction *action,
                           GVariant      *parameter,
                           gpointer       data)
{
  vn_choose_file (GTK_WIDGET (data), VN_CHOOSE_NUMBERS, NULL, graph_page_numbers_chosen, g_object_ref (data), g_object_unref);
}
