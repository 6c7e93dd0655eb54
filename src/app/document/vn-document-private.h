/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the document share: its structure and signals. */

#include "vn-document.h"
#include "vn-draft.h"
#include "vn-history.h"
#include "vn-project-file.h"
#include "vn-what-if.h"

G_BEGIN_DECLS

typedef enum { VN_WORK_NONE, VN_WORK_OPEN, VN_WORK_QUANTIZE, VN_WORK_IMPROVE, VN_WORK_CURES, VN_WORK_CURVE, VN_WORK_VERIFY, VN_WORK_EXPORT } VnWork;

enum
{
  VN_SIGNAL_MODEL,
  VN_SIGNAL_DATA,
  VN_SIGNAL_RECIPE,
  VN_SIGNAL_RESULT,
  VN_SIGNAL_SELECTION,
  VN_SIGNAL_METRIC,
  VN_SIGNAL_JOB,
  VN_SIGNAL_ORIGINS,
  VN_SIGNAL_EXPECTED,
  VN_SIGNAL_FORESEEN,
  VN_SIGNAL_FAILED,
  VN_SIGNAL_DONE,
  VN_SIGNAL_NOTICE,
  VN_SIGNAL_RUNS,
  VN_SIGNAL_LEFT,
  VN_SIGNAL_WRITTEN,
  VN_SIGNAL_FILES,
  VN_N_SIGNALS
};

extern guint vn_document_signals[VN_N_SIGNALS];

struct _VnDocument
{
  GObject       parent_instance;

  VnModel      *model;
  GListStore   *nodes;
  VnDataSpec   *data;
  guint         n_samples;
  GHashTable   *input_shapes;  /* name -> VnShape: inputs with open dims, sizes by the user; NULL: there are none */
  GHashTable   *sizes;         /* name -> VnShape: what the samples were opened with; NULL: not yet, or all are fixed */
  VnMetric      metric;        /* if @metric_chosen */
  gboolean      metric_chosen; /* by the user; else it is the best that was measured */
  VnHeatHandles handles[VN_N_METRICS];     /* where the legend's handles are, if @has_handles */
  gboolean      has_handles[VN_N_METRICS];

  VnRecipe     *recipe;
  VnHistory    *history;

  VnResult     *result;        /* of the last whole run */
  GPtrArray    *runs;          /* of VnProjectRun: those of the project that was opened, then those since */
  VnRecipe     *result_recipe; /* what @result was made with */
  gboolean      result_fits;    /* @result was made from this model and these samples */

  VnResult     *expected;      /* (nullable): what @recipe is expected to make of it; shown instead */
  char         *refusal;       /* (nullable): why that cannot be told */
  VnResult     *past;          /* (nullable): of a run that the project keeps; shown instead of @result */
  guint         past_serial;   /* @data_serial then */
  VnWhatIf     *what_if;       /* (nullable) */
  VnRecipe     *what_if_recipe;   /* of the run that it knows */
  GError       *what_if_error; /* (nullable): why there is none */
  GCancellable *what_if_making;   /* (nullable): the next one is being made */
  GCancellable *expecting;     /* (nullable): of the measurement that is under way */
  gboolean      expect_waits;  /* for the next @what_if */
  VnRecipe     *foreseen_recipe;   /* (nullable): that is offered */
  VnResult     *foreseen;      /* (nullable): what it would come to */
  GCancellable *foreseeing;    /* (nullable): of the measurement that is under way */
  gboolean      run_wanted;    /* of the present change: a whole run also where nothing can be expected */
  GPtrArray    *known;         /* of VnResult: whole runs of this model and these samples */

  GtkBitset    *selection;
  char         *tensor;        /* (nullable): name of the value that is selected instead of nodes */

  VnJob        *job;
  VnWork        work;
  GCancellable *cancellable;
  guint         data_serial, job_data_serial;
  gboolean      again;         /* quantize once more when the running job has ended */
  void        (*opened) (VnDocument *self);   /* (nullable): what follows when the model that is being opened is there */
  VnJob        *improved;      /* (nullable): the last that improved this model; tells what it tried */
  gint64        improve_ends;  /* monotonic: when the time for it is over */
  GPtrArray    *effects;       /* of VnEffect */
  VnCurve      *curve;         /* (nullable): the last that was calculated of this model and these samples */
  VnJob        *origins;       /* runs beside @job: where the error of @result starts */
  GCancellable *origins_cancellable;
  VnJob        *verifying;     /* the same: what ONNX Runtime makes of @verified_network */
  GCancellable *verifying_cancellable;
  GCancellable *looking;       /* (nullable): for ONNX Runtime, beside everything */
  VnJob        *installing;    /* the same: ONNX Runtime, for all documents */
  GCancellable *installing_cancellable;
  VnModel      *verified_network;
  gboolean      origins_again; /* look for them when the running job has ended, which they were cancelled for */
  VnProject    *project;       /* being opened: its model is on the way */
  char         *opening;       /* (nullable): path of that */
  gboolean      reloads;       /* the model that is being opened takes the place of the one that is there */
  GPtrArray    *monitors;      /* (nullable): of GFileMonitor: the files of the model */
  guint         look_source;   /* timeout */
  gboolean      files_changed;

