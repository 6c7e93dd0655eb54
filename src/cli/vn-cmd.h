/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the commands share: their description, common options, opening of models, and printing. */

#include "vn-backend.h"
#include "vn-bench.h"
#include "vn-config.h"
#include "vn-curve.h"
#include "vn-genai-folder.h"
#include "vn-jobs.h"
#include "vn-json.h"
#include "vn-onnx.h"
#include "vn-report-model.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

enum { VN_EXIT_DONE = 0, VN_EXIT_FAILED = 1, VN_EXIT_USAGE = 2 };

/* Groups of options, in the order of --help-all and of the manual: those of settings between two of the command line. */
typedef enum
{
  VN_CMD_GROUP_DATA,
#define VN_SETTING_GROUP(SYMBOL, ...) VN_CMD_GROUP_##SYMBOL,
#include "vn-setting-groups.def"
#undef VN_SETTING_GROUP
  VN_CMD_GROUP_GENERAL,
  VN_N_CMD_GROUPS
} VnCmdGroup;

/* In a list of GOptionEntry: what follows belongs to this group. It is no option, GOption never sees it. */
#define VN_CMD_GROUP_MARK(GROUP) { "", 0, VN_CMD_GROUP_##GROUP, G_OPTION_ARG_NONE, NULL, NULL, NULL }

/**
 * VnCmd: one command, in a cmd-*.c file, named in vn-cmds.def.
 * @usage: what follows the name: "MODEL [MODEL ...]"
 * @options: of the command alone, with VN_CMD_GROUP_MARK() between; --json and --help are everybody's
 * @common: (nullable): the options that --help explains, the most common first; all if it is %NULL
 * @without_model: takes no options about running a model
 * @has_settings: takes an option for each setting of a recipe
 * @writes_model: takes options about where weights go
 * @in_ranks: several processes may share it
 * @shares_loops: by the samples of its loops: each does all the rest, until vn_cmd_go_on_alone(); the first prints and writes
 * @needs_data: takes --data and the options of preprocessing
 * @holds_out: takes --held-out
 * @takes_trust: takes --trust
 * @n_args: how many positional arguments it must get
 * @takes_more: or more
 * @lists: (nullable): an option that lists something and needs none of them
 * @run: prints its result through @out; %FALSE with @error otherwise
 */
typedef struct
{
  const char         *name;
  const char         *usage;
  const char         *summary;      /* N_() */
  const GOptionEntry *options;
  const char * const *common;
  gboolean            without_model;
  gboolean            in_ranks;
  gboolean            shares_loops;
  gboolean            needs_data;
  gboolean            holds_out;
  gboolean            takes_trust;
  gboolean            has_settings;
  gboolean            writes_model;
  int                 n_args;
  gboolean            takes_more;
  const gboolean     *lists;
  gboolean          (*run) (char **args, JsonBuilder *json, GError **error);
} VnCmd;

/* Set by the options every command shares (vn-cmd-options.c). */
typedef struct
{
  gboolean  json, progress;
  int       threads;
  char    **shapes;        /* --shape NAME=1x3x224x224 */
  char    **dims;          /* --dim NAME=N */
  char    **inputs;        /* --input NAME=FILE */
  char     *data;
  int       samples;
  int       held_out;      /* negative: not given */
  char     *preprocess, *mean, *std, *color, *layout, *size, *fit, *resample;
  int       resize, crop;
  gint64    seed;
  char     *python, *raw_type, *tokenizer;
  int       window, stride;
  int       timeout;
  gboolean  trust;
  char     *engine, *custom_ops, *ep_library, *simulated_target;
  char    **ep_options;    /* --ep-option KEY=VALUE */
} VnCmdOptions;

extern VnCmdOptions vn_cmd_options;

const GOptionEntry *vn_cmd_common_entries (void);
const GOptionEntry *vn_cmd_model_entries  (void);
const GOptionEntry *vn_cmd_data_entries   (void);
const GOptionEntry *vn_cmd_held_out_entries (void);
const GOptionEntry *vn_cmd_trust_entries  (void);
const GOptionEntry *vn_cmd_setting_entries (void);
const GOptionEntry *vn_cmd_write_entries  (void);
gboolean            vn_cmd_fill_write_options (VnOnnxWriteOptions  *write,
                                               GError             **error);
gboolean            vn_cmd_apply_settings  (VnRecipe     *recipe,
                                            GError      **error);
