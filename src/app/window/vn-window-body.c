/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bodies of nodes, each in a window of its own: it is a network like others, which shows what a run of the model around it found
 * inside, and knows the way back. */
#include "vn-window-private.h"

#include "vn-body-run.h"
#include "vn-body.h"
#include "vn-i18n.h"
#include "vn-thread.h"

#define FIRST_BODY "*"

/**
 * Opening: a body on its way.
 * @model, @node, @attr: whose
 * @run: (nullable): of @model
 * @body: (nullable): %NULL: it is to be opened
 * @inside: (nullable): what @run found in it
 */
typedef struct
{
  VnModel      *model;
  const VnNode *node;
  char         *attr;
  VnRun        *run;
  VnModel      *body;
  VnRun        *inside;
} Opening;

static void
window_body_free_opening (gpointer data)
{
  Opening *self = data;

  vn_model_unref (self->model);
  g_free (self->attr);
  g_clear_pointer (&self->run, vn_run_unref);
  g_clear_pointer (&self->body, vn_model_unref);
  g_clear_pointer (&self->inside, vn_run_unref);
  g_free (self);
}

static void
window_body_work (GTask        *task,
                  gpointer      source,
                  gpointer      data,
                  GCancellable *cancellable)
{
  Opening *opening = data;
  GError *error = NULL;

  if (opening->body == NULL)
    opening->body = vn_model_new_for_body (opening->node, opening->attr, &error);
  if (opening->body != NULL && opening->run != NULL)
    opening->inside = vn_run_new_inside (opening->run, opening->node, opening->attr, opening->body);
  if (opening->body != NULL)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
window_body_begin (VnWindow            *self,
                   Opening             *opening,
                   VnWindow            *around,
                   GAsyncReadyCallback  callback)
{
  g_autoptr(GTask) task = g_task_new (self, NULL, callback, NULL);
  VnRun *run = vn_bench_get_shown (VN_BENCH (around->document));

  opening->run = run != NULL ? vn_run_ref (run) : NULL;
  g_task_set_task_data (task, opening, window_body_free_opening);
  vn_thread_run_task (task, window_body_work);
}

/* ---- what the run around it finds ---- */

static void
window_body_take_inside (GObject      *source,
                         GAsyncResult *result,
                         gpointer      data)
{
  VnWindow *self = VN_WINDOW (source);
  const Opening *opening = g_task_get_task_data (G_TASK (result));

  if (self->document != NULL && opening->inside != NULL && opening->body == vn_bench_get_model (VN_BENCH (self->document)))
    vn_bench_show_around (VN_BENCH (self->document), opening->inside);
}

static gboolean
window_body_is_inside (VnWindow *self)
{
  return self->around != NULL && self->around->document != NULL &&
         vn_bench_get_model (VN_BENCH (self->around->document)) == self->around_model;
}

static void
window_body_run_changed (VnWindow *self)
{
  VnModel *body = self->document != NULL ? vn_bench_get_model (VN_BENCH (self->document)) : NULL;
  Opening *opening;

  if (body == NULL || !window_body_is_inside (self) || vn_bench_get_shown (VN_BENCH (self->around->document)) == NULL)
    return;
  opening = g_new0 (Opening, 1);
  *opening = (Opening) { .model = vn_model_ref (self->around_model), .node = self->around_node,
                         .attr = g_strdup (self->around_attr), .body = vn_model_ref (body) };
  window_body_begin (self, opening, self->around, window_body_take_inside);
}

/* ---- the way back ---- */

static void window_body_around_closed (gpointer  data,
                                       GObject  *gone);

/* Forgets whose body is shown. */
static void
window_body_leave (VnWindow *self)
{
  if (self->around != NULL)
    g_object_weak_unref (G_OBJECT (self->around), window_body_around_closed, self);
  self->around = NULL;
  self->around_node = NULL;
  g_clear_pointer (&self->around_model, vn_model_unref);
  g_clear_pointer (&self->around_body, vn_model_unref);
  g_clear_pointer (&self->around_attr, g_free);
}

static void
window_body_update (VnWindow *self)
{
  const VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  GtkBitset *selection = vn_document_get_selection (self->document);
  const guint i = gtk_bitset_get_size (selection) == 1 ? gtk_bitset_get_minimum (selection) : G_MAXUINT;

  if (self->around != NULL && model != self->around_body)   /* another one was opened here */
    window_body_leave (self);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.open-body", model != NULL && i < model->graph->nodes->len &&
                                 vn_node_has_bodies (g_ptr_array_index (model->graph->nodes, i)));
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.show-around", self->around != NULL);
  gtk_widget_set_visible (self->around_button, self->around != NULL);
  gtk_label_set_label (self->around_label, self->around != NULL ? model->graph->name : "");
}

