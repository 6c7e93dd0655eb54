/* SPDX-License-Identifier: GPL-3.0-or-later */
/* File choosers and message dialogs: the only file that uses what later versions of GTK and libadwaita deprecate. */
#include "vn-compat.h"

#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-report.h"

#include <string.h>

G_GNUC_BEGIN_IGNORE_DEPRECATIONS

typedef struct
{
  VnChooseFunc   func;
  gpointer       data;
  GDestroyNotify destroy;
} Choice;

static void
compat_choice_free (gpointer data)
{
  Choice *self = data;

  if (self->destroy != NULL)
    self->destroy (self->data);
  g_free (self);
}

static void
compat_choice_response (GtkNativeDialog *dialog,
                        int              response,
                        gpointer         data)
{
  Choice *self = data;

  if (response == GTK_RESPONSE_ACCEPT)
    {
      g_autoptr(GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));

      if (file != NULL)
        self->func (file, self->data);
    }
  gtk_native_dialog_destroy (dialog);
  g_object_unref (dialog);
}

/* A line for each form, so that the dialog tells which there are; the ending of the name decides. */
static void
compat_add_report_filters (GtkFileChooser *chooser)
{
  guint n;
  const VnReportPrinter *printers = vn_report_printer_list (&n);
  g_autoptr(GtkFileFilter) every = gtk_file_filter_new ();

  gtk_file_filter_set_name (every, _("Reports (HTML, PDF, Markdown, JSON)"));
  gtk_file_chooser_add_filter (chooser, every);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GtkFileFilter) filter = gtk_file_filter_new ();
      g_autofree char *pattern = g_strconcat ("*", strrchr (printers[i].file, '.'), NULL);

      gtk_file_filter_set_name (filter, _(printers[i].title));
      gtk_file_filter_add_pattern (filter, pattern);
      gtk_file_filter_add_pattern (every, pattern);
      gtk_file_chooser_add_filter (chooser, filter);
    }
}

static void
compat_add_picture_filter (GtkFileChooser *chooser)
{
  static const char * const patterns[] = { "*.png", "*.svg", "*.pdf" };
  g_autoptr(GtkFileFilter) filter = gtk_file_filter_new ();

  gtk_file_filter_set_name (filter, _("Images (PNG, SVG, PDF)"));
  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    gtk_file_filter_add_pattern (filter, patterns[i]);
  gtk_file_chooser_add_filter (chooser, filter);
}

static void
compat_add_any_filter (GtkFileChooser *chooser)
{
  g_autoptr(GtkFileFilter) all = gtk_file_filter_new ();

  gtk_file_filter_set_name (all, _("All files"));
  gtk_file_filter_add_pattern (all, "*");
  gtk_file_chooser_add_filter (chooser, all);
}

static void
compat_add_numbers_filters (GtkFileChooser *chooser)
{
  static const char * const patterns[] = { "*.json", "*.csv", "*.tsv" };
  g_autoptr(GtkFileFilter) filter = gtk_file_filter_new ();

  gtk_file_filter_set_name (filter, _("Node data, profiles, tables (JSON, CSV)"));
  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    gtk_file_filter_add_pattern (filter, patterns[i]);
  gtk_file_chooser_add_filter (chooser, filter);
  compat_add_any_filter (chooser);
}

static void
compat_add_filters (GtkFileChooser *chooser)
{
  static const char * const patterns[] = { "*.onnx", "*.onnxtxt", "*.textproto", "*.pbtxt", "*.prototxt", "*.json", "*.vernier" };
  g_autoptr(GtkFileFilter) models = gtk_file_filter_new ();

  gtk_file_filter_set_name (models, _("ONNX models and projects"));
  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    gtk_file_filter_add_pattern (models, patterns[i]);
  gtk_file_chooser_add_filter (chooser, models);
  compat_add_any_filter (chooser);
}

static void
compat_suggest (GtkFileChooser *chooser,
                const char     *suggestion)
{
  g_autofree char *name = g_path_get_basename (suggestion), *folder = g_path_get_dirname (suggestion);
  g_autoptr(GFile) file = g_file_new_for_path (folder);

  if (g_path_is_absolute (suggestion))
    gtk_file_chooser_set_current_folder (chooser, file, NULL);
  gtk_file_chooser_set_current_name (chooser, name);
}

/**
 * vn_choose_file:
 * @parent: the widget that asks
 * @kind: what is asked for
 * @suggestion: (nullable): proposed file, for saving: a name, or a path
 * @func: called with the file when one was chosen, not at all otherwise
 * @destroy: (nullable): frees @data, in any case
 *
 * Shows a file dialog and returns at once.
 */
