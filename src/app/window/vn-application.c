/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The application: windows, command-line files, accelerators and application-wide actions. */
#include "vn-application.h"

#include "vn-empty-page.h"
#include "vn-i18n.h"
#include "vn-overlay-choice.h"
#include "vn-preferences.h"
#include "vn-settings.h"
#include "vn-version.h"
#include "vn-window.h"

struct _VnApplication
{
  AdwApplication parent_instance;
};

G_DEFINE_FINAL_TYPE (VnApplication, vn_application, ADW_TYPE_APPLICATION)

static VnWindow *
application_new_window (VnApplication *self)
{
  VnWindow *window = vn_window_new (GTK_APPLICATION (self));

  gtk_window_present (GTK_WINDOW (window));
  return window;
}

/* A window nothing was opened in is used before a new one is made. */
static VnWindow *
application_get_free_window (VnApplication *self)
{
  GtkWindow *active = gtk_application_get_active_window (GTK_APPLICATION (self));

  if (VN_IS_WINDOW (active) && vn_window_is_empty (VN_WINDOW (active)))
    return VN_WINDOW (active);
  return application_new_window (self);
}

static void
vn_application_activate (GApplication *app)
{
  GtkWindow *active = gtk_application_get_active_window (GTK_APPLICATION (app));

  g_autofree char *last = vn_settings_get_bool ("open-last", FALSE) ? vn_empty_page_dup_newest () : NULL;
  VnWindow *window;

  if (active != NULL)
    {
      gtk_window_present (active);
      return;
    }
  window = application_new_window (VN_APPLICATION (app));
  if (last != NULL)
    {
      g_autoptr(GFile) file = g_file_new_for_uri (last);

      vn_window_open_file (window, file);
    }
}

static void
vn_application_open (GApplication  *app,
                     GFile        **files,
                     int            n_files,
                     const char    *hint)
{
  for (int i = 0; i < n_files; i++)
    vn_window_open_file (application_get_free_window (VN_APPLICATION (app)), files[i]);
}

static void
application_activate_new_window (GSimpleAction *action,
                                 GVariant      *parameter,
                                 gpointer       data)
{
  application_new_window (data);
}

static void
application_activate_quit (GSimpleAction *action,
                           GVariant      *parameter,
                           gpointer       data)
{
  GList *windows;

  while ((windows = gtk_application_get_windows (data)) != NULL)
    gtk_window_destroy (windows->data);
}

static void
application_activate_preferences (GSimpleAction *action,
                                  GVariant      *parameter,
                                  gpointer       data)
{
  gtk_window_present (GTK_WINDOW (vn_preferences_new (gtk_application_get_active_window (data))));
}

static void
application_activate_about (GSimpleAction *action,
                            GVariant      *parameter,
                            gpointer       data)
{
  static const char * const developers[] = { "The Vernier developers", NULL };
  g_autofree char *build = vn_version_dup_build ();

  adw_show_about_window (gtk_application_get_active_window (data),
                         "application-name", _("Vernier"),
                         "application-icon", VN_APP_ID,
                         "developer-name", _("The Vernier developers"),
                         "developers", developers,
                         "version", VN_VERSION,
                         "debug-info", build,
                         "license-type", GTK_LICENSE_GPL_3_0,
                         "comments", _("See where quantization hurts a neural network, and fix it."),
                         /* Translators: put your name here */
                         "translator-credits", _("translator-credits"),
                         NULL);
}

static const GActionEntry actions[] = {
  { .name = "new-window", .activate = application_activate_new_window },
  { .name = "preferences", .activate = application_activate_preferences },
  { .name = "quit", .activate = application_activate_quit },
  { .name = "about", .activate = application_activate_about },
};

static const char * const page_actions[] = {
#define VN_PAGE(id, ...) "win.show-page('" #id "')",
#include "vn-pages.def"
#undef VN_PAGE
};

