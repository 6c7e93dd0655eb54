/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values between convolutions are kept in blocks of channels where nobody looks at them: the results are the same bits
 * as those of a plan in which every value is looked at, which has none. */
#include "engine-fixture.h"

#include "vn-blocked.h"
#include "vn-plan-info.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/**
 * Case:
 * @layers: one after the other, each on the result of the one before: c OUT KERNEL STRIDE PADDING DILATION: Conv;
 *   d KERNEL STRIDE PADDING DILATION: the same, depthwise; m, a KERNEL STRIDE PADDING: MaxPool, AveragePool; g:
 *   GlobalAveragePool; i: Identity; o: Dropout with a mask that nobody reads; p: Conv that multiplies by 1 into 16 channels, adds
 *   -0; b: BatchNormalization; r: Relu; h: HardSwish; e: Softplus; +N: Add of result N (0 is the input); |N: Concat with it;
 *   q ZERO, s ZERO, w ZERO: QuantizeLinear to uint8, int8, uint16; k: DequantizeLinear of it; f N: Cast of result N to float32
 * @n_orders: steps that only change the order, in blocks of 16; -1: depends on that
 */
typedef struct
{
  gint64      dims[4];
  const char *layers;
  int         n_orders;
} Case;

static const Case cases[] = {
  { { 1, 3, 17, 19 },  "c 16 3 2 1 1; r; c 32 1 1 0 1", 1 },
  { { 2, 3, 31, 29 },  "c 20 7 2 3 1; m 3 2 1; c 33 3 1 1 1; r; c 5 1 1 0 1", 1 },
  { { 1, 4, 7, 7 },    "c 40 3 1 1 1; c 24 1 1 0 1; h", 1 },   /* 49 pixels: the last one is computed otherwise */
  { { 1, 4, 5, 10 },   "c 40 3 1 1 1; c 24 1 1 0 1; r", 1 },   /* 50: the last two */
  { { 1, 48, 1, 1 },   "c 16 1 1 0 1; r; c 48 1 1 0 1", 1 },
  { { 1, 16, 1, 98 },  "c 17 3 1 1 1; c 16 3 2 1 1", 1 },
  { { 1, 16, 98, 1 },  "c 17 3 1 1 1; c 16 3 2 2 2", 1 },
  { { 1, 5, 12, 11 },  "c 18 3 1 2 2; c 16 5 3 1 1; c 30 2 2 0 1", 1 },
  { { 1, 3, 33, 35 },  "c 24 3 2 1 1; r; d 3 1 1 1; r; c 16 1 1 0 1; c 48 1 1 0 1; d 3 2 1 1; c 24 1 1 0 1", 1 },
  { { 2, 3, 14, 14 },  "c 40 1 1 0 1; d 5 1 2 1; d 5 2 2 1; d 3 1 2 2; d 7 1 3 1; d 2 3 0 1; c 8 1 1 0 1", 1 },
  { { 1, 3, 11, 45 },  "c 24 1 1 0 1; d 3 1 1 1; d 5 1 2 1; d 3 2 1 1; d 5 2 2 1; c 8 1 1 0 1", 1 },
  { { 2, 3, 23, 21 },  "c 20 1 1 0 1; m 2 1 0; m 3 1 1; m 3 2 1; m 5 1 2; m 2 2 1; m 3 3 0; c 8 1 1 0 1", 1 },
  { { 1, 3, 9, 9 },    "c 24 1 1 0 1; c 24 3 1 1 1; +1; r; c 24 1 1 0 1; +4; c 24 3 2 1 1; r; c 24 1 1 0 1", 1 },
  { { 1, 3, 41, 43 },  "c 32 3 1 1 1; c 48 1 1 0 1; |1; i; d 3 1 1 1; o; c 16 1 1 0 1; r; |1; c 8 3 1 1 1", 1 },
  { { 1, 3, 3, 2 },    "c 24 1 1 0 1; d 3 1 1 1; h; c 16 1 1 0 1", 1 },
  { { 1, 3, 12, 13 },  "c 32 3 1 1 1; r; c 32 3 1 1 1; b; +2; r; c 32 1 1 0 1; +6; h; c 7 1 1 0 1", 1 },
  { { 1, 3, 12, 13 },  "c 24 3 1 1 1; d 3 1 1 1; b; h; c 24 1 1 0 1; +1; c 24 1 1 0 1", 1 },
  { { 1, 16, 9, 9 },   "c 16 3 1 1 1; e; c 16 3 1 1 1; +0; c 16 1 1 0 1", 2 },   /* the input in blocks, too */
  { { 1, 3, 20, 18 },  "c 16 3 1 1 1; m 2 2 0; |2; c 32 3 1 1 1; |3; a 3 2 1; c 16 1 1 0 1", 1 },
  { { 1, 3, 20, 18 },  "c 12 3 1 1 1; m 2 2 0; |2; c 32 3 1 1 1", -1 },
  { { 2, 3, 70, 66 },  "c 40 3 1 1 1; r; c 24 1 1 0 1; g; c 8 1 1 0 1", -1 },
  { { 1, 3, 6, 5 },    "c 40 3 1 1 1; r; c 24 1 1 0 1; g; r", 0 },
  { { 1, 300, 14, 14 }, "c 130 1 1 0 1; c 96 3 1 1 1; c 300 1 1 0 1", 1 },
  { { 1, 3, 12, 13 },  "c 24 3 1 1 1; q 3; k; c 16 3 1 1 1; r; s -128; k; d 3 1 1 1; w 9; k; c 8 1 1 0 1", 1 },
  { { 1, 3, 12, 13 },  "c 24 3 1 1 1; q 3; k; c 24 1 1 0 1; +3; s 0; k; m 2 2 0; q 7; k; c 8 1 1 0 1", 1 },
  { { 1, 3, 12, 13 },  "c 24 3 1 1 1; h; q 3; k; c 20 1 1 0 1; h; s 3; k; c 8 1 1 0 1", 1 },
  { { 2, 3, 9, 11 },   "c 20 3 1 1 1; q 3; k; c 20 1 1 0 1; f 2; +4; c 8 1 1 0 1", 2 },     /* codes as the graph has them, too */
  { { 2, 3, 9, 11 },   "c 20 3 1 1 1; w 3; k; c 20 1 1 0 1; f 2; +4; c 8 1 1 0 1", 2 },
  /* Three blocks of 8 at a time, what is multiplied by channel, and planes that are copied as blocks. */
  { { 1, 24, 21, 19 }, "c 24 3 1 1 1; b; r; c 24 3 1 1 1; b; +3; h; c 40 5 1 2 1; b", -1 },
  { { 2, 19, 23, 31 }, "c 23 3 1 1 1; h; d 3 1 1 1; b; r; c 23 1 1 0 1; b; +5; c 56 3 1 2 2", -1 },
  { { 1, 16, 30, 34 }, "c 24 3 1 1 1; e; c 40 3 2 1 1; b; e; c 16 3 1 0 1; e", -1 },
  { { 2, 36, 40, 38 }, "c 21 3 1 1 1; e; c 17 5 1 3 1; r", -1 },
  /* Alone, or with nothing to gain: as it is. */
  { { 1, 16, 8, 8 },   "c 16 3 1 1 1; r", 0 },
  { { 1, 16, 8, 8 },   "m 2 2 0; e; c 16 3 1 1 1; e", 0 },
  { { 1, 16, 8, 8 },   "d 3 1 1 1; e", 0 },
};