gboolean            vn_cmd_choose_target   (const char  **preset,
                                            const char   *target,
                                            gboolean      wide,
                                            GError      **error);
VnRecipe           *vn_cmd_make_recipe     (const VnRecipe *start,
                                            const char   *preset,
                                            const char   *recipe_file,
                                            char        **rules,
                                            char        **excludes,
                                            GError      **error);
gboolean            vn_cmd_add_rules       (VnRecipe     *recipe,
                                            char        **rules,
                                            char        **excludes,
                                            GError      **error);
char               *vn_cmd_take_python    (gboolean      is_used);
VnDataSpec         *vn_cmd_make_data_spec (GError      **error);
void                vn_cmd_hold_out       (VnDataSpec   *spec,
                                           gint          default_held_out);
void                vn_cmd_take_metadata  (VnDataSpec       *spec,     /* nullable */
                                           const VnModel    *model);
VnDataSpec         *vn_cmd_take_data_spec (const VnDataSpec *kept,     /* nullable */
                                           const char  *project,
                                           GError     **error);
gboolean            vn_cmd_check_trust    (VnDataSpec   *spec,
                                           const char   *file,
                                           GError      **error);
void                vn_cmd_trust_scripts  (VnDataSpec   *spec,
                                           const char   *file);
void                vn_cmd_note_idle_data (VnNotes     *notes,
                                           const char * const *effective,
                                           const char  *why);
void                vn_cmd_note_idle_kept (VnNotes     *notes,
                                           const VnDataSpec *spec);
gboolean            vn_cmd_complete_data_spec (VnDataSpec  *spec,
                                               GError     **error);
gboolean            vn_cmd_check_input    (const VnModel *model,
                                           const char   *option,
                                           const char   *name,
                                           GError      **error);
GHashTable         *vn_cmd_parse_shapes   (const VnModel *model,
                                           GError       **error);    /* NULL without error: none given */

/* Runs a job to its end with a progress bar on a terminal; Ctrl-C cancels it. */
gboolean            vn_cmd_run_work       (VnBench      *bench,
                                           GError      **error);
gboolean            vn_cmd_has_left       (void);
gboolean            vn_cmd_run_job        (VnJob        *job,
                                           GError      **error);
gboolean            vn_cmd_check_models   (GError      **error);
/* Files that are written from here on appear together when the command has done all, or not at all. */
void                vn_cmd_catch_interrupts (void);
void                vn_cmd_hold_files     (void);
gboolean            vn_cmd_lock_projects  (const char   *project,    /* nullable */
                                           const char   *other,      /* nullable */
                                           GError      **error);
gboolean            vn_cmd_end_files      (gboolean      done,
                                           GError      **error);
gboolean            vn_cmd_take_backend   (VnBackend   **taken,
                                           GError      **error);
void                vn_cmd_drop_backend   (void);
VnModel            *vn_cmd_open_model     (const char   *path,
                                           GError      **error);
VnModel            *vn_cmd_open_model_sized (const char *path,
                                           GHashTable **shapes,
                                           GError     **error);
VnModel            *vn_cmd_open_to_run    (const char   *path,
                                           GHashTable  **shapes,
                                           GHashTable  **given,
                                           GError      **error);

/* ---- folders of onnxruntime-genai (vn-cmd-folder.c) ---- */

/**
 * VnCmdFolder: the folder that a command was given in place of a model.
 * @from: (nullable): none was
 * @to: (nullable): the one that is written
 */
typedef struct
{
  VnGenaiFolder *from;
  char          *to;
} VnCmdFolder;

gboolean            vn_cmd_folder_open        (VnCmdFolder        *self,
                                               const char        **path,
                                               char              **output,
                                               GError            **error);
void                vn_cmd_folder_clear       (VnCmdFolder        *self);
gboolean            vn_cmd_folder_add_outputs (const VnCmdFolder  *self,
                                               const VnModel      *model,
                                               VnFileSet          *files,
                                               GError            **error);
gboolean            vn_cmd_folder_copy        (const VnCmdFolder  *self,
                                               const VnModel      *model,
                                               GError            **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnCmdFolder, vn_cmd_folder_clear)

VnConfig           *vn_cmd_load_config    (const char   *path,
                                           GError      **error);

/* What the options that several commands share read. */
VnFileSet          *vn_cmd_new_files      (const char   *model);

/* Processes that share a command (vn-ranks.h): each calls these at the same places. */
GPtrArray          *vn_cmd_gather         (GBytes       *own,
                                           GError      **error);
