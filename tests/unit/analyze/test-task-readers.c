/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each reader makes of answers that are the same, kept in part, and lost. Each case is written into outputs by a function of
 * its own, and the numbers that are expected follow from how it does that. */
#include "task-answers.h"

#include "vn-kept-meter.h"

#include <math.h>
#include <string.h>

typedef struct
{
  VnTensor     *tensors[6];
  const char   *names[6];
  VnTaskOutputs outputs;
} Given;

static void
give (const Case *what,
      Variant     variant,
      Given      *given)
{
  *given = (Given) { 0 };
  given->outputs = (VnTaskOutputs) { .tensors = given->tensors, .names = given->names, .height = what->height,
                                     .width = what->width,
                                     .n_tokens = what->n_tokens, .hint = &what->hint };
  for (guint i = 0; i < 6 && what->outputs[i].fill != NULL; i++)
    {
      const Output *output = &what->outputs[i];

      given->names[i] = output->name != NULL ? output->name : "output";
      given->tensors[i] = vn_tensor_new (output->is_whole ? VN_DTYPE_S64 : VN_DTYPE_F32, &output->shape, NULL);
      memset (given->tensors[i]->data, 0, given->tensors[i]->n_bytes);
      output->fill (given->tensors[i], variant);
      given->outputs.n++;
    }
}

static void
measure (const Case   *what,
         gconstpointer layout,
         Variant       variant,
         VnKept       *kept)
{
  const VnTaskReader *reader = vn_task_get_reader (what->task);
  VnKeptSum sum = { .n_samples = 1 };
  gpointer answers[2];

  for (guint k = 0; k < 2; k++)
    {
      Given given;

      give (what, k == 0 ? SAME : variant, &given);
      answers[k] = reader->read (layout, &given.outputs);
      g_assert_nonnull (answers[k]);
      vn_tensor_clear_all (given.tensors, 6);
    }
  reader->compare (answers[0], answers[1], 0, &sum);
  vn_kept_sum_finish (&sum, what->task, kept);
  vn_kept_sum_clear (&sum);
  for (guint k = 0; k < 2; k++)
    reader->free (answers[k]);
}

static gpointer
recognize (const Case *what)
{
  gpointer layout = NULL;
  Given given;
  VnTask task;

  give (what, SAME, &given);
  task = vn_task_recognize (&given.outputs, &layout);
  g_test_message ("%s: %s", what->name, vn_task_get_id (task));
  g_assert_cmpstr (vn_task_get_id (task), ==, vn_task_get_id (what->task));
  vn_tensor_clear_all (given.tensors, 6);
  return layout;
}

static void
test_kept (void)
{
  guint n;
  const Case *cases = task_answers_list_kept (&n);

  for (guint i = 0; i < n; i++)
    {
      const Case *what = &cases[i];
      g_autofree gpointer layout = recognize (what);

      for (guint variant = 0; variant < N_VARIANTS; variant++)
        {
          const guint n_kept = variant == SAME ? what->n : variant == PART ? what->n_kept : 0;
          VnKept kept;

          measure (what, layout, variant, &kept);
          g_test_message ("  %u: %u of %u, %u added", variant, (guint) kept.n_kept, (guint) kept.n, (guint) kept.n_added);
          g_assert_cmpuint (kept.n, ==, what->n);
          g_assert_cmpuint (kept.n_kept, ==, n_kept);
          g_assert_cmpuint (kept.n_added, ==, variant == PART ? what->n_added : 0);
          g_assert_true (vn_kept_is_known (&kept));
          g_assert_cmpfloat (kept.share, ==, (double) n_kept / what->n);
        }
    }
}

/* Each task has answers that are kept in part: above, or in a test of its own. */
static void
test_each (void)
{
  static const VnTask elsewhere[] = { VN_TASK_TOKENS, VN_TASK_TEXT_REGIONS, VN_TASK_EMBEDDING,
                                      VN_TASK_SEGMENTATION, VN_TASK_CLASSIFICATION /* test-tasks.c */ };
  gboolean seen[VN_N_TASKS] = { [VN_TASK_OTHER] = TRUE };
  guint n;
  const Case *cases = task_answers_list_kept (&n);

  for (guint i = 0; i < n; i++)
    seen[cases[i].task] = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (elsewhere); i++)
    seen[elsewhere[i]] = TRUE;
  for (guint i = 0; i < VN_N_TASKS; i++)
    {
      g_test_message ("%s", vn_task_get_id ((VnTask) i));
      g_assert_true (seen[i]);
    }
}

