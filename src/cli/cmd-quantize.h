/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the command "quantize" share. */

#include "vn-cmd.h"
#include "vn-layer-file.h"
#include "vn-project-file.h"

G_BEGIN_DECLS

/* What its options say; NULL, FALSE, 0: nothing. */
typedef struct
{
  char      *output, *report, *weakest, *fail_unless;
  char      *preset, *target, *recipe_file, *config_file;
  gboolean   wide;
  char      *save_recipe, *save_project, *export_script, *export_xquant;
  char     **rules, **excludes;
  char     **stats, *save_stats;
  gboolean   resume;
  double     save_every;
  int        n_calibration;
  gboolean   skip_compare, origins, verify, no_verify;
  gboolean   cures, improve, accuracy_first;
  double     improve_seconds;
  gboolean   curve;
  char      *curve_cost, *target_sqnr, *budget_size, *budget_float;
} VnQuantizeOptions;

extern VnQuantizeOptions vn_quantize_options;
extern const GOptionEntry vn_cmd_quantize_entries[];

gboolean  vn_cmd_quantize_check_options (GError                 **error);
gboolean  vn_cmd_quantize_refuse        (GError                 **error,
                                         const char              *message);

/**
 * VnQuantizeInput: what is quantized.
 * @given: the argument: a model or a project
 * @project: (nullable): which is given
 * @path: of the model
 * @folder: that was given in place of it
 * @run: id of the run
 * @data: (nullable): no samples are read
 * @shapes: (nullable) (element-type utf8 VnShape): that inputs were given
 * @base: (nullable): what an interrupted run has left
 */
typedef struct
{
  const char         *given, *path;
  VnCmdFolder         folder;
  VnProject          *project;
  char               *run;
  VnModel            *model;
  VnRecipe           *recipe;
  VnDataSpec         *data;
  GHashTable         *shapes;
  VnStats            *base;
  VnOnnxWriteOptions  write;
} VnQuantizeInput;

gboolean  vn_quantize_input_open  (VnQuantizeInput           *self,
                                   const char                *given,
                                   GError                   **error);
void      vn_quantize_input_clear (VnQuantizeInput           *self);
void      vn_quantize_input_note  (const VnQuantizeInput     *self,
                                   VnNotes                   *notes);

VnRun    *vn_cmd_quantize_do_works (const VnQuantizeInput   *input,
                                    GError                 **error);

gboolean  vn_cmd_quantize_write    (VnRun                  **result,
                                    const VnQuantizeInput   *input,
                                    const char              *python,     /* nullable */
                                    GString                 *lines,
                                    VnLayerFile            **layers,
                                    GError                 **error);
void      vn_cmd_quantize_judge    (const VnRun             *result);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnQuantizeInput, vn_quantize_input_clear)

G_END_DECLS
