/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-coverage.h"
#include "vn-curve-job.h"
#include "vn-data-look.h"
#include "vn-effect.h"
#include "vn-export-job.h"
#include "vn-genai-folder.h"
#include "vn-improve-job.h"
#include "vn-jobs.h"
#include "vn-project-file.h"
#include "vn-works.h"

G_BEGIN_DECLS

/**
 * VnBench: the opened model with all that was decided and found about it. Everything that is shown is read from here, everything
 * that is changed goes through here.
 *
 * Signals:
 * - changed: without arguments, with a detail for each of VnChange: "changed::run"
 * - work-changed: without arguments: long work began or ended
 * - notice (const VnNotice *): something that the user should know; with the kind as its detail: "notice::failed"
 */
#define VN_TYPE_BENCH (vn_bench_get_type ())

typedef struct _VnBench VnBench;
typedef struct _VnBenchClass VnBenchClass;

/**
 * VnChange: details of the signal "changed". What changes together is told together, when all of it has changed.
 * @VN_CHANGED_MODEL: another model (or none) is open
 * @VN_CHANGED_DATA: the samples or how they are read
 * @VN_CHANGED_RECIPE: also when undone
 * @VN_CHANGED_RUN: the run that is shown is another, or none, or an estimate
 * @VN_CHANGED_EXPECTED: what is known of the present recipe without a whole run
 * @VN_CHANGED_OFFERED: what is known of a recipe that is only offered, see vn_bench_offer()
 * @VN_CHANGED_RUNS: those that the project keeps, or what they are called
 * @VN_CHANGED_FILES: whether the files of the model are what was opened
 * @VN_CHANGED_COVERAGE: what is known of what targets do, see vn_bench_find_coverage()
 * @VN_CHANGED_NOTES: what is known of the weights of the model: vn_bench_get_note()
 * @VN_CHANGED_WORK: long work began or ended: the signal "work-changed"
 */
typedef enum
{
  VN_CHANGED_MODEL = 1 << 0,
  VN_CHANGED_DATA = 1 << 1,
  VN_CHANGED_RECIPE = 1 << 2,
  VN_CHANGED_RUN = 1 << 3,
  VN_CHANGED_EXPECTED = 1 << 4,
  VN_CHANGED_OFFERED = 1 << 5,
  VN_CHANGED_RUNS = 1 << 6,
  VN_CHANGED_FILES = 1 << 7,
  VN_CHANGED_WORK = 1 << 8,
  VN_CHANGED_COVERAGE = 1 << 9,
  VN_CHANGED_NOTES = 1 << 10,
} VnChange;

/**
 * VnNotice: something that the user should know.
 * @VN_NOTICE_FAILED: work ended with @error; @text is the title
 * @VN_NOTICE_CANCELED: work was canceled, as @error says
 * @VN_NOTICE_DONE: work ended well, @text says what is there now
 * @VN_NOTICE_REPORT: one sentence
 * @VN_NOTICE_LEFT: another model is open: the work on the one that is called @text is kept in the draft @path
 * @VN_NOTICE_WRITTEN: an export ended well with the files @paths; comes before "done"
 */
typedef enum
{
  VN_NOTICE_FAILED, VN_NOTICE_CANCELED, VN_NOTICE_DONE, VN_NOTICE_REPORT, VN_NOTICE_LEFT, VN_NOTICE_WRITTEN, VN_N_NOTICES
} VnNoticeKind;

typedef struct
{
  VnNoticeKind  kind;
  const char   *text;
  const GError *error;
  const char   *path;
  GPtrArray    *paths;    /* of char */
} VnNotice;

/**
 * VnBenchClass:
 * @change: has everybody told of the changes in @what, a set of VnChange; who overrides it follows them before or after that
 */
struct _VnBenchClass
{
  GObjectClass parent_class;
  void       (*change) (VnBench *self,
                        guint    what);
};

GType vn_bench_get_type (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnBench, g_object_unref)

static inline VnBench *
VN_BENCH (gpointer self)
{
  return G_TYPE_CHECK_INSTANCE_CAST (self, vn_bench_get_type (), VnBench);
}

static inline VnBenchClass *
VN_BENCH_CLASS (gpointer klass)
{
  return G_TYPE_CHECK_CLASS_CAST (klass, vn_bench_get_type (), VnBenchClass);
}

static inline VnBenchClass *
VN_BENCH_GET_CLASS (gpointer self)
{
  return G_TYPE_INSTANCE_GET_CLASS (self, vn_bench_get_type (), VnBenchClass);
}

static inline gboolean
VN_IS_BENCH (gpointer self)
{
  return G_TYPE_CHECK_INSTANCE_TYPE (self, vn_bench_get_type ());
}

/* Samples that are used unless somebody says otherwise. */
#define VN_BENCH_SAMPLES 100

/* What is added to the model's name for the quantized one. */
#define VN_QUANTIZED_SUFFIX "-quantized.onnx"
#define VN_QUANTIZED_FOLDER "-quantized"