static void
test_others (void)
{
  guint n;
  const Case *others = task_answers_list_others (&n);

  for (guint i = 0; i < n; i++)
    g_free (recognize (&others[i]));
}

/* IoU 1, 1/2 and 0 of the pixels of the lines. */
static void
test_lines (void)
{
  const Case what = { "lines of text", VN_TASK_TEXT_REGIONS, { { VN_SHAPE (1, 1, 64, 64), fill_lines } }, SIZE, SIZE };
  static const double shares[N_VARIANTS] = { 1, 0.5, 0 };
  g_autofree gpointer layout = recognize (&what);

  for (guint variant = 0; variant < N_VARIANTS; variant++)
    {
      VnKept kept;

      measure (&what, layout, variant, &kept);
      g_assert_cmpfloat (kept.share, ==, shares[variant]);
    }
}

/* Of one token with e^4 and ten with 1 the first changes its place: (p - q) 4 nats, in one position of four, and in all. */
static void
test_divergence (void)
{
  const double p = exp (4) / (exp (4) + 10), q = 1 / (exp (4) + 10);
  const double expected[N_VARIANTS] = { 0, (p - q) * 4 / 4, (p - q) * 4 };
  const Case what = { "language model", VN_TASK_TOKENS, { { VN_SHAPE (1, 4, 11), fill_tokens } }, .n_tokens = 4 };
  g_autofree gpointer layout = recognize (&what);

  for (guint variant = 0; variant < N_VARIANTS; variant++)
    {
      VnKept kept;

      measure (&what, layout, variant, &kept);
      g_test_message ("%.17g, not %.17g", kept.mean, expected[variant]);
      g_assert_cmpfloat_with_epsilon (kept.mean, expected[variant], 1e-12);
    }
}

/* What a mask of the input leaves out does not count: the first position is lost, and is not looked at. */
static void
test_masked_tokens (void)
{
  static const gint64 mask[4] = { 0, 1, 1, 0 };
  const Case what = { "language model", VN_TASK_TOKENS, { { VN_SHAPE (1, 4, 11), fill_tokens } }, .n_tokens = 4 };
  g_autofree gpointer layout = recognize (&what);
  g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&VN_SHAPE (1, 4), mask);
  VnKeptSum sum = { .n_samples = 1 };
  gpointer answers[2];

  for (guint k = 0; k < 2; k++)
    {
      Given given;

      give (&what, k == 0 ? SAME : PART, &given);
      given.outputs.mask = tensor;
      answers[k] = vn_task_tokens.read (layout, &given.outputs);
      vn_tensor_clear_all (given.tensors, 6);
    }
  vn_task_tokens.compare (answers[0], answers[1], 0, &sum);
  g_assert_cmpuint (sum.n, ==, 2);
  g_assert_cmpuint (sum.n_kept, ==, 2);
  vn_kept_sum_clear (&sum);
  for (guint k = 0; k < 2; k++)
    vn_task_tokens.free (answers[k]);
}

/* Five samples in a plane, at these angles: of the other network the second has come closer to the third than to the first, and
 * the others keep their neighbors. In whatever order they come. */
static void
test_embeddings (void)
{
  static const double angles[2][5] = { { 0, 10, 35, 90, 100 }, { 0, 30, 35, 90, 100 } };
  const double mean = (4 + cos (20 * G_PI / 180)) / 5;

  for (guint turn = 0; turn < 5; turn++)
    {
      VnKeptSum sum = { .n_samples = 5 };
      VnKept kept;

      for (guint s = 0; s < 5; s++)
        {
          const guint item = (s * 2 + turn) % 5;
          gpointer answers[2];

          for (guint k = 0; k < 2; k++)
            {
              g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 64), NULL);
              VnTensor *tensors[1] = { tensor };
              const VnTaskOutputs outputs = { .tensors = tensors, .n = 1 };
              g_autofree gpointer layout = NULL;

              memset (tensor->data, 0, tensor->n_bytes);
              put (tensor, 0, 3 * cos (angles[k][item] * G_PI / 180));
              put (tensor, 1, 3 * sin (angles[k][item] * G_PI / 180));
              layout = vn_task_embedding.recognize (&outputs);
              g_assert_nonnull (layout);
              answers[k] = vn_task_embedding.read (layout, &outputs);
            }
          vn_task_embedding.compare (answers[0], answers[1], item, &sum);
          for (guint k = 0; k < 2; k++)
            vn_task_embedding.free (answers[k]);
        }
      vn_kept_sum_finish (&sum, VN_TASK_EMBEDDING, &kept);
      vn_kept_sum_clear (&sum);
      g_test_message ("%u of %u, %.17g", (guint) kept.n_kept, (guint) kept.n, kept.mean);
      g_assert_cmpuint (kept.n, ==, 5);
      g_assert_cmpuint (kept.n_kept, ==, 4);
      g_assert_cmpfloat_with_epsilon (kept.mean, mean, 1e-6);
    }
}

