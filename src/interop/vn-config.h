/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-recipe.h"

#include "vn-dataset.h"

G_BEGIN_DECLS

/* Configuration files of other quantizers. */

/* One input of the network, as a configuration describes it; what it does not say is 0, NULL or of unknown rank. */
typedef struct
{
  char     *name;
  gint64   *shape;          /* nullable: VN_DIM_UNKNOWN where the file has a symbol */
  guint     rank;
  VnDType   dtype;
  gboolean  raw;            /* its files are plain numbers of @dtype */
  char     *list;           /* of files */
  char     *script;
  VnPreprocess preprocess;
} VnConfigInput;

/* Nodes between nodes, until the network is known and edges can be named. */
typedef struct
{
  char  *name;
  char **start_nodes, **end_nodes;
} VnConfigGroup;

/**
 * VnConfig: what a configuration file says.
 * @format: id in vn-configs.def
 * @path: of the file
 * @recipe: settings and rules; complete after vn_config_bind()
 * @notes: what was not understood or cannot be had
 * @model, @prefix, @working_dir: (nullable): as in the file
 * @inputs: of VnConfigInput
 * @has_samples: the file is of a kind that says where samples are
 * @needs_samples: what it asks for cannot be had without samples
 * @n_samples: to calibrate on; 0: all
 * @analyze: a report is to be written
 * @truncate: (nullable): values behind which everything stays float
 * @groups: of VnConfigGroup
 */
typedef struct
{
  const char *format;
  char       *path;
  VnRecipe   *recipe;
  VnNotes    *notes;
  char       *model, *prefix, *working_dir;
  GPtrArray  *inputs;
  gboolean    has_samples, needs_samples;
  guint       n_samples;
  gboolean    analyze;
  char      **truncate;
  GPtrArray  *groups;
} VnConfig;

VnConfig   *vn_config_load       (const char      *path,
                                  GError         **error);
VnConfig   *vn_config_parse      (const char      *text,
                                  gssize           length,
                                  const char      *path,
                                  GError         **error);
void        vn_config_free       (VnConfig        *self);
gboolean    vn_config_bind       (VnConfig        *self,
                                  const VnModel   *model,
                                  gboolean         has_samples,
                                  GError         **error);
gboolean    vn_config_names_samples (const VnConfig *self);
VnDataSpec *vn_config_make_data  (VnConfig        *self,
                                  const VnModel   *model,
                                  const char      *path,      /* nullable: samples from here instead */
                                  GError         **error);
GHashTable *vn_config_make_shapes (VnConfig       *self,
                                   const VnModel  *model,
                                   GError        **error);    /* NULL without error: the network says all */
char       *vn_config_find_file  (VnConfig        *self,
                                  const char      *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnConfig, vn_config_free)

G_END_DECLS
