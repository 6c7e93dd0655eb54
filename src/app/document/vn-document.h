/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-data-look.h"
#include "vn-export-job.h"
#include "vn-heat.h"
#include "vn-improve-job.h"
#include "vn-jobs.h"
#include "vn-project-file.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * VnDocument: the opened model with all that was decided and found about it. Everything the window shows is
 * read from here, everything it changes goes through here.
 *
 * Signals, all without arguments unless said:
 * - model-changed: another model (or none) is open
 * - data-changed: the samples or how they are read
 * - recipe-changed: also when undone
 * - result-changed: another run is in, or none, or what is expected of one
 * - expected-changed: what is known of the present recipe without a whole run
 * - foreseen-changed: what is known of a recipe that is only offered, see vn_document_foresee()
 * - selection-changed
 * - metric-changed: what lists and graph colour by
 * - job-changed: a job began or ended
 * - origins-changed: the search for where error starts began, or ended; it goes on beside other jobs
 * - failed (title, GError): a job ended with an error
 * - done (title): a job ended well
 * - notice (text): something that the user should know
 * - runs-changed: those that the project keeps, or what they are called
 * - left (title, path): another model is open; the work on the one before is kept in a draft
 * - written (GPtrArray of paths): an export ended well; comes before done
 */
#define VN_TYPE_DOCUMENT (vn_document_get_type ())
G_DECLARE_FINAL_TYPE (VnDocument, vn_document, VN, DOCUMENT, GObject)

/* What is added to the model's name for the quantized one. */
#define VN_QUANTIZED_ENDING "-quantized.onnx"

/* What the rule for a single node says. */
typedef enum { VN_NODE_AS_RECIPE, VN_NODE_8_BIT, VN_NODE_16_BIT, VN_NODE_FLOAT } VnNodePrecision;

/**
 * VnExpecting: what is known of the present recipe.
 * @VN_EXPECTING_NOTHING: the result is its own, or there is none
 * @VN_EXPECTING_SOON: it is being measured what the change does
 * @VN_EXPECTING_SHOWN: the result is what it is expected to become; a whole run has still to confirm it
 * @VN_EXPECTING_REFUSED: the result is that of a recipe before; it takes a whole run to tell
 * @VN_EXPECTING_PAST: the result is what a run found that the project keeps; its network takes a whole run
 */
typedef enum { VN_EXPECTING_NOTHING, VN_EXPECTING_SOON, VN_EXPECTING_SHOWN, VN_EXPECTING_REFUSED, VN_EXPECTING_PAST } VnExpecting;

/**
 * VnEffect: a change of the recipe that was to lower the error, and what came of it.
 * @key: what was changed: the same change again has the same
 * @title: of the step in the history
 * @before_db, @after_db: signal to noise of the outputs, see vn_error_table_get_outputs_sqnr()
 * @bytes: how much the quantized file grew by it
 * @time_ratio: of the forecast times after and before it; NaN: not known
 * @measured: the run with it is over; else @after_db, @bytes and @time_ratio are not known yet
 */
typedef struct
{
  char     *key, *title;
  double    before_db, after_db;
  gint64    bytes;
  double    time_ratio;
  gboolean  measured;
  /*< private >*/
  VnRecipe *recipe;
  gint64    bytes_before;
  double    seconds_before;
} VnEffect;

/* What an export consists of. */
typedef enum { VN_EXPORT_MODEL, VN_EXPORT_REPORT, VN_EXPORT_PICTURE, VN_EXPORT_WORK } VnExportGroup;

/**
 * VnExportKind: a file that can be exported.
 * @id: "model"; of reports that of their printer, of what was decided that of vn_document_save()
 * @ending: added to the name of the model: "-report.html"
 * @title: N_()
 * @is_usual: exported unless the user says otherwise
 */
typedef struct
{
  const char    *id, *ending, *title;
  VnExportGroup  group;
  gboolean       is_usual;
} VnExportKind;

/* @dark: of pictures: 0: light, 1: dark, negative: as the window is */
typedef struct
{
  const VnExportKind *kind;
  const char         *path;
  int                 dark;
} VnExportFile;

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
typedef char *(*VnGroupFunc) (gpointer   data,
                              GtkBitset *nodes);

VnDocument       *vn_document_new            (void);

/* ---- what there is ---- */

VnModel          *vn_document_get_model      (VnDocument        *self);   /* NULL: none open */
void              vn_document_set_model      (VnDocument        *self,
                                              VnModel           *model);
