/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-dataset.h"
#include "vn-recipe.h"

G_BEGIN_DECLS

#define VN_PROJECT_SUFFIX ".vernier"

/**
 * VnProject: the work on one network, as a file keeps it.
 * @model: path of the network
 * @digest: (nullable): vn_model_dup_digest() of the network when the file was written
 * @data: (nullable): samples
 * @recipe: settings and rules
 */
typedef struct
{
  char       *model;
  char       *digest;
  VnDataSpec *data;
  VnRecipe   *recipe;
} VnProject;

VnProject *vn_project_new      (const char       *model,
                                const char       *digest,      /* nullable */
                                const VnDataSpec *data,        /* nullable */
                                const VnRecipe   *recipe);
void       vn_project_free     (VnProject        *self);
gboolean   vn_project_is_file  (const char       *path);
VnProject *vn_project_load     (const char       *path,
                                GError          **error);
gboolean   vn_project_save     (const VnProject  *self,
                                const char       *path,
                                GError          **error);
gboolean   vn_project_is_about (const VnProject  *self,
                                const VnModel    *model);
gboolean   vn_project_runs_script (const VnProject *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnProject, vn_project_free)

G_END_DECLS
