/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Runs of the command line that projects keep. */

#include "vn-cmd.h"
#include "vn-project-file.h"

G_BEGIN_DECLS

/**
 * VnCmdKeep: where a run is kept.
 * @save: (nullable): path of a project that is asked for
 * @given: (nullable): path of the project that was given in the place of a model
 * @model: path of the network
 * @run: id of the run
 * @lines: gets what is printed of it, for people
 * @sizes: (nullable) (element-type utf8 VnShape): that inputs were given
 */
typedef struct
{
  const char *save, *given, *model, *run;
  GString    *lines;
  GHashTable *sizes;
} VnCmdKeep;

VnProject *vn_cmd_make_project (const VnCmdKeep  *self,
                                const VnModel    *model,
                                const VnDataSpec *data,      /* nullable */
                                const VnRecipe   *recipe,
                                GError          **error);
gboolean   vn_cmd_keep_run     (const VnCmdKeep  *self,
                                VnRun            *result,
                                GError          **error);

G_END_DECLS
