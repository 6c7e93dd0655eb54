/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-target-runtime.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* What later versions of GTK and libadwaita replace lives behind these functions, in one file: file
 * choosers and message dialogs. */

typedef enum
{
  VN_CHOOSE_MODEL,
  VN_CHOOSE_FOLDER,
  VN_CHOOSE_SAVE_MODEL,
  VN_CHOOSE_SAVE_FOLDER,
  VN_CHOOSE_SAVE_REPORT,
  VN_CHOOSE_SETTINGS,
  VN_CHOOSE_SAVE_OTHER,
  VN_CHOOSE_PREPROCESSING,
  VN_CHOOSE_SCRIPT,
  VN_CHOOSE_LABELS,
  VN_CHOOSE_SAVE_PICTURE,
  VN_CHOOSE_EXPORT_FOLDER,
  VN_CHOOSE_NUMBERS,
  VN_CHOOSE_SAMPLE,
  VN_CHOOSE_MODEL_FOLDER,
  VN_CHOOSE_TOKENIZER,
} VnChooseKind;

typedef void (*VnChooseFunc) (GFile    *file,
                              gpointer  data);

void vn_choose_file    (GtkWidget     *parent,
                        VnChooseKind   kind,
                        const char    *suggestion,
                        VnChooseFunc   func,
                        gpointer       data,
                        GDestroyNotify destroy);

void vn_show_error     (GtkWidget     *parent,
                        const char    *heading,
                        const GError  *error);
void vn_show_file      (GtkWidget     *parent,
                        const char    *path);
void vn_show_in_folder (GtkWidget     *parent,
                        const char    *path);

/* Called if the answer is yes, not at all otherwise. */
typedef void (*VnAskFunc) (gpointer data);

void vn_ask_replace    (GtkWidget     *parent,
                        GPtrArray     *paths,
                        VnAskFunc      func,
                        gpointer       data);
void vn_ask_install    (GtkWidget             *parent,
                        const VnTargetRuntime *runtime,
                        const char            *folder,
                        VnAskFunc              func,
                        gpointer               data);
void vn_ask_where      (GtkWidget     *parent,
                        const char    *text,
                        VnAskFunc      func,
                        gpointer       data);

G_END_DECLS
