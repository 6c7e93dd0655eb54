/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the colours of the graph page show: its legend, and the run that a difference is to. */
#include "graph-page-private.h"

#include "vn-i18n.h"
#include "vn-settings.h"

#define OVERLAY_KEY     "overlay"
#define HANDLES_DELAY   150    /* ms until lists follow a handle that is being dragged */

static VnOverlayInput
graph_page_overlay_get_input (VnGraphPage *self)
{
  VnOverlayInput input = { .scene = self->scene, .model = vn_bench_get_model (VN_BENCH (self->document)),
                            .result = vn_bench_get_shown (VN_BENCH (self->document)), .other = self->other,
                            .handles = vn_legend_get_handles (self->legend) };

  if (self->numbers != NULL)
    {
      input.given = self->numbers->values;
      input.n_given = self->numbers->n;
      input.given_is_time = self->numbers->is_time;
    }
  return input;
}

/* ---- another run ---- */

static void
graph_page_overlay_read (GObject      *source,
                         GAsyncResult *async,
                         gpointer      data)
{
  g_autoptr(VnGraphPage) self = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRun) other = vn_bench_read_run_finish (VN_BENCH (VN_DOCUMENT (source)), async, &error);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || self->document == NULL)
    return;
  g_clear_object (&self->reading);
  if (other == NULL)
    {
      vn_bench_report_error (VN_BENCH (self->document), _("The run could not be read"), error);
      return;
    }
  self->other = g_steal_pointer (&other);
  vn_graph_page_update_overlay (self);
}

static void
graph_page_overlay_drop_other (VnGraphPage *self)
{
  if (self->reading != NULL)
    g_cancellable_cancel (self->reading);
  g_clear_object (&self->reading);
  g_clear_pointer (&self->other, vn_run_unref);
  g_clear_pointer (&self->other_id, g_free);
}

static void
graph_page_overlay_take_run (VnGraphPage *self,
                             const char  *id)
{
  VnProjectRun *run = vn_bench_find_run (VN_BENCH (self->document), id);

  if (run == NULL || g_strcmp0 (self->other_id, id) == 0)
    return;
  graph_page_overlay_drop_other (self);
  self->other_id = g_strdup (id);
  self->other = vn_bench_find_run_result (VN_BENCH (self->document), run);
  if (self->other != NULL)
    {
      vn_run_ref (self->other);
      return;
    }
  self->reading = g_cancellable_new ();
  vn_bench_read_run_async (VN_BENCH (self->document), run, self->reading, graph_page_overlay_read, g_object_ref (self));
}

/* Lists the runs but the shown one, the latest first; that is chosen unless another one was. */
static void
graph_page_overlay_list_runs (VnGraphPage *self)
{
  GPtrArray *runs = vn_bench_get_runs (VN_BENCH (self->document));
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new ();
  g_auto(GStrv) titles = NULL;
  guint chosen = 0;

  g_ptr_array_set_size (self->run_ids, 0);
  for (guint i = runs->len; i > 0; i--)
    {
      VnProjectRun *run = g_ptr_array_index (runs, i - 1);
      g_autofree char *title = NULL;

      if (vn_bench_is_shown (VN_BENCH (self->document), run))
        continue;
      title = vn_project_run_dup_title (run);
      if (g_strcmp0 (run->id, self->other_id) == 0)
        chosen = self->run_ids->len;
      g_ptr_array_add (self->run_ids, g_strdup (run->id));
      g_strv_builder_add (builder, title);
    }
  titles = g_strv_builder_end (builder);
  vn_legend_set_runs (self->legend, (const char * const *) titles, chosen);
  if (self->run_ids->len > 0)
    graph_page_overlay_take_run (self, g_ptr_array_index (self->run_ids, chosen));
  else
    graph_page_overlay_drop_other (self);
}

static void
graph_page_overlay_run_chosen (VnGraphPage *self)
{
  guint at = vn_legend_get_run (self->legend);

  if (at < self->run_ids->len)
    graph_page_overlay_take_run (self, g_ptr_array_index (self->run_ids, at));
  vn_graph_page_update_overlay (self);
}

