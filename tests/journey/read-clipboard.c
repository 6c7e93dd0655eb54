/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the text that another program has copied. */
#include <gtk/gtk.h>

static void
read_cb (GObject      *source,
         GAsyncResult *result,
         gpointer      data)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *text = gdk_clipboard_read_text_finish (GDK_CLIPBOARD (source), result, &error);

  if (text != NULL)
    g_print ("%s", text);
  else
    g_printerr ("nothing was copied: %s\n", error->message);
  g_main_loop_quit (data);
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(GMainLoop) loop = g_main_loop_new (NULL, FALSE);

  gtk_init ();
  gdk_clipboard_read_text_async (gdk_display_get_clipboard (gdk_display_get_default ()), NULL, read_cb, loop);
  g_main_loop_run (loop);
  return 0;
}
