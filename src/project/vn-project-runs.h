/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The runs that a project lists: a line of figures for each, and a file with all that it found. */

#include "vn-json-fields.h"
#include "vn-run-figures.h"

G_BEGIN_DECLS

/* What runs are kept in: NAME.vernier has its files in NAME.vernier-runs. */
#define VN_PROJECT_RUNS_SUFFIX "-runs"

/**
 * VnProjectRun: a run of a project: who it is, and its figures; the whole run is in a file, or still in memory.
 * @id: letters, digits, “-” and “_”; no two runs of a project have the same
 * @name: (nullable): what the user calls it
 * @time: when it ended, in seconds since 1970
 * @recipe_digest: vn_recipe_dup_digest()
 * @inputs_digest: (nullable): of network and samples: figures of runs that have the same can be compared; %NULL: not known
 * @changes: settings that differ from @preset, “id=value”, and rules as JSON
 * @verdict: id of the VnVerdictLevel, as it was judged then
 * @figures: of @record, all of them; of a project's file those that it keeps
 * @file: (nullable): path of the file that holds the rest; %NULL: not saved yet
 * @record: (nullable): the rest, until it is saved
 */
typedef struct
{
  char         *id, *name;
  gint64        time;
  char         *recipe_digest, *inputs_digest, *preset;
  char        **changes;
  char         *verdict;
  VnRunFigures  figures;
  char         *file;
  VnRun        *record;
  /*< private >*/
  gatomicrefcount ref;
} VnProjectRun;

char         *vn_project_run_make_id      (void);
VnProjectRun *vn_project_run_new          (const char          *id,
                                           VnRun               *record);
VnProjectRun *vn_project_run_copy         (const VnProjectRun  *self);
GPtrArray    *vn_project_runs_new         (void);   /* of VnProjectRun */
VnProjectRun *vn_project_runs_find        (GPtrArray           *runs,
                                           const char          *id);     /* borrowed; NULL: there is none */
void          vn_project_runs_insert      (GPtrArray           *runs,
                                           VnProjectRun        *run);
VnProjectRun *vn_project_run_ref          (VnProjectRun        *self);
void          vn_project_run_unref        (VnProjectRun        *self);
VnRun        *vn_project_run_load         (const VnProjectRun  *self,
                                           const char          *project,
                                           GError             **error);
gboolean      vn_project_run_save         (VnProjectRun        *self,
                                           const char          *project,
                                           GError             **error);
gboolean      vn_project_run_is_own       (const VnProjectRun  *self,
                                           const char          *project);
char         *vn_project_run_dup_own_path (const char          *id,
                                           const char          *project);
gboolean      vn_project_run_fetch        (VnProjectRun        *self,
                                           const char          *project,
                                           GError             **error);
gboolean      vn_project_run_remove_file  (const VnProjectRun  *self,
                                           const char          *project,
                                           gboolean            *removed,   /* nullable */
                                           GError             **error);
char         *vn_project_run_dup_title    (const VnProjectRun  *self);
char         *vn_project_run_dup_time     (const VnProjectRun  *self);
void          vn_project_run_set_name     (VnProjectRun        *self,
                                           const char          *name);   /* nullable */
JsonNode     *vn_project_run_to_json      (const VnProjectRun  *self,
                                           const char          *folder);
VnProjectRun *vn_project_run_from_json    (VnJsonFields        *fields,
                                           const char          *folder);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnProjectRun, vn_project_run_unref)

G_END_DECLS
