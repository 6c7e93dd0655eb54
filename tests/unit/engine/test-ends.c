/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends that convolutions tell on the way, beside those of all elements; and what is clamped on the way. */
#include "engine-fixture.h"

#include "vn-blocked.h"
#include "vn-plan-blocks.h"

#include <math.h>

#define MOST_CHANNELS 64

/* What was told of the tapped convolution and of the clamp behind it. */
typedef struct
{
  gboolean  accepts;
  gboolean  strange;    /* not all elements are finite */
  guint     n_told, n_whole;
  gsize     n_channels;
  float     low[MOST_CHANNELS], high[MOST_CHANNELS];
  GArray   *clamped;    /* of float: as it lies, in blocks */
} Told;

static gboolean
take_ends (const VnValue *value,
           guint          tap,
           const float   *low,
           const float   *high,
           gsize          n_channels,
           gpointer       data)
{
  Told *self = data;

  g_assert_cmpstr (value->name, ==, "c");
  g_assert_cmpuint (tap, ==, 0);
  self->n_told++;
  self->n_channels = n_channels;
  for (gsize c = 0; c < n_channels; c++)
    {
      self->low[c] = low[c] + 0.0f;
      self->high[c] = high[c] + 0.0f;
    }
  return self->accepts;
}

/* Lanes that stand for no channel are left out. */
static void
take_blocks (const VnValue  *value,
             guint           tap,
             const VnTensor *tensor,
             gsize           n_channels,
             gpointer        data)
{
  Told *self = data;
  const float *x = tensor->data;
  const gsize lanes = (gsize) tensor->shape.dims[tensor->shape.rank - 1], n_blocks = (gsize) tensor->shape.dims[1];
  const gsize n_inner = (gsize) vn_shape_count (&tensor->shape, 2, tensor->shape.rank - 1);

  if (tap == 0)
    {
      self->n_whole++;
      self->n_channels = n_channels;
      for (gsize c = 0; c < n_channels; c++)
        {
          self->low[c] = INFINITY;
          self->high[c] = -INFINITY;
        }
    }
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      const gsize c = i / (lanes * n_inner) % n_blocks * lanes + i % lanes;

      if (c >= n_channels)
        continue;
      if (tap == 1)
        g_array_append_val (self->clamped, x[i]);
      else if (!isfinite (x[i]))
        self->strange = TRUE;
      else
        {
          self->low[c] = MIN (self->low[c], x[i] + 0.0f);
          self->high[c] = MAX (self->high[c], x[i] + 0.0f);
        }
    }
}

static void
take_plain (const VnValue  *value,
            guint           tap,
            const VnTensor *tensor,
            gpointer        data)
{
  g_assert_not_reached ();
}

/* What the data hold beside numbers of both signs. */
typedef enum { DATA_PLAIN, DATA_ZEROS, DATA_NAN, DATA_INFINITE } Data;

typedef struct
{
  guint       group;             /* 0: one for each channel */
  gint64      batch, in, out, height, width, kernel, stride, pad;
  const char *clamp;             /* nullable */
} Case;

static VnModel *
make_model (const Case *self)
{
  VnModel *model = vn_model_new (8, 17);
  const gint64 pads[] = { self->pad, self->pad, self->pad, self->pad }, strides[] = { self->stride, self->stride };
  VnNode *conv;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (self->batch, self->in, self->height, self->width));
  add_floats (model, "w0", VN_SHAPE (self->in, self->in, 1, 1), -0.3f, 0.0007f);
  add_floats (model, "w1", VN_SHAPE (self->out, self->group == 0 ? 1 : self->in, self->kernel, self->kernel), -0.21f, 0.0011f);
  add_floats (model, "w2", VN_SHAPE (16, self->out, 1, 1), -0.1f, 0.001f);
  add_floats (model, "low", VN_SHAPE_SCALAR, -0.25f, 0);
  add_floats (model, "high", VN_SHAPE_SCALAR, 0.5f, 0);
  add_node (model, "Conv", "conv0", "x w0", "b");
  conv = add_node (model, "Conv", "conv1", "b w1", "c");
  vn_node_set_ints (conv, "pads", pads, 4);
  vn_node_set_ints (conv, "strides", strides, 2);
  if (self->group == 0)
    vn_node_set_int (conv, "group", self->in);
  if (self->clamp != NULL)
    add_node (model, self->clamp, "clamp", g_str_equal (self->clamp, "Clip") ? "c low high" : "c", "d");
  add_node (model, "Conv", "conv2", self->clamp != NULL ? "d w2" : "c w2", "y");
  set_outputs (model, "y");
  return model;
}

static VnTensor *
make_data (const Case *self,
           Data        which)
{
  VnTensor *tensor = make_input (VN_SHAPE (self->batch, self->in, self->height, self->width), 3);
  float *x = tensor->data;

  for (gsize i = 0; i < tensor->n_elements && which == DATA_ZEROS; i++)
    x[i] = i % 2 ? 0.0f : -0.0f;
  if (which == DATA_NAN || which == DATA_INFINITE)
    x[tensor->n_elements - 1] = which == DATA_NAN ? NAN : INFINITY;
  return tensor;
}