/* ---- what files say ---- */

static void
test_hints (void)
{
  static const struct { const char *task, *names, *stride, *letters; VnTask expected; guint n; } files[] = {
    { "detect", "{0: 'person', 1: \"driver's seat\", 2: 'a: b, \\'c\\''}", "32", NULL, VN_TASK_DETECTION, 3 },
    { "pose", "{0: 'person'}", "32", NULL, VN_TASK_DETECTION, 1 },
    { "classify", "{0: 'tench', 1: 'goldfish'}", "1", NULL, VN_TASK_CLASSIFICATION, 2 },
    { NULL, "['a', 'b']", "32", NULL, VN_TASK_OTHER, 2 },
    { "detect", NULL, NULL, NULL, VN_TASK_OTHER, 0 },
    { NULL, NULL, NULL, "a\nb", VN_TASK_TEXT, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, 13);
      const char *pairs[] = { "task", files[i].task, "names", files[i].names, "stride", files[i].stride, "character",
                              files[i].letters };
      VnTaskHint hint;

      for (guint k = 0; k < G_N_ELEMENTS (pairs); k += 2)
        if (pairs[k + 1] != NULL)
          {
            g_ptr_array_add (model->metadata, g_strdup (pairs[k]));
            g_ptr_array_add (model->metadata, g_strdup (pairs[k + 1]));
          }
      vn_task_hint_read (&hint, model);
      g_assert_cmpstr (vn_task_get_id (hint.task), ==, vn_task_get_id (files[i].expected));
      g_assert_cmpuint (hint.n_classes, ==, files[i].n);
      g_assert_false (hint.is_given);
    }
}

/* The meter waits for a sample whose answer shows something, and compares a network with outputs in another order by their
 * names. */
static void
test_meter (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(VnKeptMeter) meter = vn_kept_meter_new (model, NULL, 1);
  const Case what = { "DETR", VN_TASK_DETECTION, { { VN_SHAPE (1, 50, 4), fill_softmax_logits, "logits" },
                                                   { VN_SHAPE (1, 50, 4), fill_centres, "boxes" } }, SIZE, SIZE };
  Given given[2];
  VnTaskOutputs both[2];
  VnKept kept;

  give (&what, LOST, &given[0]);
  g_assert_false (vn_kept_meter_look (meter, &given[0].outputs));
  vn_tensor_clear_all (given[0].tensors, 6);
  give (&what, SAME, &given[0]);
  g_assert_true (vn_kept_meter_look (meter, &given[0].outputs));
  g_assert_cmpint (vn_kept_meter_get_task (meter), ==, VN_TASK_DETECTION);
  give (&what, PART, &given[1]);
  {
    VnTensor *turned[2] = { given[1].tensors[1], given[1].tensors[0] };
    const char *names[2] = { given[1].names[1], given[1].names[0] };

    both[0] = given[0].outputs;
    both[1] = given[1].outputs;
    both[1].tensors = turned;
    both[1].names = names;
    vn_kept_meter_add (meter, 0, both);
  }
  vn_kept_meter_finish (meter, 0, &kept);
  g_assert_cmpuint (kept.n_samples, ==, 1);
  g_assert_cmpuint (kept.n, ==, 3);
  g_assert_cmpuint (kept.n_kept, ==, 1);
  for (guint k = 0; k < 2; k++)
    vn_tensor_clear_all (given[k].tensors, 6);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/task-readers/kept", test_kept);
  g_test_add_func ("/task-readers/each", test_each);
  g_test_add_func ("/task-readers/others", test_others);
  g_test_add_func ("/task-readers/lines", test_lines);
  g_test_add_func ("/task-readers/divergence", test_divergence);
  g_test_add_func ("/task-readers/masked-tokens", test_masked_tokens);
  g_test_add_func ("/task-readers/embeddings", test_embeddings);
  g_test_add_func ("/task-readers/hints", test_hints);
  g_test_add_func ("/task-readers/meter", test_meter);
  return g_test_run ();
}