static char *
graph_page_overlay_dup_note (VnGraphPage          *self,
                             VnOverlayChoice       choice,
                             const VnOverlayInput *input,
                             const VnOverlay      *overlay)
{
  if (choice == VN_CHOICE_FILE && self->numbers != NULL)
    {
      g_autofree char *total = vn_amount_format (VN_AMOUNT_SECONDS, vn_node_numbers_sum (self->numbers));

      return vn_node_numbers_dup_note (self->numbers, total);
    }
  if (vn_overlay_choice_get_info (choice)->kind == VN_OVERLAY_ERROR && input->result->errors == NULL)
    return g_strdup (_("No error measured yet"));
  if (choice != VN_CHOICE_DIFFERENCE || overlay != NULL)
    return vn_overlay_choice_dup_note (choice, input, overlay);
  if (self->reading != NULL)
    return g_strdup (_("Reading the run…"));
  return g_strdup (self->run_ids->len == 0 ? _("No other run is stored: quantize again with other settings to compare")
                                           : _("One of the two runs did not measure its error"));
}

/* ---- legend ---- */

/* Colours the graph by what the legend says. */
void
vn_graph_page_update_overlay (VnGraphPage *self)
{
  VnOverlayChoice choice = vn_legend_get_choice (self->legend);
  g_autoptr(VnOverlay) overlay = NULL;
  g_autofree char *note = NULL;
  VnOverlayInput input;

  if (self->document == NULL)
    return;
  if (choice == VN_CHOICE_DIFFERENCE)
    graph_page_overlay_list_runs (self);
  input = graph_page_overlay_get_input (self);
  if (self->scene != NULL && (input.result != NULL || choice == VN_CHOICE_FILE))
    {
      overlay = vn_overlay_choice_build (choice, &input);
      note = graph_page_overlay_dup_note (self, choice, &input, overlay);
    }
  else if (self->scene != NULL && self->numbers != NULL)
    note = g_strdup (_("No error measured yet"));
  vn_graph_view_set_overlay (self->view, overlay);
  vn_legend_set_overlay (self->legend, overlay);
  vn_legend_set_note (self->legend, note);
}

/* What else the colors can show is known of a run without samples, too. Metrics without a scale of their own take their handles
 * from the spread of the network. */
void
vn_graph_page_update_legend (VnGraphPage *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  VnRun *result = vn_bench_get_shown (VN_BENCH (self->document));
  gboolean measured = self->scene != NULL && result != NULL && result->errors != NULL;

  vn_legend_set_measured (self->legend, self->scene != NULL && (result != NULL || self->numbers != NULL));
  for (guint i = 0; measured && i < VN_N_CHOICES; i++)
    {
      const VnOverlayChoiceInfo *info = vn_overlay_choice_get_info ((VnOverlayChoice) i);

      if (info->kind == VN_OVERLAY_ERROR)
        vn_legend_set_defaults (self->legend, (VnOverlayChoice) i,
                                vn_scene_default_handles (self->scene, model, result, info->metric));
    }
  vn_graph_view_panels_changed (self->view);
}

static gboolean
graph_page_overlay_apply_handles (gpointer data)
{
  VnGraphPage *self = data;
  VnOverlayChoice choice = vn_legend_get_choice (self->legend);
  VnMetric metric = vn_legend_get_metric (self->legend);

  self->handles_source = 0;
  if (choice == vn_overlay_choice_of_metric (metric) && vn_legend_get_kind (self->legend) == VN_OVERLAY_ERROR)
    vn_document_set_handles (self->document, metric, vn_legend_get_handles (self->legend));
  return G_SOURCE_REMOVE;
}

static void
graph_page_overlay_handles_changed (VnGraphPage *self)
{
  vn_graph_page_update_overlay (self);
  g_clear_handle_id (&self->handles_source, g_source_remove);
  self->handles_source = g_timeout_add (HANDLES_DELAY, graph_page_overlay_apply_handles, self);
}