void                vn_cmd_wake_for_gathering (GSource  *source);     /* nullable */
gboolean            vn_cmd_is_gathering   (void);
void                vn_cmd_end_gathering  (gboolean      good);
gboolean            vn_cmd_agree          (GError       *own,
                                           GError      **error);
gboolean            vn_cmd_go_on_alone    (void);
gboolean            vn_cmd_share_stats    (VnStats     **stats,
                                           GError      **error);
gboolean            vn_cmd_join_stats     (VnStats     **stats,
                                           VnNotes      *notes,
                                           GError      **error);

/* What a cancelled command says: that what it has learned is in a file beside @path, if it is. */
void                vn_cmd_set_cancel_note (const char   *path);
gboolean            vn_cmd_clear_kept_rounding (const char *save_stats,  /* nullable */
                                                GError    **error);
const char         *vn_cmd_get_cancel_note (void);

/* What a command has done is written and told, but it is no success. */
void                vn_cmd_fail           (const GError *reason);
const GError       *vn_cmd_get_failure    (void);                /* nullable */

/* Standard output (vn-cmd-output.c). With --json nothing but the result goes there: text for people is dropped then. */
void                vn_cmd_open_streams   (void);
void                vn_cmd_put            (const char   *text);
void                vn_cmd_print          (const char   *format,
                                           ...) G_GNUC_PRINTF (1, 2);
void                vn_cmd_print_lines    (const char   *lines);
void                vn_cmd_print_facts    (JsonBuilder  *json,
                                           GPtrArray    *facts);
void                vn_cmd_warn           (const char   *format,
                                           ...) G_GNUC_PRINTF (1, 2);
void                vn_cmd_print_notes    (VnNotes      *notes);     /* to stderr */
/* to stderr: those that vn_cmd_print_verdict() does not tell */
void                vn_cmd_print_run_notes (VnNotes     *notes);
VnReportModel      *vn_cmd_new_report     (VnRun               *run,
                                           gboolean             whole);   /* as with --json, not the verdict alone */
void                vn_cmd_json_report    (JsonBuilder         *json,
                                           const VnReportModel *report);
void                vn_cmd_print_verdict  (const VnReportModel *report);
void                vn_cmd_print_runtime  (const VnRun       *result);
void                vn_cmd_print_verified_nodes (const VnVerification *found);
void                vn_cmd_print_result   (VnRun             *result,
                                           const VnReportModel *report,
                                           const char        *output,     /* nullable */
                                           const char        *weakest);   /* nullable */
void                vn_cmd_json_verdict   (JsonBuilder         *json,
                                           const VnReportModel *report);
gboolean            vn_cmd_check_least_verdict (const char *least,     /* nullable */
                                                GError    **error);
void                vn_cmd_judge_verdict  (const VnRun       *run,
                                           const char        *least);     /* nullable */
void                vn_cmd_json_part      (JsonBuilder  *json,
                                           const VnErrorPart *part);   /* nullable: there are no parts */
void                vn_cmd_json_notes     (JsonBuilder  *json,
                                           VnNotes      *notes);

/* Parts of "inspect": cmd-inspect-weights.c, cmd-inspect-numbers.c */
gboolean            vn_cmd_print_numbers  (JsonBuilder    *json,
                                           const VnGraph  *graph,
                                           const char     *path,
                                           GError        **error);
gboolean            vn_cmd_print_tensor   (JsonBuilder    *json,
                                           VnModel        *model,
                                           const char     *name,
                                           gboolean        integers,
                                           const char     *save,      /* nullable */
                                           GError        **error);
gboolean            vn_cmd_print_weights  (JsonBuilder    *json,
                                           const VnGraph  *graph,
                                           GError        **error);
gboolean            vn_cmd_print_presets  (JsonBuilder    *json,
                                           VnModel        *model,
                                           GHashTable     *shapes,     /* nullable */
                                           GError        **error);
void                vn_cmd_print_precision (JsonBuilder   *json,
                                            const VnGraph *graph);

/* ---- vn-cmd-curve.c ---- */

gboolean vn_cmd_parse_size    (const char     *text,
                               const char     *option,
                               guint64        *bytes,
                               GError        **error);
gboolean vn_cmd_parse_percent (const char     *text,
                               const char     *option,
                               double         *share,
                               GError        **error);
void     vn_cmd_print_curve   (const VnCurve  *curve);

G_END_DECLS
