/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page with the report as it will be exported. It is built and drawn by a thread, anew whenever another result is shown. */
#include "vn-report-page.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-report.h"
#include "vn-sheet-view.h"
#include "vn-thread.h"

#include <math.h>

#define DELAY_MS      150
#define WIDEST        900      /* pixels of a sheet */
#define MARGIN         24      /* beside it */
#define NARROW_MARGIN  12
#define NARROW        700      /* pixels of the page */
#define LEAST_A4      760      /* pixels of a sheet: where text of A4 is large enough to be read */
#define SCALE         1.3      /* pixels of a point on a narrower one */
#define STEP           20      /* points */

/**
 * Report: of a run. Made by a thread, then immutable.
 * @model: (nullable): %NULL: not made yet
 * @command: (nullable): that makes the same network again
 */
typedef struct
{
  VnRun         *result;
  VnReportModel *model;
  char          *command;
} Report;

struct _VnReportPage
{
  AdwBin              parent_instance;

  VnDocument         *document;
  GSimpleActionGroup *actions;
  Report             *report;      /* (nullable): what is shown */
  double              width;       /* of its sheets, in points */
  GCancellable       *building;    /* (nullable): the next one is on its way */
  guint               delay;       /* timeout */

  GtkStack           *stack;
  GtkScrolledWindow  *scrolled;
  GtkWidget          *sheets, *toolbar;
  GtkSpinner         *spinner;
  GtkLabel           *state;
  AdwStatusPage      *failure;
};

static void report_page_init_interface (VnPageInterface *interface);

G_DEFINE_FINAL_TYPE_WITH_CODE (VnReportPage, vn_report_page, ADW_TYPE_BIN,
                               G_IMPLEMENT_INTERFACE (VN_TYPE_PAGE, report_page_init_interface))

/* ---- on the thread ---- */

static void
report_page_clear_report (gpointer data)
{
  Report *self = data;

  g_clear_pointer (&self->model, vn_report_model_free);
  g_clear_pointer (&self->result, vn_run_unref);
  g_free (self->command);
}

static void
report_page_release (gpointer report)
{
  g_atomic_rc_box_release_full (report, report_page_clear_report);
}

/**
 * Building:
 * @sheets: (nullable): of VnReportSheet: what becomes of it
 */
typedef struct
{
  Report    *report;
  double     width;
  GPtrArray *sheets;
} Building;

static void
report_page_free_building (gpointer data)
{
  Building *self = data;

  g_clear_pointer (&self->report, report_page_release);
  g_clear_pointer (&self->sheets, g_ptr_array_unref);
  g_free (self);
}

/* Of one that is shown already only the sheets are drawn anew. */
static void
report_page_make_model (Report *report)
{
  if (report->model != NULL)
    return;
  report->command = vn_report_dup_command (report->result);
  report->model = vn_report_model_new (report->result, VN_REPORT_LAYOUT_REPORT);
}

static void
report_page_build (GTask        *task,
                   gpointer      source,
                   gpointer      data,
                   GCancellable *cancellable)
{
  Building *self = data;
  GError *error = NULL;

  if (g_task_return_error_if_cancelled (task))
    return;
  report_page_make_model (self->report);
  if (g_task_return_error_if_cancelled (task))
    return;
  self->sheets = vn_report_draw_sheets (self->report->model, self->width, &error);
  if (self->sheets != NULL)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/* ---- what is shown ---- */

static void
report_page_show_near (VnReportPage *self)
{
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (self->scrolled);
  const double page = gtk_adjustment_get_page_size (adjustment);
  graphene_rect_t bounds;

  for (GtkWidget *sheet = gtk_widget_get_first_child (self->sheets); sheet != NULL; sheet = gtk_widget_get_next_sibling (sheet))
    {
      const gboolean known = gtk_widget_compute_bounds (sheet, GTK_WIDGET (self->scrolled), &bounds);

      vn_sheet_view_set_near (VN_SHEET_VIEW (sheet), known && bounds.size.height > 0 &&
                              (double) (bounds.origin.y + bounds.size.height) > -page &&
                                                     (double) bounds.origin.y < 2 * page);
    }
}

static gboolean
report_page_show_near_later (GtkWidget     *widget,
                             GdkFrameClock *clock,
                             gpointer       data)
{
  report_page_show_near (VN_REPORT_PAGE (widget));
  return G_SOURCE_REMOVE;
}

/* When they have their places. */
static void
report_page_show_near_soon (VnReportPage *self)
{
  gtk_widget_add_tick_callback (GTK_WIDGET (self), report_page_show_near_later, NULL, NULL);
}

static void
report_page_node_activated (VnReportPage *self,
                            guint         node)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "win.select-node", "u", node);
}

