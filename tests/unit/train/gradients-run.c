/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gradients-run cases DIR: writes inputs, factors and gradients of all cases as NUMBER-in0.npy and so on, and a list of them.
 * gradients-run network MODEL DIR: gradients of the float constants of a network that are no single number, as NUMBER.npy in the
 * order of its initializers. gradients-run speed MODEL ITEMS THREADS: what a step of all nodes takes. */
#include "gradient-bench.h"
#include "vn-onnx.h"
#include "vn-train-block.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void
stop (const GError *error)
{
  if (error == NULL)
    return;
  g_printerr ("%s\n", error->message);
  exit (1);
}

static void
write_tensor (const char     *folder,
              const char     *name,
              guint           number,
              const VnTensor *tensor)
{
  g_autofree char *path = g_strdup_printf ("%s/%s%u.npy", folder, name, number);
  g_autoptr(GError) error = NULL;

  if (tensor != NULL)
    vn_npy_write (path, tensor, &error);
  stop (error);
}

/* ---- cases ---- */

static void
write_case (const char         *folder,
            guint               number,
            const GradientCase *c,
            GString            *list)
{
  g_autofree char *in = g_strdup_printf ("%u-in", number), *grad = g_strdup_printf ("%u-grad", number);
  g_autofree char *factor = g_strdup_printf ("%u-factor", number);
  VnTensor *gradients[GRADIENT_MAX_INPUTS] = { NULL };
  g_auto(GradientBench) bench = { 0 };
  g_autoptr(GError) error = NULL;

  gradient_bench_init (&bench, c);
  gradient_bench_run_back (&bench, G_MAXUINT, gradients, &error);
  stop (error);
  for (guint i = 0; i < bench.call.n_inputs; i++)
    {
      write_tensor (folder, in, i, bench.inputs[i]);
      write_tensor (folder, grad, i, gradients[i]);
    }
  for (guint o = 0; o < bench.call.n_outputs; o++)
    write_tensor (folder, factor, o, bench.factors[o]);
  g_string_append_printf (list, "%s\t%lld\t%u\t%u\t%s\n", c->type, (long long) c->opset, bench.call.n_inputs,
                          bench.call.n_outputs,
                          c->attributes);
  vn_tensor_clear_all (gradients, GRADIENT_MAX_INPUTS);
}

static void
write_cases (const char *folder)
{
  g_autoptr(GString) list = g_string_new (NULL);
  g_autofree char *path = g_build_filename (folder, "list.txt", NULL);
  g_autoptr(GError) error = NULL;
  guint n;
  const GradientCase *cases = gradient_cases (&n);

  for (guint i = 0; i < n; i++)
    write_case (folder, i, &cases[i], list);
  g_file_set_contents (path, list->str, -1, &error);
  stop (error);
}

/* ---- networks ---- */

typedef struct
{
  VnBlock       *block;
  VnTensor     **inputs;
  VnTensor      *factors;
  const VnGraph *graph;
  const char    *folder;
} Network;

static VnTensor *
make_random (const VnShape *shape,
             guint          seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr(GError) error = NULL;
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, shape, &error);

  stop (error);
  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = (float) g_rand_double_range (rand, -1, 1);
  return tensor;
}

/* On which side of a bound each value came out: in float32 some are on another side than in float64. */
static void
write_bounds (VnBlockRun    *run,
              const Network *network)
{
  for (guint i = 0; i < network->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (network->graph->nodes, i);

      if (vn_node_is (node, "Relu") || vn_node_is (node, "Clip"))
        write_tensor (network->folder, "bound", i, vn_block_run_get_value (run, vn_node_get_output (node, 0)));
    }
}

static gboolean
train_item (VnBlockRun  *run,
            guint        item,
            gpointer     data,
            GError     **error)
{
  Network *network = data;
  const VnTensor *y;
  VnTensor *dy;

  if (!vn_block_run_forward (run, network->inputs, error))
    return FALSE;
  y = vn_block_run_get_output (run, 0);
  dy = vn_block_run_get_output_gradient (run, 0, error);
  if (dy == NULL)
    return FALSE;
  if (network->folder != NULL)
    {
      network->factors = make_random (&y->shape, 7);
      write_tensor (network->folder, "output", 0, y);
      write_bounds (run, network);
      write_tensor (network->folder, "factor", 0, network->factors);
      memcpy (dy->data, network->factors->data, dy->n_bytes);
    }
  else
    memcpy (dy->data, y->data, dy->n_bytes);
  return vn_block_run_backward (run, error);
}