static void
application_set_accels (GtkApplication *app)
{
  static const struct { const char *action, *accels[4]; } accels[] = {
    { "app.new-window", { "<Control>n" } },
    { "app.quit", { "<Control>q" } },
    { "app.preferences", { "<Control>comma" } },
    { "window.close", { "<Control>w" } },
    { "win.show-help-overlay", { "<Control>question" } },
    { "win.help", { "F1" } },
    { "win.about-operator", { "<Shift>F1" } },
    { "win.open", { "<Control>o" } },
    { "win.save-project", { "<Control>s" } },
    { "win.save-project-as", { "<Control><Shift>s" } },
    { "win.compare-file", { "<Control><Shift>o" } },
    { "win.undo", { "<Control>z" } },
    { "win.redo", { "<Control><Shift>z", "<Control>y" } },
    { "win.find", { "<Control>f" } },
    { "win.show-around", { "<Alt>Up" } },
    { "win.all-settings", { "<Control><Alt>comma" } },
    { "win.mixed-precision", { "<Control>m" } },
    { "win.change-samples", { "<Control>d" } },
    { "win.change-target", { "<Control>t" } },
    { "win.cancel-job", { "<Control>period" } },
    { "win.open-settings", { "<Control>i" } },
    { "win.select-none", { "<Control><Shift>a" } },
    { "win.next-node", { "<Control>Page_Down" } },
    { "win.previous-node", { "<Control>Page_Up" } },
    { "win.quantize", { "<Control>r" } },
    { "win.export-model", { "<Control>e" } },
    { "win.export-report", { "<Control><Shift>e" } },
    { "win.export-picture", { "<Control><Shift>p" } },
    { "report.copy", { "<Control><Shift>c" } },
    { "win.toggle-outline", { "F9" } },
    { "win.toggle-inspector", { "<Shift>F9" } },
    { "win.next-bad", { "<Control>j" } },
    { "graph.groups", { "<Control>g" } },
    { "graph.fold-pairs", { "F7" } },
    { "graph.columns", { "<Shift>F7" } },
    { "graph.lasso", { "<Control>l" } },
    { "graph.next-selected", { "F3" } },
    { "graph.previous-selected", { "<Shift>F3" } },
    { "win.grow-selection::upstream", { "<Control><Shift>Up" } },
    { "win.grow-selection::downstream", { "<Control><Shift>Down" } },
    { "win.grow-selection::between", { "<Control><Shift>b" } },
    { "win.grow-selection::blocks", { "<Control>b" } },
    { "win.grow-selection::similar", { "<Control><Shift>t" } },
    { "graph.expand-all", { "F8" } },
    { "graph.collapse-all", { "<Shift>F8" } },
    { "win.previous-bad", { "<Control><Shift>j" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (accels); i++)
    gtk_application_set_accels_for_action (app, accels[i].action, accels[i].accels);
  for (guint i = 0; i < MIN (VN_N_CHOICES, 9); i++)
    {
      g_autofree char *key = g_strdup_printf ("<Control><Alt>%u", i + 1);
      g_autofree char *action = g_strdup_printf ("graph.overlay::%s", vn_overlay_choice_get_info ((VnOverlayChoice) i)->id);

      gtk_application_set_accels_for_action (app, action, (const char * const []) { key, NULL });
    }
  for (guint i = 0; i < G_N_ELEMENTS (page_actions) && i < 9; i++)
    {
      g_autofree char *key = g_strdup_printf ("<Alt>%u", i + 1);

      gtk_application_set_accels_for_action (app, page_actions[i], (const char * const []) { key, NULL });
    }
}

static void
vn_application_startup (GApplication *app)
{
  G_APPLICATION_CLASS (vn_application_parent_class)->startup (app);
  g_action_map_add_action_entries (G_ACTION_MAP (app), actions, G_N_ELEMENTS (actions), app);
  application_set_accels (GTK_APPLICATION (app));
  vn_preferences_apply ();
}

static int
vn_application_handle_local_options (GApplication *app,
                                     GVariantDict *options)
{
  g_autofree char *build = NULL;

  if (!g_variant_dict_contains (options, "version"))
    return -1;
  build = vn_version_dup_build ();
  g_print ("vernier %s\n%s", VN_VERSION, build);
  return 0;
}

static void
vn_application_class_init (VnApplicationClass *klass)
{
  GApplicationClass *app_class = G_APPLICATION_CLASS (klass);

  app_class->activate = vn_application_activate;
  app_class->open = vn_application_open;
  app_class->startup = vn_application_startup;
  app_class->handle_local_options = vn_application_handle_local_options;
}

static void
vn_application_init (VnApplication *self)
{
  g_application_set_option_context_parameter_string (G_APPLICATION (self), _("[MODEL…]"));
  g_application_add_main_option (G_APPLICATION (self), "version", 0, G_OPTION_FLAG_NONE, G_OPTION_ARG_NONE,
                                 _("Show the version and exit"), NULL);
  g_application_set_option_context_summary (G_APPLICATION (self),
                                            _("Shows ONNX models and where quantization hurts them."));
}

/**
 * vn_application_new:
 *
 * Returns: (transfer full): the program; files given on the command line are opened, each in a window of its
 *   own
 */
VnApplication *
vn_application_new (void)
{
  return g_object_new (VN_TYPE_APPLICATION,
                       "application-id", VN_APP_ID,
                       "resource-base-path", "/io/github/vernier/Vernier",
                       "flags", G_APPLICATION_HANDLES_OPEN,
                       NULL);
}