/**
 * VnExpecting: what is known of the present recipe.
 * @VN_EXPECTING_NOTHING: the result is its own, or there is none
 * @VN_EXPECTING_SOON: it is being measured what the change does
 * @VN_EXPECTING_SHOWN: the result is what it is expected to become; a whole run has still to confirm it
 * @VN_EXPECTING_REFUSED: the result is that of a recipe before; it takes a whole run to tell
 * @VN_EXPECTING_PAST: the result is what a run found that the project keeps; its network takes a whole run
 * @VN_EXPECTING_AROUND: the result is what a run of the model around this one, which is a body, found in it
 */
typedef enum
{
  VN_EXPECTING_NOTHING, VN_EXPECTING_SOON, VN_EXPECTING_SHOWN, VN_EXPECTING_REFUSED, VN_EXPECTING_PAST, VN_EXPECTING_AROUND
} VnExpecting;

/**
 * VnGraphShot: the graph as it is shown, to be written by a thread.
 */
typedef struct
{
  VnExportFunc   func;
  gpointer       data;
  GDestroyNotify destroy;
} VnGraphShot;

/* Returns: %FALSE if no graph is shown. */
typedef gboolean (*VnPictureFunc) (gpointer     data,
                                   const char  *form,
                                   int          dark,
                                   VnGraphShot *shot);

/* Returns: (transfer full) (nullable): the title of the group that holds just these nodes; %NULL: there is none. */
typedef char *(*VnGroupFunc) (gpointer     data,
                              const guint *nodes,
                              guint        n);

VnBench *vn_bench_new       (void);
VnBench *vn_bench_new_batch (const VnQuantizeSettings *settings);
void     vn_bench_set_usual (VnBench                  *self,
                             const char               *preset,
                             guint                     n_samples);

/* ---- what there is ---- */

VnModel      *vn_bench_get_model         (VnBench *self);   /* NULL: none open */
void          vn_bench_set_model         (VnBench *self,
                                          VnModel *model);
void          vn_bench_show_around       (VnBench *self,
                                          VnRun   *inside);
char         *vn_bench_dup_title         (VnBench *self);
const VnGenaiFolder *vn_bench_get_folder (VnBench *self);   /* nullable */
char         *vn_bench_dup_file_name     (VnBench    *self,
                                          const char *ending);
char         *vn_bench_dup_folder        (VnBench *self);
char         *vn_bench_dup_file_path     (VnBench    *self,
                                          const char *ending);
VnRun        *vn_bench_get_shown         (VnBench *self);   /* NULL: not quantized yet; or what is expected */
VnRun        *vn_bench_get_confirmed     (VnBench *self);   /* NULL: not quantized yet */
VnExpecting   vn_bench_get_expecting     (VnBench *self);
void          vn_bench_offer             (VnBench        *self,
                                          const VnRecipe *recipe);   /* nullable */
VnRun        *vn_bench_get_offered       (VnBench *self);   /* NULL: not known */
const char   *vn_bench_get_refusal       (VnBench *self);   /* NULL: none */
guint         vn_bench_count_expected_on (VnBench *self);
guint         vn_bench_get_n_notes       (VnBench *self);
const VnNote *vn_bench_get_note          (VnBench *self,
                                          guint    i);
guint         vn_bench_count_problems    (VnBench *self);

GPtrArray *vn_bench_get_runs        (VnBench *self);   /* of VnProjectRun, borrowed: what a project keeps */
VnRun     *vn_bench_find_run_result (VnBench            *self,
                                     const VnProjectRun *run);   /* NULL: only its record is left */

VnProjectRun *vn_bench_find_run        (VnBench    *self,
                                        const char *id);   /* NULL: there is none */
gboolean      vn_bench_is_shown        (VnBench            *self,
                                        const VnProjectRun *run);

const VnDataSpec *vn_bench_get_data      (VnBench *self);   /* NULL: none chosen */
void              vn_bench_set_data      (VnBench          *self,
                                          const VnDataSpec *data);
guint             vn_bench_get_n_samples (VnBench *self);
void              vn_bench_set_n_samples (VnBench *self,
                                          guint    n);

GHashTable    *vn_bench_get_input_shapes (VnBench *self);   /* name -> VnShape; NULL: all are fixed */
GHashTable    *vn_bench_dup_given_shapes (VnBench          *self,
                                          const VnDataSpec *data);
GHashTable    *vn_bench_dup_known_sizes  (VnBench    *self);
const VnShape *vn_bench_get_size         (VnBench    *self,
                                          const char *name);
const char    *vn_bench_find_size        (VnBench      *self,
                                          const GError *error);   /* NULL: no size is at fault */
void           vn_bench_set_input_shape  (VnBench       *self,
                                          const char    *name,
                                          const VnShape *shape);

void vn_bench_report       (VnBench    *self,
                            const char *text);
void vn_bench_report_error (VnBench      *self,
                            const char   *title,
                            const GError *error);

/* ---- recipe ---- */

const VnRecipe *vn_bench_get_recipe          (VnBench *self);
VnRecipe       *vn_bench_dup_target_recipe   (VnBench    *self,
                                              const char *preset);
