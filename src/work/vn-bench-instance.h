/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a bench is made of, for its files and for what derives from it. */

#include "vn-bench.h"
#include "vn-coverages.h"
#include "vn-file-watch.h"
#include "vn-genai-folder.h"
#include "vn-history.h"
#include "vn-jobs.h"
#include "vn-keeper.h"
#include "vn-outlook.h"
#include "vn-run-list.h"
#include "vn-subject.h"

G_BEGIN_DECLS

/**
 * VnBenchShown: what runs say of the present subject and recipe.
 * @run, @run_subject: (nullable): of the last whole run, and what it was made of
 * @past, @past_subject: (nullable): of a run that the project keeps, shown instead of @run; what the subject was when it was
 * brought back
 * @is_around: @past is what a run of the model around this one found in it
 * @expected: (nullable): what the present recipe is expected to come to, shown instead of both
 * @refusal: (nullable): why that takes a whole run
 */
typedef struct
{
  VnRun     *run, *past, *expected;
  VnSubject *run_subject, *past_subject;
  gboolean   is_around;
  char      *refusal;
} VnBenchShown;

/**
 * VnBenchFound: what was found out about the model beside runs.
 * @sizes: (nullable) (element-type utf8 VnShape): of inputs, as the samples were opened last
 * @effects: (element-type VnEffect): what was tried
 * @curve: (nullable): the last that was calculated of the present subject
 * @improved: (nullable): the job that improved the model last; it tells what it tried
 * @improve_ends: monotonic: when the time for that is over
 */
typedef struct
{
  GHashTable *sizes;
  GPtrArray  *effects;
  VnCurve    *curve;
  VnJob      *improved;
  gint64      improve_ends;
} VnBenchFound;

/**
 * VnBenchOpening: what follows when the model that is being opened is there.
 * @then: (nullable): called then
 * @project, @path: (nullable): being opened, and its path
 * @reloads: the model takes the place of the one that is there, with all that was decided
 * @is_demo: of what was opened last
 * @demo: (nullable): its folder
 */
typedef struct
{
  void     (*then) (VnBench *self);
  VnProject *project;
  char      *path, *demo;
  gboolean   reloads, is_demo;
} VnBenchOpening;

/**
 * VnBenchTelling: changes that nobody was told of yet.
 * @depth: above 0: they are told when all has changed
 * @what: a set of VnChange
 * @expects: that something is expected was told last
 * @let_go: what those who show it may still point to until they are told
 */
typedef struct
{
  guint    depth, what;
  gboolean expects;
  GArray  *let_go;
} VnBenchTelling;

/**
 * VnBenchWaiting: what follows something else.
 * @quantize, @origins: begin that when what is under way in front has ended
 * @run: of the present change: a whole run also where nothing can be expected
 */
typedef struct
{
  gboolean quantize, origins, run;
} VnBenchWaiting;

/* What the window does for the bench. */
typedef struct
{
  VnGroupFunc   group_title;   /* nullable: what the graph calls nodes that are a group there */
  gpointer      group_data;
  VnPictureFunc picture;       /* nullable: makes pictures of the graph as it is shown */
  gpointer      picture_data;
} VnBenchHooks;

struct _VnBench
{
  GObject             parent_instance;

  /*< private >*/
  VnSubject          *subject;
  VnGenaiFolder      *folder;       /* nullable: the model is the decoder of it */
  VnRecipe           *recipe;
  VnHistory          *history;
  VnRunList          *runs;
  VnBenchShown        shown;
  VnBenchFound        found;
  VnOutlook          *outlook;
  VnCoverages        *coverages;
  VnWorks            *works;
  VnBenchWaiting      waiting;
  GCancellable       *looking;      /* nullable: for ONNX Runtime */
  VnKeeper           *keeper;
  VnFileWatch        *files;
  VnBenchOpening      opening;
  VnBenchTelling      telling;
  VnBenchHooks        hooks;
  VnQuantizeSettings *batch;        /* nullable: of vn_bench_new_batch() */
};

G_END_DECLS