  char         *project_path;  /* (nullable): the file of the user */
  VnDraft      *draft;         /* (nullable): where the work is kept until there is such a file */
  char         *digest;        /* (nullable): of @model, if it is known */
  GPtrArray    *removed_runs;  /* of VnProjectRun: the project has them still, but is not to keep them */
  guint         keep_source;   /* timeout */
  guint         changes, kept_changes;
  guint         keep_serial;   /* another for each project */
  guint         n_keeping;     /* writings that are on their way */
  gboolean      keep_failed;   /* and that was told */
  gboolean      is_demo;       /* of what was opened last */

  VnGroupFunc   group_title;   /* (nullable): what the graph calls nodes that are a group there */
  gpointer      group_data;
  VnPictureFunc picture;       /* (nullable): makes pictures of the graph as it is shown */
  gpointer      picture_data;
};

void        vn_document_add_rules        (VnDocument       *self,
                                          VnRecipe         *recipe,
                                          const char       *title);
GHashTable *vn_document_dup_given_shapes (VnDocument       *self,
                                          const VnDataSpec *data);
GHashTable *vn_document_dup_chosen_sizes (VnDocument       *self);
void        vn_document_take_sizes       (VnDocument       *self,
                                          GHashTable       *sizes);       /* nullable */

void vn_document_name_results (VnDocument *self);
VnResult *vn_document_dup_named (VnDocument *self,
                                 VnResult   *result);
void vn_document_set_result   (VnDocument *self,
                               VnResult   *result);
void vn_document_show_expected (VnDocument *self,
                                VnResult   *expected);   /* nullable */
void vn_document_take_known   (VnDocument *self,
                               VnResult   *known);
void vn_document_remember     (VnDocument *self,
                               VnResult   *result);
void vn_document_make_what_if (VnDocument *self);
void vn_document_expect       (VnDocument *self);
void vn_document_stop_expecting (VnDocument *self);
gboolean vn_document_cancel_expecting (VnDocument *self);
void vn_document_foresee_begin (VnDocument *self);
void vn_document_forget_expected (VnDocument *self);
VnNotes *vn_document_get_run_notes (VnDocument *self);
void vn_document_drop_run     (VnDocument *self);
void vn_document_data_changed (VnDocument *self);
void vn_document_edit_and_run (VnDocument *self,
                               VnRecipe   *recipe,
                               const char *title);
void vn_document_update_nodes (VnDocument *self);
void vn_document_take_recipe  (VnDocument *self,
                               VnRecipe   *recipe,
                               const char *title);
VnRecipe *vn_document_make_precision (VnDocument      *self,
                                      GtkBitset       *nodes,
                                      VnNodePrecision  precision,
                                      guint           *n);
void vn_document_show_past    (VnDocument *self,
                               VnResult   *past);
void vn_document_bring_back   (VnDocument *self,
                               VnResult   *past,
                               const char *title);
gboolean vn_document_take_place (VnDocument  *self,
                                 const char  *path,
                                 GError     **error);
void vn_document_touch        (VnDocument *self);
void vn_document_keep         (VnDocument *self);
void vn_document_leave_project (VnDocument *self);
void vn_document_renew_model  (VnDocument *self,
                               VnModel    *model);
void vn_document_watch_files  (VnDocument *self);
void vn_document_unwatch_files (VnDocument *self);
void vn_document_show_last_run (VnDocument *self);
VnResult *vn_document_find_known (VnDocument     *self,
                                  const VnRecipe *recipe);   /* nullable */
GPtrArray *vn_document_effects_new (void);
void vn_document_note_effect  (VnDocument     *self,
                               const VnRecipe *recipe,
                               const char     *title,
                               const char     *key);
void vn_document_judge_effects (VnDocument *self,
                               VnResult   *result);
VnResult *vn_document_join_curve (VnDocument *self,
                                  VnResult   *result);
VnResult *vn_document_take_curve (VnDocument *self,
                                  VnResult   *result);
void vn_document_renew_run    (VnDocument *self,
                               VnResult   *result);
VnJob *vn_document_make_run   (VnDocument *self);
void vn_document_start_job    (VnDocument *self,
                               VnJob      *job,
                               VnWork      work);
gboolean vn_document_is_idle  (VnDocument *self,
                               GError    **error);
gboolean vn_document_has_network (VnDocument *self,
                                  GError **error);
void vn_document_make_room    (VnDocument *self);
const char *vn_document_get_save_ending (const char *kind);   /* NULL: there is no such kind */
gpointer vn_document_begin_copy (VnDocument *self,
                               const char *path);
gboolean vn_document_write_copy (gpointer  copy,
                               GError   **error);
void vn_document_free_copy    (gpointer    copy);
void vn_document_take_measured (VnDocument *self,
                                VnResult   *result);   /* nullable */
void vn_document_take_refusal (VnDocument   *self,
                               const GError *reason);
void vn_document_take_job     (VnDocument *self,
                               VnJob      *job,
                               VnWork      work);
void vn_document_verify_usually (VnDocument *self);
void vn_document_drop_verifying (VnDocument *self);
void vn_document_find_origins (VnDocument *self,
                               VnJob      *run);

G_END_DECLS