static void
window_body_around_closed (gpointer  data,
                           GObject  *gone)
{
  VnWindow *self = data;

  self->around = NULL;
  if (self->document != NULL)
    window_body_update (self);
}

static void
window_body_enter (VnWindow      *self,
                   VnWindow      *around,
                   const Opening *opening)
{
  self->around = around;
  self->around_model = vn_model_ref (opening->model);
  self->around_body = vn_model_ref (opening->body);
  self->around_node = opening->node;
  self->around_attr = g_strdup (opening->attr);
  g_object_weak_ref (G_OBJECT (around), window_body_around_closed, self);
  g_signal_connect_object (around->document, "changed::run", G_CALLBACK (window_body_run_changed), self, G_CONNECT_SWAPPED);
  window_body_update (self);
}

static void
window_body_show_around (GtkWidget  *widget,
                         const char *name,
                         GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  if (self->around == NULL)
    return;
  if (window_body_is_inside (self))
    gtk_widget_activate_action (GTK_WIDGET (self->around), "win.select-node", "u", self->around_node->index);
  gtk_window_present (GTK_WINDOW (self->around));
}

/* ---- opening ---- */

/* One that shows the body already. */
static VnWindow *
window_body_find (VnWindow     *self,
                  const VnNode *node,
                  const char   *attr)
{
  for (GList *at = gtk_application_get_windows (gtk_window_get_application (GTK_WINDOW (self))); at != NULL; at = at->next)
    if (VN_IS_WINDOW (at->data) && VN_WINDOW (at->data)->around == self && VN_WINDOW (at->data)->around_node == node &&
        g_str_equal (VN_WINDOW (at->data)->around_attr, attr))
      return at->data;
  return NULL;
}

static void
window_body_opened (GObject      *source,
                    GAsyncResult *result,
                    gpointer      data)
{
  VnWindow *self = VN_WINDOW (source), *other;
  const Opening *opening = g_task_get_task_data (G_TASK (result));
  GtkApplication *app = gtk_window_get_application (GTK_WINDOW (self));
  g_autoptr(GError) error = NULL;

  if (app == NULL)     /* the window was closed meanwhile */
    return;
  if (!g_task_propagate_boolean (G_TASK (result), &error))
    {
      vn_bench_report_error (VN_BENCH (self->document), _("The body could not be opened"), error);
      return;
    }
  other = vn_window_new (app);
  vn_bench_set_model (VN_BENCH (other->document), opening->body);
  window_body_enter (other, self, opening);
  if (opening->inside != NULL)
    vn_bench_show_around (VN_BENCH (other->document), opening->inside);
  gtk_window_present (GTK_WINDOW (other));
}

static void
window_body_open (VnWindow     *self,
                  guint         index,
                  const char   *attr)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  const VnNode *node = model != NULL && index < model->graph->nodes->len ? g_ptr_array_index (model->graph->nodes, index) : NULL;
  g_autoptr(GPtrArray) bodies = node != NULL ? vn_node_list_bodies (node) : NULL;
  VnWindow *other;
  Opening *opening;

  if (bodies == NULL || bodies->len == 0)
    return;
  if (g_str_equal (attr, FIRST_BODY))
    attr = ((const VnBody *) bodies->pdata[0])->attr;
  other = window_body_find (self, node, attr);
  if (other != NULL)
    {
      gtk_window_present (GTK_WINDOW (other));
      return;
    }
  opening = g_new0 (Opening, 1);
  *opening = (Opening) { .model = vn_model_ref (model), .node = node, .attr = g_strdup (attr) };
  window_body_begin (self, opening, self, window_body_opened);
}

static void
window_body_action_open (GtkWidget  *widget,
                         const char *name,
                         GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);
  GtkBitset *selection = vn_document_get_selection (self->document);

  if (gtk_bitset_get_size (selection) == 1)
    window_body_open (self, gtk_bitset_get_minimum (selection), g_variant_get_string (parameter, NULL));
}

static void
window_body_install (GtkWidgetClass *klass)
{
  gtk_widget_class_install_action (klass, "win.open-body", "s", window_body_action_open);
  gtk_widget_class_install_action (klass, "win.show-around", NULL, window_body_show_around);
}

static void
window_body_init (VnWindow *self)
{
  g_signal_connect (self, "destroy", G_CALLBACK (window_body_leave), NULL);
}

const VnWindowPart vn_window_part_body = { window_body_install, window_body_init, window_body_update };