void
vn_choose_file (GtkWidget      *parent,
                VnChooseKind    kind,
                const char     *suggestion,
                VnChooseFunc    func,
                gpointer        data,
                GDestroyNotify  destroy)
{
  g_return_if_fail (GTK_IS_WIDGET (parent));

  static const struct {
    const char           *title, *accept;
    GtkFileChooserAction  action;
  } kinds[] = {
    [VN_CHOOSE_MODEL] = { N_("Open Model"), N_("_Open"), GTK_FILE_CHOOSER_ACTION_OPEN },
    [VN_CHOOSE_FOLDER] = { N_("Choose Samples"), N_("_Choose"), GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER },
    [VN_CHOOSE_SAVE_MODEL] = { N_("Export Model"), N_("_Export"), GTK_FILE_CHOOSER_ACTION_SAVE },
    [VN_CHOOSE_SAVE_FOLDER] = { N_("Export Report"), N_("_Export"), GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER },
    [VN_CHOOSE_SAVE_REPORT] = { N_("Export Report"), N_("_Export"), GTK_FILE_CHOOSER_ACTION_SAVE },
    [VN_CHOOSE_SETTINGS] = { N_("Open Recipe or Configuration"), N_("_Open"), GTK_FILE_CHOOSER_ACTION_OPEN },
    [VN_CHOOSE_SAVE_OTHER] = { N_("Save"), N_("_Save"), GTK_FILE_CHOOSER_ACTION_SAVE },
    [VN_CHOOSE_PREPROCESSING] = { N_("Load Preprocessing"), N_("_Open"), GTK_FILE_CHOOSER_ACTION_OPEN },
    [VN_CHOOSE_SCRIPT] = { N_("Choose Python Script"), N_("_Choose"), GTK_FILE_CHOOSER_ACTION_OPEN },
    [VN_CHOOSE_LABELS] = { N_("Choose Labels"), N_("_Choose"), GTK_FILE_CHOOSER_ACTION_OPEN },
    [VN_CHOOSE_SAVE_PICTURE] = { N_("Export Graph Image"), N_("_Export"), GTK_FILE_CHOOSER_ACTION_SAVE },
    [VN_CHOOSE_NUMBERS] = { N_("Color the Graph by a File"), N_("_Open"), GTK_FILE_CHOOSER_ACTION_OPEN },
    [VN_CHOOSE_SAMPLE] = { N_("Choose Samples"), N_("_Choose"), GTK_FILE_CHOOSER_ACTION_OPEN },
    [VN_CHOOSE_MODEL_FOLDER] = { N_("Open Folder of a Language Model"), N_("_Open"), GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER },
    [VN_CHOOSE_TOKENIZER] = { N_("Choose Tokenizer"), N_("_Choose"), GTK_FILE_CHOOSER_ACTION_OPEN },
    [VN_CHOOSE_EXPORT_FOLDER] = { N_("Export To"), N_("_Choose"), GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER },
  };
  GtkWindow *window = GTK_WINDOW (gtk_widget_get_ancestor (parent, GTK_TYPE_WINDOW));
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (_(kinds[kind].title), window, kinds[kind].action,
                                                              _(kinds[kind].accept), _("_Cancel"));
  Choice *choice = g_new0 (Choice, 1);

  *choice = (Choice) { func, data, destroy };
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  if (kind == VN_CHOOSE_MODEL || kind == VN_CHOOSE_SAVE_MODEL)
    compat_add_filters (GTK_FILE_CHOOSER (dialog));
  if (kind == VN_CHOOSE_SAVE_REPORT)
    compat_add_report_filters (GTK_FILE_CHOOSER (dialog));
  if (kind == VN_CHOOSE_SAVE_PICTURE)
    compat_add_picture_filter (GTK_FILE_CHOOSER (dialog));
  if (kind == VN_CHOOSE_NUMBERS)
    compat_add_numbers_filters (GTK_FILE_CHOOSER (dialog));
  if (suggestion != NULL)
    compat_suggest (GTK_FILE_CHOOSER (dialog), suggestion);
  g_signal_connect_data (dialog, "response", G_CALLBACK (compat_choice_response), choice,
                         (GClosureNotify) (void (*) (void)) compat_choice_free, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
compat_error_response (AdwMessageDialog *dialog,
                       const char       *response,
                       const char       *text)
{
  if (g_str_equal (response, "copy"))
    gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (dialog)), text);
}