void            vn_bench_set_target          (VnBench        *self,
                                              const VnPreset *preset);
gboolean        vn_bench_tells_of_target     (VnBench    *self,
                                              const char *preset);
void            vn_bench_find_coverage       (VnBench           *self,
                                              const char        *preset,      /* nullable */
                                              const VnCoverage **coverage,
                                              const char       **reason);
void            vn_bench_edit_recipe         (VnBench    *self,
                                              VnRecipe   *recipe,
                                              const char *title);
gboolean        vn_bench_is_stale            (VnBench *self);
gboolean        vn_bench_can_undo            (VnBench *self);
gboolean        vn_bench_can_redo            (VnBench *self);
const char     *vn_bench_undo                (VnBench *self);
const char     *vn_bench_redo                (VnBench *self);
void            vn_bench_try                 (VnBench    *self,
                                              VnRecipe   *recipe,
                                              const char *title,
                                              const char *key);
const VnEffect *vn_bench_find_effect         (VnBench    *self,
                                              const char *key);   /* NULL: not tried */
GPtrArray      *vn_bench_get_effects         (VnBench *self);   /* of VnEffect, oldest first */
gboolean        vn_bench_is_measuring        (VnBench        *self,
                                              const VnEffect *effect);
gboolean        vn_bench_is_in_force         (VnBench        *self,
                                              const VnEffect *effect);
gboolean        vn_bench_is_last_change      (VnBench        *self,
                                              const VnEffect *effect);
void            vn_bench_set_group_func      (VnBench     *self,
                                              VnGroupFunc  func,   /* nullable */
                                              gpointer     data);

/* ---- work in the background ---- */

void              vn_bench_open                (VnBench    *self,
                                                const char *path);
void              vn_bench_reload              (VnBench *self);
void              vn_bench_look_at_files       (VnBench *self);
gboolean          vn_bench_has_changed_files   (VnBench *self);
gboolean          vn_bench_lacks_samples       (VnBench *self);
gboolean          vn_bench_is_trying           (VnBench *self);
gboolean          vn_bench_quantize            (VnBench  *self,
                                                GError  **error);
gboolean          vn_bench_improve             (VnBench   *self,
                                                double     seconds,
                                                gboolean   accuracy_first,
                                                GError   **error);
gboolean          vn_bench_measure_cures       (VnBench  *self,
                                                double    seconds,
                                                GError  **error);
double            vn_bench_get_improve_seconds (VnBench *self);   /* negative: not improving */
GPtrArray        *vn_bench_get_tries           (VnBench *self);   /* of VnImproveTry; NULL: not improved yet */
gboolean          vn_bench_measure_curve       (VnBench      *self,
                                                VnCurveCost   cost,
                                                GError      **error);
gboolean          vn_bench_choose_on_curve     (VnBench                *self,
                                                const VnCurveSettings  *wished,
                                                GError                **error);
VnCurve          *vn_bench_get_curve           (VnBench *self);   /* NULL: not calculated, or not of the present recipe */
int               vn_bench_find_curve_point    (VnBench *self);   /* -1: there is none */
gboolean          vn_bench_apply_curve_point   (VnBench *self,
                                                guint    i);
void              vn_bench_open_dataset_async  (VnBench             *self,
                                                const VnDataSpec    *data,
                                                GCancellable        *cancellable,
                                                GAsyncReadyCallback  callback,
                                                gpointer             user_data);
VnDataset        *vn_bench_open_dataset_finish (VnBench       *self,
                                                GAsyncResult  *result,
                                                VnNotes      **notes,
                                                GError       **error);
void              vn_bench_look_async          (VnBench             *self,
                                                VnDataset           *dataset,
                                                GCancellable        *cancellable,
                                                GAsyncReadyCallback  callback,
                                                gpointer             user_data);
VnDataLook       *vn_bench_look_finish         (VnBench       *self,
                                                GAsyncResult  *result,
                                                GError       **error);
void              vn_bench_set_picture_func    (VnBench       *self,
                                                VnPictureFunc  func,
                                                gpointer       data);
gboolean          vn_bench_verify              (VnBench  *self,
                                                GError  **error);
gboolean          vn_bench_install_runtime     (VnBench                *self,
                                                const VnTargetRuntime  *runtime,
                                                GError                **error);
void              vn_bench_look_for_runtimes   (VnBench *self);
void              vn_bench_cancel_install      (VnBench *self);
VnJob            *vn_bench_get_install_job     (VnBench *self);   /* NULL: not installing */
VnJob            *vn_bench_get_job             (VnBench *self);   /* NULL: idle */
gboolean          vn_bench_search_origins      (VnBench *self);
void              vn_bench_cancel_origins      (VnBench *self);
VnJob            *vn_bench_get_origins_job     (VnBench *self);   /* NULL: not looking for them */
VnJob            *vn_bench_get_weights_job     (VnBench *self);   /* NULL: not looking at them */
void              vn_bench_cancel              (VnBench *self);

G_END_DECLS