static void
graph_page_overlay_update_action (VnGraphPage *self)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self->actions), "overlay");
  const char *id = vn_overlay_choice_get_info (vn_legend_get_choice (self->legend))->id;

  g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_string (id));
}

/* Lists go by what is shown as long as that is a figure they have. */
static void
graph_page_overlay_chosen (VnGraphPage *self)
{
  VnOverlayChoice choice = vn_legend_get_choice (self->legend);
  const VnOverlayChoiceInfo *info = vn_overlay_choice_get_info (choice);

  if (self->document == NULL)
    return;
  graph_page_overlay_update_action (self);
  if (choice != VN_CHOICE_FILE)
    vn_settings_set_string (OVERLAY_KEY, info->id);
  if (info->kind == VN_OVERLAY_ERROR && choice == vn_overlay_choice_of_metric (info->metric))
    {
      vn_document_set_metric (self->document, info->metric);
      graph_page_overlay_apply_handles (self);
    }
  vn_graph_page_update_overlay (self);
}

/* As from the menu. */
void
vn_graph_page_choose_overlay (VnGraphPage *self,
                              const char  *id)
{
  VnOverlayChoice choice;

  if (!vn_overlay_choice_find (id, &choice) || choice == vn_legend_get_choice (self->legend)
      || (choice == VN_CHOICE_FILE && !vn_legend_has_file (self->legend)))
    return;
  vn_legend_set_choice (self->legend, choice);
  graph_page_overlay_chosen (self);
}

/* Something else said what lists go by. */
void
vn_graph_page_metric_changed (VnGraphPage *self)
{
  VnOverlayChoice choice = vn_overlay_choice_of_metric (vn_document_get_metric (self->document));
  VnOverlayChoice shown = vn_legend_get_choice (self->legend);

  if (vn_legend_get_kind (self->legend) != VN_OVERLAY_ERROR || shown == choice || shown == VN_CHOICE_LOCAL)
    return;
  vn_legend_set_choice (self->legend, choice);
  graph_page_overlay_update_action (self);
  vn_graph_page_update_overlay (self);
}

/* What was chosen in the window before. Contribution is what a new window shows in any case, as soon as it is measured. */
void
vn_graph_page_restore_overlay (VnGraphPage *self)
{
  g_autofree char *id = vn_settings_dup_string (OVERLAY_KEY, "contribution");
  VnOverlayChoice choice;

  if (!vn_overlay_choice_find (id, &choice) || choice == VN_CHOICE_CONTRIBUTION || choice == VN_CHOICE_FILE)
    choice = vn_overlay_choice_of_metric (vn_document_get_metric (self->document));
  else if (vn_overlay_choice_get_info (choice)->kind == VN_OVERLAY_ERROR && choice != VN_CHOICE_LOCAL)
    vn_document_set_metric (self->document, vn_overlay_choice_get_info (choice)->metric);
  vn_legend_set_choice (self->legend, choice);
  graph_page_overlay_update_action (self);
}

/* When the page goes. */
void
vn_graph_page_forget_overlay (VnGraphPage *self)
{
  g_clear_handle_id (&self->handles_source, g_source_remove);
  graph_page_overlay_drop_other (self);
  g_clear_pointer (&self->run_ids, g_ptr_array_unref);
}

void
vn_graph_page_connect_legend (VnGraphPage *self)
{
  self->run_ids = g_ptr_array_new_with_free_func (g_free);
  g_signal_connect_swapped (self->legend, "overlay-changed", G_CALLBACK (graph_page_overlay_chosen), self);
  g_signal_connect_swapped (self->legend, "run-chosen", G_CALLBACK (graph_page_overlay_run_chosen), self);
  g_signal_connect_swapped (self->legend, "handles-changed", G_CALLBACK (graph_page_overlay_handles_changed), self);
  g_signal_connect_swapped (self->legend, "band-activated", G_CALLBACK (vn_graph_page_select_band), self);
  g_signal_connect_swapped (self->legend, "threshold-dragged", G_CALLBACK (vn_graph_page_select_worse), self);
}