typedef struct
{
  VnModel *model;
  GRand   *rand;
  guint    n;           /* values so far */
  guint    quantizer;   /* what the latest codes are of */
  gint64   channels[32];
} Builder;

static char *
add_random (Builder    *self,
            const char *what,
            VnShape     shape,
            double      low,
            double      high)
{
  char *name = g_strdup_printf ("%s%u", what, self->n);
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = (float) g_rand_double_range (self->rand, low, high);
  vn_graph_add_initializer (self->model->graph, name, tensor);
  return name;
}

static VnNode *
append (Builder    *self,
        const char *type,
        const char *more,
        gint64      channels)
{
  g_autofree char *in = g_strdup_printf ("v%u%s%s", self->n, *more != '\0' ? " " : "", more);
  g_autofree char *out = g_strdup_printf ("v%u", self->n + 1);
  VnNode *node = add_node (self->model, type, out, in, out);

  self->channels[++self->n] = channels;
  return node;
}

static void
set_window (VnNode       *node,
            const gint64 *numbers,    /* kernel, stride, padding */
            gint64        dilation)
{
  gint64 pads[4] = { numbers[2], numbers[2], numbers[2], numbers[2] };

  vn_node_set_ints (node, "kernel_shape", (const gint64[]) { numbers[0], numbers[0] }, 2);
  vn_node_set_ints (node, "strides", (const gint64[]) { numbers[1], numbers[1] }, 2);
  vn_node_set_ints (node, "pads", pads, 4);
  if (dilation > 1)
    vn_node_set_ints (node, "dilations", (const gint64[]) { dilation, dilation }, 2);
}