char             *vn_document_dup_title      (VnDocument        *self);
char             *vn_document_dup_file_name  (VnDocument        *self,
                                              const char        *ending);
char             *vn_document_dup_folder     (VnDocument        *self);
char             *vn_document_dup_file_path  (VnDocument        *self,
                                              const char        *ending);
GListModel       *vn_document_get_nodes      (VnDocument        *self);   /* of VnNodeItem, by index in the graph */
VnResult         *vn_document_get_result     (VnDocument        *self);   /* NULL: not quantized yet; or what is expected */
VnResult         *vn_document_get_confirmed  (VnDocument        *self);   /* NULL: not quantized yet */
VnExpecting       vn_document_get_expecting  (VnDocument        *self);
void              vn_document_foresee        (VnDocument        *self,
                                              const VnRecipe    *recipe);   /* nullable */
VnResult         *vn_document_get_foreseen   (VnDocument        *self);     /* NULL: not known */
const char       *vn_document_get_refusal    (VnDocument        *self);   /* NULL: none */
guint             vn_document_count_expected_on (VnDocument     *self);
guint             vn_document_get_n_notes    (VnDocument        *self);
const VnNote     *vn_document_get_note       (VnDocument        *self,
                                              guint              i);
guint             vn_document_count_problems (VnDocument        *self);

GPtrArray        *vn_document_get_runs       (VnDocument        *self);   /* of VnProjectRun, borrowed: what a project keeps */
VnResult         *vn_document_find_run_result (VnDocument       *self,
                                               const VnProjectRun *run);    /* NULL: only its record is left */
void              vn_document_set_runs       (VnDocument        *self,
                                              GPtrArray         *runs);

VnProjectRun     *vn_document_find_run       (VnDocument        *self,
                                              const char        *id);     /* NULL: there is none */
gboolean          vn_document_is_shown       (VnDocument         *self,
                                              const VnProjectRun *run);
void              vn_document_restore_run    (VnDocument        *self,
                                              const char        *id);
void              vn_document_read_run_async (VnDocument        *self,
                                              const VnProjectRun *run,
                                              GCancellable      *cancellable,
                                              GAsyncReadyCallback callback,
                                              gpointer           user_data);
VnResult         *vn_document_read_run_finish (VnDocument       *self,
                                               GAsyncResult     *async,
                                               GError          **error);
void              vn_document_rename_run     (VnDocument        *self,
                                              const char        *id,
                                              const char        *name);   /* nullable */
void              vn_document_remove_run     (VnDocument        *self,
                                              const char        *id);
gboolean          vn_document_return_run     (VnDocument        *self);

const VnDataSpec *vn_document_get_data       (VnDocument        *self);   /* NULL: none chosen */
void              vn_document_set_data       (VnDocument        *self,
                                              const VnDataSpec  *data);
guint             vn_document_get_n_samples  (VnDocument        *self);
void              vn_document_set_n_samples  (VnDocument        *self,
                                              guint              n);

GHashTable       *vn_document_get_input_shapes (VnDocument      *self);   /* name -> VnShape; NULL: all are fixed */
const VnShape    *vn_document_get_size         (VnDocument      *self,
                                                const char      *name);
void              vn_document_set_input_shape  (VnDocument      *self,
                                                const char      *name,
                                                const VnShape   *shape);

VnMetric          vn_document_get_metric     (VnDocument        *self);
void              vn_document_set_metric     (VnDocument        *self,
                                              VnMetric           metric);

void              vn_document_set_handles    (VnDocument        *self,
                                              VnMetric           metric,
                                              VnHeatHandles      handles);

void              vn_document_tell           (VnDocument        *self,
                                              const char        *text);

/* ---- recipe ---- */

const VnRecipe   *vn_document_get_recipe     (VnDocument        *self);
void              vn_document_edit_recipe    (VnDocument        *self,
                                              VnRecipe          *recipe,
                                              const char        *title);
gboolean          vn_document_is_stale       (VnDocument        *self);
gboolean          vn_document_can_undo       (VnDocument        *self);
gboolean          vn_document_can_redo       (VnDocument        *self);
const char       *vn_document_undo           (VnDocument        *self);
const char       *vn_document_redo           (VnDocument        *self);
guint             vn_document_set_precision  (VnDocument        *self,
                                              GtkBitset         *nodes,
                                              VnNodePrecision    precision);