static void
open_network (Network     *self,
              const char  *path,
              VnModel    **model)
{
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  g_autoptr(GError) error = NULL;

  *model = vn_onnx_read_file (path, &error);
  stop (error);
  self->graph = (*model)->graph;
  g_ptr_array_extend (nodes, (*model)->graph->nodes, NULL, NULL);
  self->block = vn_block_new ((*model)->graph, nodes, NULL, &error);
  stop (error);
  self->inputs = g_new0 (VnTensor *, vn_block_get_n_inputs (self->block) + 1);
  for (guint i = 0; i < vn_block_get_n_inputs (self->block); i++)
    {
      VnShape shape = vn_block_get_input (self->block, i)->type.shape;

      for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = MAX (shape.dims[d], 1);
      self->inputs[i] = make_random (&shape, i + 1);
    }
  for (guint i = 0; i < (*model)->graph->initializers->len; i++)
    {
      const VnValue *value = g_ptr_array_index ((*model)->graph->initializers, i);
      const VnTensor *constant = vn_block_get_constant (self->block, value);

      if (constant != NULL && constant->n_elements > 1)
        vn_block_want_gradient (self->block, value, &error);
    }
  stop (error);
}

static void
close_network (Network *self,
               VnModel *model)
{
  vn_tensor_clear_all (self->inputs, vn_block_get_n_inputs (self->block));
  g_free (self->inputs);
  g_clear_pointer (&self->factors, vn_tensor_unref);
  vn_block_free (self->block);
  vn_model_unref (model);
}

static void
write_network (const char *path,
               const char *folder)
{
  g_autoptr(GError) error = NULL;
  Network network = { .folder = folder };
  VnModel *model;

  open_network (&network, path, &model);
  for (guint i = 0; i < vn_block_get_n_inputs (network.block); i++)
    write_tensor (folder, "input", i, network.inputs[i]);
  vn_block_step (network.block, 1, 1, train_item, &network, NULL, &error);
  stop (error);
  for (guint i = 0; i < model->graph->initializers->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->initializers, i);

      if (vn_block_get_constant (network.block, value) != NULL)
        write_tensor (folder, "grad", i, vn_block_get_gradient (network.block, value));
    }
  close_network (&network, model);
}

static void
measure_speed (const char *path,
               guint       n_items,
               guint       n_threads)
{
  g_autoptr(GError) error = NULL;
  Network network = { 0 };
  double best = G_MAXDOUBLE, least = G_MAXDOUBLE;
  VnModel *model;

  open_network (&network, path, &model);
  for (guint i = 0; i < 7; i++)
    {
      gint64 start = g_get_monotonic_time ();
      clock_t cpu = clock ();

      vn_block_step (network.block, n_items, n_threads, train_item, &network, NULL, &error);
      stop (error);
      best = MIN (best, (double) (g_get_monotonic_time () - start) / 1e6);
      least = MIN (least, (double) (clock () - cpu) / CLOCKS_PER_SEC);
    }
  g_print ("%.1f ms for a step of %u items, %u threads; %.1f ms of processor time\n", best * 1e3, n_items, n_threads,
           least * 1e3);
  close_network (&network, model);
}

int
main (int    argc,
      char **argv)
{
  if (argc == 3 && g_str_equal (argv[1], "cases"))
    write_cases (argv[2]);
  else if (argc == 4 && g_str_equal (argv[1], "network"))
    write_network (argv[2], argv[3]);
  else if (argc == 5 && g_str_equal (argv[1], "speed"))
    measure_speed (argv[2], (guint) atoi (argv[3]), (guint) atoi (argv[4]));
  else
    {
      g_printerr ("gradients-run cases DIR | network MODEL DIR | speed MODEL ITEMS THREADS\n");
      return 2;
    }
  return 0;
}