/* What the user can do about an error, by its code. */
static const char *
compat_get_advice (const GError *error)
{
  if (error->domain != VN_ERROR)
    return NULL;
  switch ((VnError) error->code)
    {
    case VN_ERROR_MALFORMED:
      return _("The file does not conform to its format. Export it again from its source.");
    case VN_ERROR_LIMIT:
      return _("The file exceeds a size limit of Vernier.");
    case VN_ERROR_MEMORY:
      return _("Close other programs, or use fewer threads or smaller inputs. Nothing was written.");
    case VN_ERROR_UNSUPPORTED:
      return _("Vernier cannot run or write this yet. Leaving the node in float may help.");
    case VN_ERROR_SHAPE:
      return _("Check that the samples have the size and layout that the model expects.");
    case VN_ERROR_MISSING_DATA:
      return _("Check the sample folder on the Data page of the quantization assistant.");
    case VN_ERROR_NUMERIC:
      return _("Check the preprocessing: values far outside the usual range cause this.");
    case VN_ERROR_SETTING:
      return _("Change the setting named above and try again.");
    case VN_ERROR_VERDICT:      /* of the command line alone */
      return NULL;
    }
  return NULL;
}

/* A heading that is wider than the dialog may be: libadwaita measures it in one line, which later versions of GTK warn of. */
static void
compat_wrap (GtkWidget  *widget,
             const char *heading)
{
  if (GTK_IS_LABEL (widget) && g_str_equal (gtk_label_get_text (GTK_LABEL (widget)), heading))
    gtk_label_set_wrap (GTK_LABEL (widget), TRUE);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    compat_wrap (child, heading);
}

static GtkWidget *
compat_dialog_new (GtkWindow  *parent,
                   const char *heading,
                   const char *body)
{
  GtkWidget *dialog = adw_message_dialog_new (parent, heading, body);

  compat_wrap (dialog, heading);
  return dialog;
}

/**
 * vn_show_error:
 * @heading: what failed
 * @error: why
 *
 * Shows a dialog that tells what happened, where, and what to do about it, with a button that copies the
 * text.
 */
void
vn_show_error (GtkWidget    *parent,
               const char   *heading,
               const GError *error)
{
  GtkWindow *window;
  const char *advice;
  g_autofree char *body = NULL;
  GtkWidget *dialog;

  g_return_if_fail (GTK_IS_WIDGET (parent));
  g_return_if_fail (error != NULL);

  window = GTK_WINDOW (gtk_widget_get_ancestor (parent, GTK_TYPE_WINDOW));
  advice = compat_get_advice (error);
  body = advice != NULL ? g_strdup_printf ("%s\n\n%s", error->message, advice) : g_strdup (error->message);
  dialog = compat_dialog_new (window, heading, body);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog),
                                    "copy", _("Co_py"),
                                    "close", _("_Close"), NULL);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "close");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "close");
  g_signal_connect_data (dialog, "response", G_CALLBACK (compat_error_response), g_strdup (body),
                         (GClosureNotify) (void (*) (void)) g_free, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

static void
compat_file_shown (GObject      *window,
                   GAsyncResult *result,
                   gpointer      path)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *shown = path;

  if (gtk_show_uri_full_finish (GTK_WINDOW (window), result, &error) || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  g_prefix_error (&error, "%s: ", shown);
  vn_show_error (GTK_WIDGET (window), _("The file could not be shown"), error);
}

/**
 * vn_show_file:
 * @path: such as a page of the help
 *
 * Shows a file in the program that is there for its kind; tells if there is none.
 */
void
vn_show_file (GtkWidget  *parent,
              const char *path)
{
  GtkWindow *window = GTK_WINDOW (gtk_widget_get_ancestor (parent, GTK_TYPE_WINDOW));
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL);

  g_return_if_fail (uri != NULL);

  gtk_show_uri_full (window, uri, GDK_CURRENT_TIME, NULL, compat_file_shown, g_strdup (path));
}

static void
compat_folder_shown (GObject      *connection,
                     GAsyncResult *result,
                     gpointer      data)
{
  g_autoptr(GtkWidget) parent = g_object_steal_data (data, "vn-parent");
  g_autoptr(GFile) file = G_FILE (data);
  g_autoptr(GVariant) answer = connection != NULL
                               ? g_dbus_connection_call_finish (G_DBUS_CONNECTION (connection), result, NULL) : NULL;
  g_autoptr(GFile) folder = NULL;

  if (answer != NULL)
    return;
  folder = g_file_get_parent (file);
  if (folder != NULL && g_file_peek_path (folder) != NULL && gtk_widget_get_root (parent) != NULL)
    vn_show_file (parent, g_file_peek_path (folder));
}

/**
 * vn_show_in_folder:
 * @path: of a file
 *
 * Lets the program for files show the folder with the file selected; if there is none that can, the folder.
 */
