/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A row of the list of recent files: a model, a project, or work that was not saved, with what its last run came to. */
#include "vn-recent-row.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-project-file.h"
#include "vn-swatch.h"

#include <math.h>

static char *
recent_row_describe_age (GDateTime *when)
{
  g_autoptr(GDateTime) now = g_date_time_new_now_local ();
  g_autoptr(GDateTime) local = g_date_time_to_local (when);
  GTimeSpan span = g_date_time_difference (now, local);
  guint n;

  if (span < G_TIME_SPAN_MINUTE)
    return g_strdup (_("just now"));
  if (span < G_TIME_SPAN_HOUR)
    {
      n = (guint) (span / G_TIME_SPAN_MINUTE);
      return g_strdup_printf (ngettext ("%u minute ago", "%u minutes ago", n), n);
    }
  if (span < G_TIME_SPAN_DAY)
    {
      n = (guint) (span / G_TIME_SPAN_HOUR);
      return g_strdup_printf (ngettext ("%u hour ago", "%u hours ago", n), n);
    }
  return g_date_time_format (local, "%e %B");
}

static char *
recent_row_describe_file (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *where = vn_format_path (folder);
  g_autoptr(GFile) file = g_file_new_for_path (path);
  g_autoptr(GFileInfo) info = g_file_query_info (file, G_FILE_ATTRIBUTE_STANDARD_SIZE, 0, NULL, NULL);
  const gboolean has_size = info != NULL && !g_file_test (path, G_FILE_TEST_IS_DIR);
  g_autofree char *size = has_size ? vn_format_bytes ((guint64) g_file_info_get_size (info)) : NULL;

  return size != NULL ? g_strdup_printf ("%s · %s", where, size) : g_steal_pointer (&where);
}

static char *
recent_row_describe_project (const VnProject *project,
                             const char      *path,
                             gboolean         is_draft)
{
  guint n_rules = project->recipe->overrides->len, n_runs = project->runs->len;
  g_autofree char *folder = g_path_get_dirname (is_draft ? project->model : path);
  g_autofree char *where = vn_format_path (folder);
  g_autofree char *rules = g_strdup_printf (ngettext ("%u rule", "%u rules", n_rules), n_rules);
  g_autofree char *runs = g_strdup_printf (ngettext ("%u run", "%u runs", n_runs), n_runs);

  if (is_draft)
    return g_strdup_printf (_("not saved · %s · %s · %s"), rules, runs, where);
  return g_strdup_printf ("%s · %s · %s", rules, runs, where);
}

/**
 * vn_recent_row_get_time:
 *
 * Returns: (transfer full) (nullable): when the file was written
 */
GDateTime *
vn_recent_row_get_time (const char *path)
{
  g_autoptr(GFile) file = NULL;
  g_autoptr(GFileInfo) info = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  file = g_file_new_for_path (path);
  info = g_file_query_info (file, G_FILE_ATTRIBUTE_TIME_MODIFIED, 0, NULL, NULL);
  return info != NULL ? g_file_info_get_modification_date_time (info) : NULL;
}

/* What the last run came to, or that there is none. */
static GtkWidget *
recent_row_make_picture (const VnProject *project)
{
  const VnProjectRun *run = project != NULL && project->runs->len > 0
                            ? g_ptr_array_index (project->runs, project->runs->len - 1) : NULL;
  GtkWidget *swatch;

  if (run == NULL || isnan (run->figures.worst_db))
    return gtk_image_new_from_icon_name ("vn-graph-symbolic");
  swatch = vn_swatch_new (FALSE);
  vn_swatch_set (VN_SWATCH (swatch), VN_SWATCH_VALUE, VN_METRIC_SQNR, run->figures.worst_db);
  gtk_widget_set_valign (swatch, GTK_ALIGN_CENTER);
  return swatch;
}

static void
recent_row_add_discard (GtkWidget  *row,
                        const char *path)
{
  GtkWidget *button = gtk_button_new_from_icon_name ("user-trash-symbolic");

  gtk_widget_set_tooltip_text (button, _("Discard This Work"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Discard This Work"), -1);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.discard-draft");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", path);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);
}

static void
recent_row_add_time (GtkWidget *row,
                     GDateTime *when)
{
  g_autofree char *age = recent_row_describe_age (when);
  GtkWidget *label = gtk_label_new (age);

  gtk_widget_add_css_class (label, "dim-label");
  gtk_widget_add_css_class (label, "caption");
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), label);
}

/**
 * vn_recent_row_new:
 * @path: a model, or a project
 * @when: (nullable): it was open last
 * @is_draft: a project that its user has not saved
 *
 * Returns: a row that opens the file
 */
GtkWidget *
vn_recent_row_new (const char *path,
                   GDateTime  *when,
                   gboolean    is_draft)
{
  GtkWidget *row;
  g_autoptr(VnProject) project = NULL;
  g_autofree char *uri = NULL, *name = NULL, *title = NULL, *subtitle = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  row = adw_action_row_new ();
  project = vn_project_is_file (path) ? vn_project_load (path, NULL) : NULL;
  uri = g_filename_to_uri (path, NULL, NULL);
  name = g_path_get_basename (is_draft && project != NULL ? project->model : path);
  title = g_filename_display_name (name);
  subtitle = project != NULL ? recent_row_describe_project (project, path, is_draft) : recent_row_describe_file (path);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 1);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), recent_row_make_picture (project));
  if (when != NULL)
    recent_row_add_time (row, when);
  if (is_draft)
    recent_row_add_discard (row, path);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), gtk_image_new_from_icon_name ("go-next-symbolic"));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (row), "win.open-uri");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (row), "s", uri != NULL ? uri : "");
  return row;
}