/* Sheets that are there already take what is new, so that what is looked at stays where it is. */
static void
report_page_show_sheets (VnReportPage *self,
                         GPtrArray    *sheets)
{
  GtkWidget *view = gtk_widget_get_first_child (self->sheets);

  for (guint i = 0; i < sheets->len; i++)
    {
      if (view == NULL)
        {
          view = vn_sheet_view_new ();
          g_signal_connect_swapped (view, "node-activated", G_CALLBACK (report_page_node_activated), self);
          gtk_box_append (GTK_BOX (self->sheets), view);
        }
      vn_sheet_view_set_sheet (VN_SHEET_VIEW (view), g_ptr_array_index (sheets, i), i + 1, sheets->len);
      view = gtk_widget_get_next_sibling (view);
    }
  while (view != NULL)
    {
      GtkWidget *next = gtk_widget_get_next_sibling (view);

      gtk_box_remove (GTK_BOX (self->sheets), view);
      view = next;
    }
  report_page_show_near_soon (self);
}

static void
report_page_update_actions (VnReportPage *self)
{
  static const char * const names[] = { "copy", "copy-command" };
  const gboolean can = self->document != NULL && vn_bench_get_shown (VN_BENCH (self->document)) != NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_simple_action_set_enabled (G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self->actions), names[i])), can);
}

/* What it is a report of. */
static const char *
report_page_get_state (VnReportPage *self)
{
  switch (vn_bench_get_expecting (VN_BENCH (self->document)))
    {
    case VN_EXPECTING_SHOWN:
      return _("Estimated result; run a full quantization to confirm it");
    case VN_EXPECTING_SOON:
    case VN_EXPECTING_REFUSED:
      return _("From the last full run; the recipe has changed since");
    case VN_EXPECTING_AROUND:
      return _("From the run of the whole model");
    case VN_EXPECTING_PAST:
    case VN_EXPECTING_NOTHING:
      break;
    }
  return _("As it will be exported");
}

static void
report_page_set_busy (VnReportPage *self,
                      gboolean      busy)
{
  gtk_spinner_set_spinning (self->spinner, busy);
  gtk_widget_set_visible (GTK_WIDGET (self->spinner), busy);
  gtk_label_set_label (self->state, busy ? _("Updating") : report_page_get_state (self));
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->state), gtk_label_get_label (self->state));
}

static void
report_page_show_failure (VnReportPage *self,
                          const GError *error)
{
  adw_status_page_set_description (self->failure, error->message);
  gtk_stack_set_visible_child_name (self->stack, "failed");
}

static void
report_page_take_report (GObject      *source,
                         GAsyncResult *result,
                         gpointer      data)
{
  VnReportPage *self = VN_REPORT_PAGE (source);
  Building *building = g_task_get_task_data (G_TASK (result));
  g_autoptr(GError) error = NULL;
  const gboolean ok = g_task_propagate_boolean (G_TASK (result), &error);

  if (g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))))
    return;
  g_clear_object (&self->building);
  report_page_set_busy (self, FALSE);
  g_atomic_rc_box_acquire (building->report);
  g_clear_pointer (&self->report, report_page_release);
  self->report = building->report;
  self->width = building->width;
  if (!ok)
    {
      report_page_show_failure (self, error);
      return;
    }
  report_page_show_sheets (self, building->sheets);
  gtk_stack_set_visible_child_name (self->stack, "report");
}

/* ---- when ---- */

static void
report_page_stop (VnReportPage *self)
{
  g_clear_handle_id (&self->delay, g_source_remove);
  if (self->building != NULL)
    g_cancellable_cancel (self->building);
  g_clear_object (&self->building);
}

/* Of the sheets, in points: A4 where that can be read, otherwise as many as there is room for. */
static double
report_page_get_width (VnReportPage *self)
{
  const int width = gtk_widget_get_width (GTK_WIDGET (self)), margin = width < NARROW ? NARROW_MARGIN : MARGIN;
  const int sheet = MIN (width - 2 * margin, WIDEST);

  if (width <= 0 || sheet >= LEAST_A4)
    return VN_REPORT_A4_WIDTH;
  return MAX (floor (sheet / SCALE / STEP) * STEP, VN_REPORT_LEAST_WIDTH);
}