gboolean          vn_document_add_region     (VnDocument        *self,
                                              GtkBitset         *nodes,
                                              VnNodePrecision    precision);
gboolean          vn_document_add_edge       (VnDocument        *self,
                                              guint              rule,
                                              const char        *value,
                                              gboolean           enters);
void              vn_document_try            (VnDocument        *self,
                                              VnRecipe          *recipe,
                                              const char        *title,
                                              const char        *key);
gboolean          vn_document_try_precision  (VnDocument        *self,
                                              guint              node,
                                              VnNodePrecision    precision);
char             *vn_document_dup_precision_key (VnDocument     *self,
                                                 guint           node,
                                                 VnNodePrecision precision);
const VnEffect   *vn_document_find_effect    (VnDocument        *self,
                                              const char        *key);   /* NULL: not tried */
GPtrArray        *vn_document_get_effects    (VnDocument        *self);   /* of VnEffect, oldest first */
gboolean          vn_effect_has_helped       (const VnEffect    *effect);
gboolean          vn_document_is_measuring   (VnDocument        *self,
                                              const VnEffect    *effect);
gboolean          vn_document_is_in_force    (VnDocument        *self,
                                              const VnEffect    *effect);
gboolean          vn_document_is_last_change (VnDocument        *self,
                                              const VnEffect    *effect);
void              vn_document_move_rules     (VnDocument        *self,
                                              guint              first,
                                              guint              n,
                                              guint              before);
void              vn_document_remove_rules   (VnDocument        *self,
                                              guint              first,
                                              guint              n);
gboolean          vn_document_rename_rules   (VnDocument        *self,
                                              guint              first,
                                              guint              n,
                                              const char        *name);       /* nullable */
char             *vn_document_dup_rule_name  (VnDocument        *self,
                                              GtkBitset         *nodes);
void              vn_document_set_group_func (VnDocument        *self,
                                              VnGroupFunc        func,        /* nullable */
                                              gpointer           data);
void              vn_document_enable_rules   (VnDocument        *self,
                                              guint              first,
                                              guint              n,
                                              gboolean           enabled);
char             *vn_document_get_precision_title (VnNodePrecision precision,
                                                   guint        n);

/* ---- rules about one tensor (vn-document-tensor.c) ---- */

const VnOverride *vn_document_find_tensor_rule (VnDocument      *self,
                                                const char      *tensor);   /* NULL: there is none for just this tensor */
gboolean          vn_document_set_tensor_range (VnDocument      *self,
                                                const char      *tensor,
                                                const VnRange   *range,     /* nullable: as the method says */
                                                GError         **error);
gboolean          vn_document_set_tensor_method (VnDocument     *self,
                                                 const char     *tensor,
                                                 const char     *method,    /* nullable: as the target says */
                                                 GError        **error);
gboolean          vn_document_set_tensor_type  (VnDocument      *self,
                                                const char      *tensor,
                                                VnTensorRole     role,
                                                VnDType          dtype,
                                                GError         **error);

/* ---- files besides the model ---- */

gboolean          vn_document_open_project   (VnDocument        *self,
                                              const char        *path,
                                              const char        *model,      /* nullable */
                                              GError           **error);
const char       *vn_document_get_project_path (VnDocument      *self);   /* NULL: no file yet */
const char       *vn_document_get_place      (VnDocument        *self);   /* NULL: nothing is kept yet */
gboolean          vn_document_save_project   (VnDocument        *self,
                                              const char        *path,
                                              GError           **error);
gboolean          vn_document_is_opening_project (VnDocument    *self);
void              vn_document_flush          (VnDocument        *self);
gboolean          vn_document_open_settings  (VnDocument        *self,
                                              const char        *path,
                                              GError           **error);
void              vn_document_use_folder     (VnDocument        *self,
                                              const char        *path);
gboolean          vn_document_open_demo      (VnDocument        *self);
gboolean          vn_document_is_demo        (VnDocument        *self);
char             *vn_document_dup_save_path  (VnDocument        *self,
                                              const char        *kind);
gboolean          vn_document_save           (VnDocument        *self,
                                              const char        *kind,
                                              const char        *path,
                                              VnNotes           *notes,
                                              GError           **error);

/* ---- selection: indices of nodes in the graph ---- */

GtkBitset        *vn_document_get_selection  (VnDocument        *self);
void              vn_document_select         (VnDocument        *self,
                                              GtkBitset         *nodes);