void
vn_show_in_folder (GtkWidget  *parent,
                   const char *path)
{
  GDBusConnection *bus = g_application_get_default () != NULL
                         ? g_application_get_dbus_connection (g_application_get_default ()) : NULL;
  GFile *file = g_file_new_for_path (path);
  g_autofree char *uri = g_file_get_uri (file);
  GVariantBuilder uris;

  g_return_if_fail (GTK_IS_WIDGET (parent));

  g_object_set_data (G_OBJECT (file), "vn-parent", g_object_ref (parent));
  if (bus == NULL)
    {
      compat_folder_shown (NULL, NULL, file);
      return;
    }
  g_variant_builder_init (&uris, G_VARIANT_TYPE_STRING_ARRAY);
  g_variant_builder_add (&uris, "s", uri);
  g_dbus_connection_call (bus, "org.freedesktop.FileManager1", "/org/freedesktop/FileManager1", "org.freedesktop.FileManager1",
                          "ShowItems",
                          g_variant_new ("(ass)", &uris, ""), NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, compat_folder_shown, file);
}

typedef struct
{
  VnAskFunc func;
  gpointer  data;
} Asking;

static void
compat_ask_response (AdwMessageDialog *dialog,
                     const char       *response,
                     const Asking     *asking)
{
  if (g_str_equal (response, "yes"))
    asking->func (asking->data);
}

static void
compat_ask (GtkWidget             *parent,
            const char            *heading,
            const char            *body,
            const char            *yes,
            AdwResponseAppearance  appearance,
            VnAskFunc              func,
            gpointer               data)
{
  GtkWidget *dialog = compat_dialog_new (GTK_WINDOW (gtk_widget_get_ancestor (parent, GTK_TYPE_WINDOW)), heading, body);
  Asking *asking = g_new0 (Asking, 1);

  *asking = (Asking) { func, data };
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _("_Cancel"), "yes", yes, NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "yes", appearance);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), appearance == ADW_RESPONSE_DESTRUCTIVE
                                           ? "cancel" : "yes");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  g_signal_connect_data (dialog, "response", G_CALLBACK (compat_ask_response), asking, (GClosureNotify) (void (*) (void)) g_free,
                         0);
  gtk_window_present (GTK_WINDOW (dialog));
}

/**
 * vn_ask_replace:
 * @paths: (element-type filename): files that are there
 * @func: called if they may be replaced; @data must be there as long as @parent
 */
void
vn_ask_replace (GtkWidget *parent,
                GPtrArray *paths,
                VnAskFunc  func,
                gpointer   data)
{
  g_autoptr(GString) names = g_string_new (NULL);
  g_autofree char *heading = NULL;

  g_return_if_fail (GTK_IS_WIDGET (parent) && paths != NULL && paths->len > 0 && func != NULL);

  heading = g_strdup_printf (ngettext ("Replace Existing File?", "Replace %u Existing Files?", paths->len), paths->len);
  for (guint i = 0; i < paths->len; i++)
    {
      g_autofree char *name = g_filename_display_basename (g_ptr_array_index (paths, i));

      g_string_append_printf (names, "%s%s", i > 0 ? "\n" : "", name);
    }
  compat_ask (parent, heading, names->str, _("_Replace"), ADW_RESPONSE_DESTRUCTIVE, func, data);
}

/**
 * vn_ask_install:
 * @runtime: what is installed
 * @folder: (type filename): into which
 * @func: called if that is wanted; @data must be there as long as @parent
 */
void
vn_ask_install (GtkWidget             *parent,
                const VnTargetRuntime *runtime,
                const char            *folder,
                VnAskFunc              func,
                gpointer               data)
{
  g_autofree char *shown = NULL, *body = NULL, *heading = NULL;

  g_return_if_fail (GTK_IS_WIDGET (parent) && runtime != NULL && folder != NULL && func != NULL);

  shown = vn_format_path (folder);
  heading = g_strdup_printf (_("Install %s?"), runtime->title);
  body = g_strdup_printf (_("A Python environment of its own is made in %s, and pip downloads %s into it, "
                            "about %u\u00a0MB, from "
                            "where it takes packages. Nothing else is changed; to remove it, delete that folder."), shown,
                          runtime->requirements, runtime->megabytes);
  compat_ask (parent, heading, body, _("_Install"), ADW_RESPONSE_SUGGESTED, func, data);
}

/**
 * vn_ask_where:
 * @text: what is not where it was
 * @func: called if the user wants to look for it; @data must be there as long as @parent
 */
void
vn_ask_where (GtkWidget  *parent,
              const char *text,
              VnAskFunc   func,
              gpointer    data)
{
  g_return_if_fail (GTK_IS_WIDGET (parent) && text != NULL && func != NULL);

  compat_ask (parent, _("Where Is the Model Now?"), text, _("_Locate…"), ADW_RESPONSE_SUGGESTED, func, data);
}

G_GNUC_END_IGNORE_DEPRECATIONS