/* Returns: (transfer full): of the present result; its model may have to be made yet */
static Report *
report_page_ref_report (VnReportPage *self)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (self->document));
  Report *report;

  if (self->report != NULL && self->report->result == result)
    return g_atomic_rc_box_acquire (self->report);
  report = g_atomic_rc_box_new0 (Report);
  report->result = vn_run_ref (result);
  return report;
}

static gboolean
report_page_begin (gpointer data)
{
  VnReportPage *self = data;
  g_autoptr(GTask) task = NULL;
  Building *building = g_new0 (Building, 1);

  self->delay = 0;
  self->building = g_cancellable_new ();
  building->width = report_page_get_width (self);
  building->report = report_page_ref_report (self);
  task = g_task_new (self, self->building, report_page_take_report, NULL);
  g_task_set_task_data (task, building, report_page_free_building);
  vn_thread_run_task (task, report_page_build);
  return G_SOURCE_REMOVE;
}

/* There may be many changes in a row, of which the last counts. */
static void
report_page_update (VnReportPage *self)
{
  VnRun *result = self->document != NULL ? vn_bench_get_shown (VN_BENCH (self->document)) : NULL;

  report_page_update_actions (self);
  if (result == NULL)
    {
      report_page_stop (self);
      g_clear_pointer (&self->report, report_page_release);
      gtk_stack_set_visible_child_name (self->stack, "empty");
      return;
    }
  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  if (self->report == NULL)
    gtk_stack_set_visible_child_name (self->stack, "building");
  report_page_stop (self);
  if (self->report != NULL && self->report->result == result && self->width == report_page_get_width (self))
    {
      report_page_set_busy (self, FALSE);
      return;
    }
  report_page_set_busy (self, TRUE);
  self->delay = g_timeout_add (self->report == NULL ? 0 : DELAY_MS, report_page_begin, self);
}

static gboolean
report_page_update_later (GtkWidget     *widget,
                          GdkFrameClock *clock,
                          gpointer       data)
{
  VnReportPage *self = VN_REPORT_PAGE (widget);
  const int margin = gtk_widget_get_width (widget) < NARROW ? NARROW_MARGIN : MARGIN;

  gtk_widget_set_margin_start (self->sheets, margin);
  gtk_widget_set_margin_end (self->sheets, margin);
  gtk_widget_set_visible (GTK_WIDGET (self->state), margin == MARGIN);
  report_page_update (self);
  report_page_show_near (self);
  return G_SOURCE_REMOVE;
}

/* Not while it is being resized. */
static void
report_page_resized (VnReportPage *self)
{
  gtk_widget_add_tick_callback (GTK_WIDGET (self), report_page_update_later, NULL, NULL);
}

static void
vn_report_page_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (vn_report_page_parent_class)->map (widget);
  report_page_update (VN_REPORT_PAGE (widget));
}

/* ---- copying ---- */

/* @is_command: that is wanted, not the report */
typedef struct
{
  Report   *report;
  gboolean  is_command;
} Copying;

static void
report_page_free_copying (gpointer data)
{
  Copying *self = data;

  report_page_release (self->report);
  g_free (self);
}

/* Returns: (nullable): no command can say what the run was. */
static void
report_page_print (GTask        *task,
                   gpointer      source,
                   gpointer      data,
                   GCancellable *cancellable)
{
  const Copying *self = data;
  GError *error = NULL;
  g_autoptr(GBytes) bytes = NULL;

  report_page_make_model (self->report);
  if (self->is_command)
    {
      g_task_return_pointer (task, g_strdup (self->report->command), g_free);
      return;
    }
  bytes = vn_report_print_markdown (self->report->model, &error);
  if (bytes != NULL)
    g_task_return_pointer (task, g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes)), g_free);
  else
    g_task_return_error (task, error);
}

static void
report_page_printed (GObject      *source,
                     GAsyncResult *result,
                     gpointer      data)
{
  VnReportPage *self = VN_REPORT_PAGE (source);
  const Copying *copying = g_task_get_task_data (G_TASK (result));
  g_autoptr(GError) error = NULL;
  g_autofree char *text = g_task_propagate_pointer (G_TASK (result), &error);

  if (self->document == NULL)
    return;
  if (error != NULL)
    {
      vn_bench_report_error (VN_BENCH (self->document), _("The report could not be copied"), error);
      return;
    }
  if (text == NULL)
    {
      vn_bench_report (VN_BENCH (self->document), _("No command can reproduce this run: some inputs have individual settings."));
      return;
    }
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), text);
  vn_bench_report (VN_BENCH (self->document), copying->is_command ? _("Command copied: it produces the same model again.")
                                                        : _("Report copied as Markdown."));
}

