/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"
#include "vn-node-item.h"
#include "vn-window.h"

G_BEGIN_DECLS

/* A window, and a file with a small network for it. */
#define SECONDS 300   /* that a busy machine may take for what takes one */

typedef struct
{
  VnWindow      *window;
  VnDocument    *document;
  char          *folder;
  char          *model_path;
  guint          n_failed;
} Fixture;

void        vn_window_fixture_init        (int            *argc,
                                           char         ***argv);
void        vn_window_fixture_write_model (const char     *path,
                                           gboolean        with_names);
char       *vn_window_fixture_make_folder (const char    *above);     /* of a language model; its path */
void        vn_window_fixture_clear_folder (const char   *folder);
void        vn_window_fixture_set_up      (Fixture        *fixture,
                                           gconstpointer   data);
void        vn_window_fixture_tear_down   (Fixture        *fixture,
                                           gconstpointer   data);
gboolean    vn_window_fixture_is_idle     (gpointer        document);
gboolean    vn_window_fixture_has_model   (gpointer        document);
void        vn_window_fixture_open_model  (Fixture        *fixture);
void        vn_window_fixture_quantize    (Fixture        *fixture);    /* on random values */
gboolean    vn_window_fixture_has_origins (gpointer        document);
void        vn_window_fixture_find_origins (Fixture       *fixture);    /* opens the model and quantizes it */
GtkWidget  *vn_window_fixture_open_review (Fixture        *fixture);    /* the wizard, at this step */
VnNodeItem *vn_window_fixture_get_item    (Fixture        *fixture,
                                           const char     *label);

G_END_DECLS