static void
append_conv (Builder      *self,
             gint64        out,
             gint64        group_channels,
             const gint64 *numbers,
             gint64        kernel[2])
{
  double scale = 1 / sqrt ((double) (group_channels * kernel[0] * kernel[1]));
  g_autofree char *w = add_random (self, "w", VN_SHAPE (out, group_channels, kernel[0], kernel[1]), -scale, scale);
  g_autofree char *b = add_random (self, "b", VN_SHAPE (out), -1, 1);
  g_autofree char *more = g_strdup_printf ("%s %s", w, b);
  VnNode *node = append (self, "Conv", more, out);

  set_window (node, numbers, numbers[3]);
  vn_node_set_int (node, "group", self->channels[self->n - 1] / group_channels);
}

/* Keeps zeros with their signs, and NaN. */
static void
append_copies (Builder *self)
{
  static const gint64 numbers[] = { 1, 1, 0, 1 };
  gint64 n = self->channels[self->n];
  g_autofree char *w = add_random (self, "w", VN_SHAPE (16, n, 1, 1), 1, 1);
  g_autofree char *b = add_random (self, "b", VN_SHAPE (16), -0.f, -0.f);
  g_autofree char *more = g_strdup_printf ("%s %s", w, b);

  set_window (append (self, "Conv", more, 16), numbers, 1);
}

static void
append_dropout (Builder *self)
{
  g_autofree char *in = g_strdup_printf ("v%u", self->n);
  g_autofree char *out = g_strdup_printf ("v%u mask%u", self->n + 1, self->n + 1);

  add_node (self->model, "Dropout", out, in, out);
  self->channels[self->n + 1] = self->channels[self->n];
  self->n++;
}

static void
append_norm (Builder *self)
{
  gint64 n = self->channels[self->n];
  g_autofree char *scale = add_random (self, "s", VN_SHAPE (n), 0.5, 2), *shift = add_random (self, "o", VN_SHAPE (n), -1, 1);
  g_autofree char *mean = add_random (self, "m", VN_SHAPE (n), -1, 1), *var = add_random (self, "q", VN_SHAPE (n), 0.5, 2);
  g_autofree char *more = g_strdup_printf ("%s %s %s %s", scale, shift, mean, var);

  append (self, "BatchNormalization", more, n);
}

