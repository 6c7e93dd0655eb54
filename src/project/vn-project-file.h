/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-file-set.h"
#include "vn-project-runs.h"

G_BEGIN_DECLS

#define VN_PROJECT_SUFFIX ".vernier"

/**
 * VnProject: the work on one network, as a file keeps it.
 * @model: path of the network
 * @digest: (nullable): vn_model_dup_digest() of the network when the file was written
 * @data: (nullable): samples
 * @sizes: (nullable) (element-type utf8 VnShape): of inputs that the network leaves open
 * @recipe: settings and rules
 * @runs: (element-type VnProjectRun): in the order in which they were added; there may be any number
 */
typedef struct
{
  char       *model;
  char       *digest;
  VnDataSpec *data;
  GHashTable *sizes;
  VnRecipe   *recipe;
  GPtrArray  *runs;
} VnProject;

VnProject *vn_project_new      (const char       *model,
                                const char       *digest,      /* nullable */
                                const VnDataSpec *data,        /* nullable */
                                const VnRecipe   *recipe);
void       vn_project_free     (VnProject        *self);
void       vn_project_set_sizes (VnProject       *self,
                                 GHashTable      *sizes);     /* nullable */
GHashTable *vn_project_merge_sizes (const VnProject *self,
                                    GHashTable      *given);  /* nullable */
gboolean   vn_project_is_file  (const char       *path);
VnProject *vn_project_load     (const char       *path,
                                GError          **error);
VnProject *vn_project_from_json (const char      *text,
                                 gssize           length,     /* -1: up to the NUL */
                                 const char      *name,
                                 const char      *folder,
                                 GError         **error);
gboolean   vn_project_save     (VnProject        *self,
                                const char       *path,
                                GError          **error);
char      *vn_project_to_json  (const VnProject  *self,
                                const char       *folder);
gboolean   vn_project_is_about (const VnProject  *self,
                                const VnModel    *model);
gboolean   vn_project_runs_script (const VnProject *self);

VnProjectRun *vn_project_find_run   (const VnProject *self,
                                     const char      *id);
void          vn_project_add_run    (VnProject       *self,
                                     VnProjectRun    *run);
gboolean      vn_project_keep_runs  (VnProject       *self,
                                     const char      *path,
                                     GError         **error);
gboolean      vn_project_merge_runs (VnProject       *self,
                                     const char      *path,
                                     GPtrArray       *removed,   /* nullable */
                                     GError         **error);
gboolean      vn_project_remove_run (VnProject       *self,
                                     const char      *path,
                                     const char      *id,
                                     gboolean        *file_removed,
                                     GError         **error);
void          vn_project_add_files  (const VnProject *self,
                                     const char      *path,      /* nullable */
                                     VnFileSet       *set);
void          vn_project_add_outputs (VnFileSet      *set,
                                      const char     *path,
                                      const char     *run,
                                      const char     *what);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnProject, vn_project_free)

G_END_DECLS
