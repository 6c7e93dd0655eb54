/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A temporary folder for a model and its weights, removed with all files in it. */

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  char *folder;
  char *path, *data;     /* m.onnx, m.onnx.data in there */
} ModelFolder;

void model_folder_set_up    (ModelFolder   *self,
                             gconstpointer  data);
void model_folder_tear_down (ModelFolder   *self,
                             gconstpointer  data);

#define MODEL_FOLDER_TEST(name, func) \
  g_test_add (name, ModelFolder, NULL, model_folder_set_up, func, model_folder_tear_down)

G_END_DECLS