/* Which type the codes have that are read again. */
static void
append_quantizer (Builder    *self,
                  const char *layer,
                  gint64      zero)
{
  static const struct { char letter; VnDType dtype; } types[] = { { 'q', VN_DTYPE_U8 }, { 's', VN_DTYPE_S8 },
                                                                  { 'w', VN_DTYPE_U16 } };
  g_autofree char *names = g_strdup_printf ("scale%u zero%u", self->n, self->n);
  g_auto(GStrv) each = g_strsplit (names, " ", 2);

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (*layer == types[i].letter)
      {
        add_floats (self->model, each[0], VN_SHAPE_SCALAR, types[i].dtype == VN_DTYPE_U16 ? 1e-4f : 0.03f, 0);
        add_code (self->model, each[1], types[i].dtype, (int) zero);
        append (self, "QuantizeLinear", names, self->channels[self->n]);
        self->quantizer = self->n - 1;
      }
}

static void
append_dequantizer (Builder *self)
{
  g_autofree char *names = g_strdup_printf ("scale%u zero%u", self->quantizer, self->quantizer);

  append (self, "DequantizeLinear", names, self->channels[self->n]);
}

static void
append_cast (Builder *self,
             gint64   of)
{
  g_autofree char *in = g_strdup_printf ("v%" G_GINT64_FORMAT, of), *out = g_strdup_printf ("v%u", self->n + 1);

  vn_node_set_int (add_node (self->model, "Cast", out, in, out), "to", VN_DTYPE_F32);
  self->channels[++self->n] = self->channels[of];
}

static void
append_layer (Builder    *self,
              const char *layer)
{
  gint64 n = self->channels[self->n], v[5] = { 0 };
  int k = sscanf (layer + 1, "%" G_GINT64_FORMAT "%" G_GINT64_FORMAT "%" G_GINT64_FORMAT "%" G_GINT64_FORMAT "%"
                  G_GINT64_FORMAT, &v[0], &v[1], &v[2], &v[3], &v[4]);
  g_autofree char *other = g_strdup_printf ("v%" G_GINT64_FORMAT, v[0]);
  static const char * const plain[][2] = { { "g", "GlobalAveragePool" }, { "r", "Relu" }, { "h", "HardSwish" },
                                           { "e", "Softplus" }, { "i", "Identity" } };

  if (*layer == 'c')
    append_conv (self, v[0], n, v + 1, (gint64[]) { v[1], v[1] });
  else if (*layer == 'd')
    append_conv (self, n, 1, v, (gint64[]) { v[0], v[0] });
  else if (*layer == 'm' || *layer == 'a')
    set_window (append (self, *layer == 'm' ? "MaxPool" : "AveragePool", "", n), v, 1);
  else if (*layer == 'q' || *layer == 's' || *layer == 'w')
    append_quantizer (self, layer, v[0]);
  else if (*layer == 'k')
    append_dequantizer (self);
  else if (*layer == 'f')
    append_cast (self, v[0]);
  else if (*layer == 'b')
    append_norm (self);
  else if (*layer == 'p')
    append_copies (self);
  else if (*layer == 'o')
    append_dropout (self);
  else if (*layer == '+')
    append (self, "Add", other, n);
  else if (*layer == '|')
    vn_node_set_int (append (self, "Concat", other, n + self->channels[v[0]]), "axis", 1);
  for (guint i = 0; i < G_N_ELEMENTS (plain) && k <= 0; i++)
    if (*layer == *plain[i][0])
      append (self, plain[i][1], "", n);
}

static VnModel *
make_model (const Case *c)
{
  g_auto(GStrv) layers = g_strsplit (c->layers, "; ", -1);
  Builder self = { vn_model_new (10, 21), g_rand_new_with_seed (5), 0, 0, { c->dims[1] } };
  g_autofree char *last = NULL;

  vn_graph_add_input (self.model->graph, "v0", VN_DTYPE_F32,
                      &VN_SHAPE (c->dims[0], c->dims[1], c->dims[2], c->dims[3]));
  for (guint i = 0; layers[i] != NULL; i++)
    append_layer (&self, layers[i]);
  last = g_strdup_printf ("v%u", self.n);
  set_outputs (self.model, last);
  g_rand_free (self.rand);
  return self.model;
}

