/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drop-source FILE...: a window with a label for each file, to be dragged with the mouse into another program, as from a file
 * manager. */
#include <gtk/gtk.h>

static GdkContentProvider *
drop_source_prepare (GtkDragSource *source,
                     double         x,
                     double         y,
                     GFile         *file)
{
  GSList files = { file, NULL };
  g_auto(GValue) value = G_VALUE_INIT;

  g_value_init (&value, GDK_TYPE_FILE_LIST);
  g_value_take_boxed (&value, gdk_file_list_new_from_list (&files));
  return gdk_content_provider_new_for_value (&value);
}

static GtkWidget *
drop_source_make_label (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  GtkWidget *label = gtk_label_new (name);
  GtkDragSource *source = gtk_drag_source_new ();

  gtk_drag_source_set_actions (source, GDK_ACTION_COPY);
  g_signal_connect_data (source, "prepare", G_CALLBACK (drop_source_prepare), g_file_new_for_commandline_arg (path),
                         (GClosureNotify) (void (*) (void)) g_object_unref, 0);
  gtk_widget_add_controller (label, GTK_EVENT_CONTROLLER (source));
  gtk_widget_set_size_request (label, 150, 40);
  return label;
}

int
main (int    argc,
      char **argv)
{
  GtkWidget *window, *box;

  gtk_init ();
  window = gtk_window_new ();
  box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  for (int i = 1; i < argc; i++)
    gtk_box_append (GTK_BOX (box), drop_source_make_label (argv[i]));
  gtk_window_set_child (GTK_WINDOW (window), box);
  gtk_window_set_title (GTK_WINDOW (window), "drop-source");
  gtk_window_set_decorated (GTK_WINDOW (window), FALSE);
  gtk_window_present (GTK_WINDOW (window));
  while (g_list_model_get_n_items (gtk_window_get_toplevels ()) > 0)
    g_main_context_iteration (NULL, TRUE);
  return 0;
}