void              vn_document_select_one     (VnDocument        *self,
                                              guint              node);
void              vn_document_select_all     (VnDocument        *self);
const char       *vn_document_get_tensor     (VnDocument        *self);   /* NULL: none; selected instead of nodes */
void              vn_document_select_tensor  (VnDocument        *self,
                                              const char        *name);   /* nullable */
gboolean          vn_document_select_next    (VnDocument        *self,
                                              gboolean           forward);
gboolean          vn_document_select_next_bad (VnDocument       *self,
                                               gboolean          forward);
void              vn_document_grow_selection (VnDocument        *self,
                                              const char        *way);

/* ---- work in the background ---- */

void              vn_document_open           (VnDocument        *self,
                                              const char        *path);
void              vn_document_reload         (VnDocument        *self);
void              vn_document_look_at_files  (VnDocument        *self);
gboolean          vn_document_has_changed_files (VnDocument     *self);
gboolean          vn_document_lacks_samples  (VnDocument        *self);
gboolean          vn_document_is_trying      (VnDocument        *self);
gboolean          vn_document_quantize       (VnDocument        *self,
                                              GError           **error);
gboolean          vn_document_improve        (VnDocument        *self,
                                              double             seconds,
                                              gboolean           accuracy_first,
                                              GError           **error);
gboolean          vn_document_measure_cures  (VnDocument        *self,
                                              double             seconds,
                                              GError           **error);
double            vn_document_get_improve_seconds (VnDocument   *self);   /* negative: not improving */
GPtrArray        *vn_document_get_tries      (VnDocument        *self);   /* of VnImproveTry; NULL: not improved yet */
gboolean          vn_document_measure_curve  (VnDocument        *self,
                                              VnCurveCost        cost,
                                              GError           **error);
VnCurve          *vn_document_get_curve      (VnDocument        *self);   /* NULL: not calculated, or not of the present recipe */
int               vn_document_find_curve_point (VnDocument      *self);   /* -1: there is none */
gboolean          vn_document_apply_curve_point (VnDocument     *self,
                                                 guint           i);
void              vn_document_open_dataset_async (VnDocument          *self,
                                                  const VnDataSpec    *data,
                                                  GCancellable        *cancellable,
                                                  GAsyncReadyCallback  callback,
                                                  gpointer             user_data);
VnDataset        *vn_document_open_dataset_finish (VnDocument    *self,
                                                   GAsyncResult  *result,
                                                   VnNotes      **notes,
                                                   GError       **error);
void              vn_document_look_async     (VnDocument        *self,
                                              VnDataset         *dataset,
                                              GCancellable      *cancellable,
                                              GAsyncReadyCallback callback,
                                              gpointer           user_data);
VnDataLook       *vn_document_look_finish    (VnDocument        *self,
                                              GAsyncResult      *result,
                                              GError           **error);
gboolean          vn_document_export         (VnDocument        *self,
                                              const char        *model_path,
                                              const char        *report,
                                              gboolean           verify,
                                              GError           **error);
guint             vn_document_count_exports  (void);
const VnExportKind *vn_document_get_export   (guint              i);
const VnExportKind *vn_document_find_export  (const char        *id);     /* NULL: there is none */
gboolean          vn_document_can_export     (VnDocument         *self,
                                              const VnExportKind *kind);
gboolean          vn_document_export_files   (VnDocument         *self,
                                              const VnExportFile *files,
                                              guint               n_files,
                                              gboolean            verify,
                                              GError            **error);
void              vn_document_set_picture_func (VnDocument       *self,
                                                VnPictureFunc     func,
                                                gpointer          data);
gboolean          vn_document_verify         (VnDocument        *self,
                                              GError           **error);
gboolean          vn_document_install_runtime (VnDocument       *self,
                                               GError          **error);
void              vn_document_cancel_install (VnDocument        *self);
VnJob            *vn_document_get_install_job (VnDocument       *self);   /* NULL: not installing */
VnJob            *vn_document_get_job        (VnDocument        *self);   /* NULL: idle */
gboolean          vn_document_search_origins (VnDocument        *self);
void              vn_document_cancel_origins (VnDocument        *self);
VnJob            *vn_document_get_origins_job (VnDocument       *self);   /* NULL: not looking for them */
void              vn_document_cancel         (VnDocument        *self);

G_END_DECLS