static VnTensor *
run_plan (VnPlan   *plan,
          VnTensor *input,
          guint     n_threads)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRunner) runner = vn_runner_new (plan, &error);
  VnTensor *output = NULL;

  g_assert_no_error (error);
  vn_runner_set_threads (runner, n_threads);
  vn_runner_run (runner, &input, &output, NULL, &error);
  g_assert_no_error (error);
  return output;
}

static int
count_orders (VnPlan *plan)
{
  int n = 0;

  for (guint i = 0; i < vn_plan_get_n_steps (plan); i++)
    {
      VnStepInfo info;

      vn_plan_get_step_info (plan, i, &info);
      n += info.is_order;
    }
  return n;
}

static VnTensor *
make_random (VnShape shape)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (9);
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = (float) g_rand_double_range (rand, -2, 2);
  return tensor;
}

static void
check_input (const Case *c,
             VnTensor   *input)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = make_model (c);
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  VnPlanOptions options = { .taps = taps, .no_fusion = TRUE };
  g_autoptr(VnTensor) wanted = NULL;
  g_autoptr(VnPlan) blocked = vn_plan_new (model, NULL, NULL, &error);
  g_autoptr(VnPlan) plain = NULL;

  g_assert_no_error (error);
  for (guint i = 0; i < model->graph->nodes->len; i++)
    g_ptr_array_add (taps, g_ptr_array_index (((VnNode *) g_ptr_array_index (model->graph->nodes, i))->outputs, 0));
  plain = vn_plan_new (model, &options, NULL, &error);
  g_assert_no_error (error);
  if (vn_blocked_get_lanes () == 0)
    g_assert_cmpint (count_orders (blocked), ==, 0);
  else if (vn_blocked_get_lanes () == 16 && c->n_orders >= 0)
    g_assert_cmpint (count_orders (blocked), ==, c->n_orders);
  wanted = run_plan (plain, input, 1);
  for (guint n_threads = 1; n_threads <= 3; n_threads++)
    {
      g_autoptr(VnTensor) found = run_plan (blocked, input, n_threads);

      g_assert_true (vn_shape_equal (&found->shape, &wanted->shape));
      g_assert_cmpmem (found->data, found->n_bytes, wanted->data, wanted->n_bytes);
    }
}

static void
test_cases (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnTensor) input = make_random (VN_SHAPE (cases[i].dims[0], cases[i].dims[1], cases[i].dims[2], cases[i].dims[3]));

      g_test_message ("case %u: %s", i, cases[i].layers);
      check_input (&cases[i], input);
    }
}

/* Which of equal zeros is the larger one, and NaN, in windows of all kinds. */
static void
test_special (void)
{
  static const Case special[] = {
    { { 1, 1, 13, 21 }, "p; m 2 1 0; p", 1 }, { { 1, 1, 13, 21 }, "p; m 2 2 1; p", 1 }, { { 1, 1, 13, 21 }, "p; m 3 1 1; p", 1 },
    { { 1, 1, 13, 21 }, "p; m 3 2 1; p", 1 }, { { 1, 1, 13, 21 }, "p; m 5 2 2; p", 1 },
  };
  static const float numbers[] = { 0.f, -0.f, -0.f, NAN, -1.f, 0.f, -0.f, INFINITY, 1e-3f, -INFINITY, -2.f };

  for (guint i = 0; i < G_N_ELEMENTS (special); i++)
    {
      g_autoptr(VnTensor) input = make_random (VN_SHAPE (1, 1, 13, 21));

      for (gsize k = 0; k < input->n_elements; k++)
        ((float *) input->data)[k] = k % 5 == 0 ? numbers[k / 5 % G_N_ELEMENTS (numbers)] : k % 2 == 0 ? -0.f : -3.f;
      g_test_message ("case %u", i);
      check_input (&special[i], input);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/cases", test_cases);
  g_test_add_func ("/layout/special", test_special);
  return g_test_run ();
}
