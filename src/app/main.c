/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entry point of the window. */
#include "vn-application.h"

#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-ort-child.h"
#include "vn-place.h"

#include <signal.h>

int
main (int    argc,
      char **argv)
{
  g_autoptr(VnApplication) app = NULL;
  int status;

  if (vn_ort_child_take_over (argc, argv, &status))
    return status;

  signal (SIGXFSZ, SIG_IGN);     /* a file that may not grow so large is an error like any other */
  vn_memory_keep_frames ();
  vn_memory_share_heap ();
  vn_place_find_locale (VN_LOCALEDIR);
  g_set_application_name (_("Vernier"));
  gtk_window_set_default_icon_name (VN_APP_ID);

  app = vn_application_new ();
  return g_application_run (G_APPLICATION (app), argc, argv);
}