/* Also of a result that the page has not been looked at with. */
static void
report_page_copy (GSimpleAction *action,
                  GVariant      *parameter,
                  gpointer       data)
{
  VnReportPage *self = data;
  g_autoptr(GTask) task = g_task_new (self, NULL, report_page_printed, NULL);
  Copying *copying = g_new0 (Copying, 1);

  *copying = (Copying) { report_page_ref_report (self), g_str_has_suffix (g_action_get_name (G_ACTION (action)), "command") };
  g_task_set_task_data (task, copying, report_page_free_copying);
  vn_thread_run_task (task, report_page_print);
}

/* ---- the page ---- */

static void
report_page_set_document (VnPage     *page,
                          VnDocument *document)
{
  static const char * const signals[] = { "changed::model", "changed::data", "changed::recipe", "changed::run",
                                          "changed::expected" };
  VnReportPage *self = VN_REPORT_PAGE (page);

  self->document = g_object_ref (document);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (document, signals[i], G_CALLBACK (report_page_update), self, G_CONNECT_SWAPPED);
  report_page_update (self);
}

static GActionGroup *
report_page_get_actions (VnPage *page)
{
  return G_ACTION_GROUP (VN_REPORT_PAGE (page)->actions);
}

static void
report_page_init_interface (VnPageInterface *interface)
{
  interface->set_document = report_page_set_document;
  interface->get_actions = report_page_get_actions;
}

static void
vn_report_page_dispose (GObject *object)
{
  VnReportPage *self = VN_REPORT_PAGE (object);

  report_page_stop (self);
  g_clear_pointer (&self->report, report_page_release);
  g_clear_object (&self->actions);
  g_clear_object (&self->document);
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_REPORT_PAGE);
  G_OBJECT_CLASS (vn_report_page_parent_class)->dispose (object);
}

static void
vn_report_page_class_init (VnReportPageClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_report_page_dispose;
  class->map = vn_report_page_map;
  gtk_widget_class_set_template_from_resource (class, "/io/github/vernier/Vernier/vn-report-page.ui");
  gtk_widget_class_bind_template_child (class, VnReportPage, stack);
  gtk_widget_class_bind_template_child (class, VnReportPage, scrolled);
  gtk_widget_class_bind_template_child (class, VnReportPage, sheets);
  gtk_widget_class_bind_template_child (class, VnReportPage, toolbar);
  gtk_widget_class_bind_template_child (class, VnReportPage, spinner);
  gtk_widget_class_bind_template_child (class, VnReportPage, state);
  gtk_widget_class_bind_template_child (class, VnReportPage, failure);
}

static void
vn_report_page_init (VnReportPage *self)
{
  static const GActionEntry entries[] = {
    { .name = "copy", .activate = report_page_copy },
    { .name = "copy-command", .activate = report_page_copy },
  };
  GtkAdjustment *adjustment;

  gtk_widget_init_template (GTK_WIDGET (self));
  self->actions = g_simple_action_group_new ();
  g_action_map_add_action_entries (G_ACTION_MAP (self->actions), entries, G_N_ELEMENTS (entries), self);
  report_page_update_actions (self);
  adjustment = gtk_scrolled_window_get_vadjustment (self->scrolled);
  g_signal_connect_object (adjustment, "value-changed", G_CALLBACK (report_page_show_near), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (adjustment, "changed", G_CALLBACK (report_page_show_near_soon), self, G_CONNECT_SWAPPED);
  adjustment = gtk_scrolled_window_get_hadjustment (self->scrolled);
  g_signal_connect_object (adjustment, "changed", G_CALLBACK (report_page_resized), self, G_CONNECT_SWAPPED);
}

/**
 * vn_report_page_is_busy:
 *
 * Returns: whether another report, or a sharper picture of what is seen of it, is on its way
 */
gboolean
vn_report_page_is_busy (VnReportPage *self)
{
  GtkWidget *first;

  g_return_val_if_fail (VN_IS_REPORT_PAGE (self), FALSE);

  first = gtk_widget_get_first_child (self->sheets);
  return self->delay != 0 || self->building != NULL ||
         (self->report != NULL && first != NULL && gtk_widget_get_mapped (first) &&
          gtk_adjustment_get_value (gtk_scrolled_window_get_vadjustment (self->scrolled)) == 0 &&
          !vn_sheet_view_is_sharp (VN_SHEET_VIEW (first)));
}
