/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A temporary folder of samples, and what is asked of the samples in it. */

#include "vn-dataset.h"

G_BEGIN_DECLS

typedef struct
{
  char *path;
} Folder;

extern const VnInputSpec picture_input;      /* "image", 1x3x1x1 */
extern const VnInputSpec vector_input;       /* "v", 1x3 */

void folder_setup (Folder *self,
                   gconstpointer data);
void folder_teardown (Folder *self,
                      gconstpointer data);
void folder_put (const Folder *self,
                 const char *name,
                 const void *data,
                 gssize size);
void folder_put_text (const Folder *self,
                      const char *name,
                      const char *text);
void folder_put_npy (const Folder *self,
                     const char *name,
                     VnShape shape,
                     float first);
void folder_put_picture (const Folder *self,
                         const char *name);
VnDataset *folder_open (const Folder *self,
                        const char *name,
                        const VnInputSpec *inputs,
                        guint n_inputs,
                        guint max_samples,
                        VnNotes *notes,
                        GError **error);
void dataset_check_names (VnDataset *dataset,
                          const char *expected);
double dataset_load_first (VnDataset *dataset,
                           guint i,
                           guint n_inputs,
                           guint input);

#define FOLDER_TEST(name, func) g_test_add (name, Folder, NULL, folder_setup, func, folder_teardown)

G_END_DECLS