/* Runs with or without ends; the result is the output. */
static VnTensor *
run (VnRunner *runner,
     VnTensor *input,
     gboolean  with_ends,
     gboolean  accepts,
     guint     n_threads,
     Told     *told)
{
  VnTensor *output = NULL;
  g_autoptr(GError) error = NULL;

  told->accepts = accepts;
  told->n_told = told->n_whole = 0;
  g_array_set_size (told->clamped, 0);
  vn_runner_set_threads (runner, n_threads);
  vn_runner_set_tap (runner, take_plain, told);
  vn_runner_set_blocks_tap (runner, take_blocks);
  vn_runner_set_ends_tap (runner, with_ends ? take_ends : NULL);
  vn_runner_run (runner, &input, &output, NULL, &error);
  g_assert_no_error (error);
  return output;
}

static void
check_same_told (const Told *a,
                 const Told *b,
                 gboolean    with_ends)
{
  g_assert_cmpuint (a->n_channels, ==, b->n_channels);
  if (with_ends)
    {
      g_assert_cmpmem (a->low, a->n_channels * sizeof (float), b->low, b->n_channels * sizeof (float));
      g_assert_cmpmem (a->high, a->n_channels * sizeof (float), b->high, b->n_channels * sizeof (float));
    }
  g_assert_cmpmem (a->clamped->data, a->clamped->len * sizeof (float), b->clamped->data, b->clamped->len * sizeof (float));
}

/* Returns whether the ends were told. */
static gboolean
check_run (VnRunner   *runner,
           const Case *self,
           Data        which,
           gboolean    accepts,
           guint       n_threads)
{
  g_autoptr(GArray) plain = g_array_new (FALSE, FALSE, sizeof (float)), found = g_array_new (FALSE, FALSE, sizeof (float));
  Told expected = { .clamped = plain }, got = { .clamped = found };
  g_autoptr(VnTensor) input = make_data (self, which);
  g_autoptr(VnTensor) a = run (runner, input, FALSE, FALSE, 1, &expected);
  g_autoptr(VnTensor) b = run (runner, input, TRUE, accepts, n_threads, &got);
  const gboolean told = !expected.strange;

  g_assert_true (told || which == DATA_NAN || which == DATA_INFINITE);
  g_assert_cmpuint (expected.n_whole, ==, 1);
  g_assert_cmpuint (got.n_told, ==, told ? 1 : 0);
  g_assert_cmpuint (got.n_whole, ==, told && accepts ? 0 : 1);
  check_same_told (&expected, &got, told || !accepts);
  g_assert_cmpuint (expected.clamped->len > 0, ==, self->clamp != NULL);
  g_assert_cmpmem (a->data, a->n_bytes, b->data, b->n_bytes);
  return told && accepts;
}

static void
test_ends (void)
{
  static const Case cases[] = {
    { 1, 1, 16, 16, 1, 1, 1, 1, 0, "Relu" }, { 1, 1, 8, 24, 7, 9, 1, 1, 0, "Clip" },
    { 1, 2, 16, 33, 5, 14, 1, 1, 0, NULL }, { 1, 1, 5, 17, 6, 29, 3, 1, 1, "Clip" },
    { 1, 1, 24, 48, 13, 8, 3, 2, 1, "Relu" }, { 1, 1, 16, 37, 20, 61, 1, 2, 0, "Relu" },
    { 0, 1, 16, 16, 3, 3, 3, 1, 1, "Clip" }, { 0, 2, 37, 37, 9, 15, 3, 1, 1, "Relu" },
    { 0, 1, 24, 24, 11, 30, 3, 2, 1, "Clip" }, { 0, 1, 40, 40, 12, 12, 5, 1, 2, NULL },
    { 0, 1, 32, 32, 9, 21, 5, 2, 2, "Relu" }, { 0, 1, 17, 17, 8, 40, 7, 1, 3, "Clip" },
  };
  guint n_told = 0, n = 0;

  if (vn_blocked_get_lanes () == 0)
    {
      g_test_skip ("channels do not lie in blocks here");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_model (&cases[i]);
      g_autoptr(GPtrArray) taps = g_ptr_array_new ();
      const VnPlanOptions options = { .taps = taps };
      g_autoptr(VnPlan) plan = NULL;
      g_autoptr(VnRunner) runner = NULL;

      g_ptr_array_add (taps, vn_graph_find_value (model->graph, "c"));
      if (cases[i].clamp != NULL)
        g_ptr_array_add (taps, vn_graph_find_value (model->graph, "d"));
      plan = vn_plan_new_in_blocks (model, &options, NULL, NULL);
      runner = vn_runner_new (plan, NULL);
      for (guint k = 0; k < 4 * 2 * 3; k++)
        {
          g_test_message ("case %u, data %u, %s, %u threads", i, k % 4, k / 4 % 2 ? "accepted" : "refused", 1 + k / 8);
          n_told += check_run (runner, &cases[i], (Data) (k % 4), k / 4 % 2 == 1, 1 + k / 8);
          n++;
        }
    }
  g_assert_cmpuint (n_told, >=, n / 4);
  g_assert_cmpuint (n_told, <, n / 3);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ends/convolutions", test_ends);
  return g_test_run ();
}
