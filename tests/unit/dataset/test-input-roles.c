/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What inputs are for, and what those are filled with that samples have nothing for. */
#include "vn-input-role.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-model-data.h"

#include <glib/gstdio.h>
#include <string.h>

static const struct
{
  const char *name;
  VnDType     dtype;
  VnShape     shape;
  gint64      limit;
  gboolean    starts_recurrence;
  VnInputRole role;
  VnFill      fill;
} roles[] = {
  { "input_ids", VN_DTYPE_S64, { 2, { -1, -1 } }, 30522, FALSE, VN_INPUT_TOKENS, VN_FILL_NONE },
  { "attention_mask", VN_DTYPE_S64, { 2, { -1, -1 } }, 0, FALSE, VN_INPUT_MASK, VN_FILL_ONES },
  { "input_mask", VN_DTYPE_S32, { 2, { -1, -1 } }, 0, FALSE, VN_INPUT_MASK, VN_FILL_ONES },
  { "attention_mask", VN_DTYPE_F32, { 4, { 1, 1, 5, 5 } }, 0, FALSE, VN_INPUT_MASK, VN_FILL_ONES },
  { "token_type_ids", VN_DTYPE_S64, { 2, { 1, 8 } }, 2, FALSE, VN_INPUT_SEGMENTS, VN_FILL_ZEROS },
  { "position_ids", VN_DTYPE_S64, { 2, { 1, 8 } }, 512, FALSE, VN_INPUT_POSITIONS, VN_FILL_POSITIONS },
  { "input_lengths", VN_DTYPE_S64, { 1, { -1 } }, 0, FALSE, VN_INPUT_LENGTH, VN_FILL_LENGTH },
  { "x_len", VN_DTYPE_S32, { 0, { 0 } }, 0, FALSE, VN_INPUT_LENGTH, VN_FILL_LENGTH },
  { "sr", VN_DTYPE_S64, { 0, { 0 } }, 0, FALSE, VN_INPUT_RATE, VN_FILL_RATE },
  { "state", VN_DTYPE_F32, { 3, { 2, -1, 128 } }, 0, FALSE, VN_INPUT_STATE, VN_FILL_ZEROS },
  { "conv_cache", VN_DTYPE_F32, { 5, { 2, 1, 16, 16, 33 } }, 0, FALSE, VN_INPUT_STATE, VN_FILL_ZEROS },
  { "input_3", VN_DTYPE_F32, { 4, { 1, 2, 128, 2 } }, 0, TRUE, VN_INPUT_STATE, VN_FILL_ZEROS },
  { "past_key_values.0.key", VN_DTYPE_F32, { 4, { 1, 4, -1, 8 } }, 0, FALSE, VN_INPUT_PAST, VN_FILL_ZEROS },
  { "past_0", VN_DTYPE_F32, { 5, { 2, 1, 4, -1, 8 } }, 0, FALSE, VN_INPUT_PAST, VN_FILL_ZEROS },
  /* not what their names may suggest */
  { "mask", VN_DTYPE_F32, { 4, { 1, 1, 64, 64 } }, 0, FALSE, VN_INPUT_IMAGE, VN_FILL_NONE },
  { "estate", VN_DTYPE_F32, { 2, { 1, 9 } }, 0, FALSE, VN_INPUT_NUMBERS, VN_FILL_NONE },
  { "channel", VN_DTYPE_F32, { 2, { 1, 9 } }, 0, FALSE, VN_INPUT_NUMBERS, VN_FILL_NONE },
  { "images", VN_DTYPE_F32, { 4, { 1, 3, 64, 64 } }, 0, FALSE, VN_INPUT_IMAGE, VN_FILL_NONE },
  { "pixels", VN_DTYPE_U8, { 4, { 1, 64, 64, 3 } }, 0, FALSE, VN_INPUT_IMAGE, VN_FILL_NONE },
  { "waveform", VN_DTYPE_F32, { 2, { 1, -1 } }, 0, FALSE, VN_INPUT_AUDIO, VN_FILL_NONE },
  { "x", VN_DTYPE_F32, { 2, { 1, 16000 } }, 0, FALSE, VN_INPUT_AUDIO, VN_FILL_NONE },
  { "x", VN_DTYPE_F32, { 2, { 1, 1960 } }, 0, FALSE, VN_INPUT_NUMBERS, VN_FILL_NONE },
  { "input", VN_DTYPE_F32, { 2, { -1, -1 } }, 0, FALSE, VN_INPUT_NUMBERS, VN_FILL_NONE },
  { "bytes", VN_DTYPE_S32, { 2, { 1, 2048 } }, 257, FALSE, VN_INPUT_TOKENS, VN_FILL_NONE },
};

static void
test_roles (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    {
      const VnInputSpec spec = { .name = (char *) roles[i].name, .dtype = roles[i].dtype, .shape = roles[i].shape,
                                 .limit = roles[i].limit, .starts_recurrence = roles[i].starts_recurrence };
      g_autofree char *text = vn_input_spec_describe (&spec);

      g_test_message ("%s: %s", roles[i].name, text);
      g_assert_cmpint (vn_input_role_find (&spec), ==, roles[i].role);
      g_assert_cmpint (vn_input_role_get_fill (roles[i].role), ==, roles[i].fill);
      g_assert_true (g_str_has_prefix (text, vn_input_role_get_title (roles[i].role)));
    }
}

static void
test_words (void)
{
  g_assert_cmpint (vn_fill_find ("ones"), ==, VN_FILL_ONES);
  g_assert_cmpint (vn_fill_find ("zeros"), ==, VN_FILL_ZEROS);
  g_assert_cmpint (vn_fill_find ("random"), ==, VN_FILL_RANDOM);
  g_assert_cmpint (vn_fill_find ("./ones"), ==, VN_FILL_NONE);
  g_assert_cmpint (vn_fill_find (""), ==, VN_FILL_NONE);
  g_assert_cmpstr (vn_fill_get_word (VN_FILL_ONES), ==, "ones");
  g_assert_null (vn_fill_get_word (VN_FILL_LENGTH));
}

/* What starts a recurrent layer is a state, whatever it is called and however it is cut. */
static void
test_recurrence (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 14);
  VnGraph *graph = model->graph;
  VnValue *x = vn_graph_add_input (graph, "a", VN_DTYPE_F32, &VN_SHAPE (5, 1, 4));
  VnValue *s = vn_graph_add_input (graph, "b", VN_DTYPE_F32, &VN_SHAPE (1, 1, 8));
  VnValue *moved = vn_graph_add_value (graph, "moved", VN_DTYPE_F32, NULL);
  VnValue *y = vn_graph_add_value (graph, "y", VN_DTYPE_F32, NULL);
  g_autoptr(VnTensor) weights = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 24, 4), NULL);
  g_autoptr(VnTensor) again = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 24, 8), NULL);
  VnValue *w = vn_graph_add_initializer (graph, "w", weights), *r = vn_graph_add_initializer (graph, "r", again);
  VnInputSpec spec;

  vn_graph_add_node (graph, NULL, "", "Transpose", &s, 1, &moved, 1);
  vn_graph_add_node (graph, NULL, "", "GRU", (VnValue *[]) { x, w, r, NULL, NULL, moved }, 6, &y, 1);
  vn_graph_set_output (graph, 0, y);
  vn_input_spec_init (&spec, x);
  g_assert_cmpint (vn_input_role_find (&spec), ==, VN_INPUT_NUMBERS);
  vn_input_spec_init (&spec, s);
  g_assert_cmpint (vn_input_role_find (&spec), ==, VN_INPUT_STATE);
}

/* What com.microsoft:GroupQueryAttention tells of the caches it reads, whose sizes all are open. @width: of the queries, @half:
 * columns of the table of cosines; -1: not known. @packed: keys and values are in with the queries. @slides, @window: attributes;
 * @rows: of the cache. */
static const struct
{
  gint64 heads, kv_heads, width, half, size;
  gboolean packed;
  gint64 slides, window, rows;
} caches[] = {
  { 4, 2, 128, 16, 32, FALSE, 0, 8, -1 },
  { 4, 2, 256, -1, 32, TRUE, 0, -1, -1 },
  { 4, 2, -1, 16, 32, FALSE, 0, 8, -1 },
  { 4, 2, 128, 8, 32, FALSE, 0, 8, -1 },          /* a half of each head is turned */
  { 4, 4, 96, 12, 24, FALSE, 0, 8, -1 },
  { 4, 2, 256, -1, 32, TRUE, 1, 8, 8 },
  { 4, 2, 256, -1, 32, TRUE, 1, -1, -1 },
  /* wrong, or not to be known */
  { 4, 2, -1, -1, -1, FALSE, 0, 8, -1 },
  { 4, 2, 130, -1, -1, FALSE, 0, 8, -1 },
  { 0, 2, 128, 16, -1, FALSE, 0, 8, -1 },
  { 2, 4, 128, 16, -1, FALSE, 0, 8, -1 },
};

static void
test_caches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (caches); i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, 21);
      VnGraph *graph = model->graph;
      VnValue *q = vn_graph_add_input (graph, "q", VN_DTYPE_F32, &VN_SHAPE (-1, -1, caches[i].width));
      VnValue *k = vn_graph_add_input (graph, "k", VN_DTYPE_F32, &VN_SHAPE (-1, -1, -1));
      VnValue *past = vn_graph_add_input (graph, "past.key", VN_DTYPE_F32, &VN_SHAPE (-1, -1, -1, -1));
      VnValue *cos = vn_graph_add_input (graph, "cos", VN_DTYPE_F32, &VN_SHAPE (64, caches[i].half));
      VnValue *y = vn_graph_add_value (graph, "y", VN_DTYPE_F32, NULL);
      VnValue *inputs[] = { q, caches[i].packed ? NULL : k, caches[i].packed ? NULL : k, past, NULL, NULL, NULL, cos };
      VnNode *node = vn_graph_add_node (graph, NULL, "com.microsoft", "GroupQueryAttention", inputs, 8, &y, 1);
      VnInputSpec spec;

      vn_node_set_int (node, "num_heads", caches[i].heads);
      vn_node_set_int (node, "kv_num_heads", caches[i].kv_heads);
      vn_node_set_int (node, "sliding_window_cache", caches[i].slides);
      vn_node_set_int (node, "local_window_size", caches[i].window);
      vn_graph_set_output (graph, 0, y);
      vn_input_spec_init (&spec, past);
      vn_input_spec_fill_cache (&spec, past);
      g_test_message ("%u", i);
      g_assert_cmpint (spec.shape.dims[0], ==, -1);
      g_assert_cmpint (spec.shape.dims[2], ==, caches[i].rows);
      g_assert_true (vn_input_spec_slides (&spec) == (caches[i].rows > 0));
      g_assert_cmpint (spec.shape.dims[3], ==, caches[i].size);
      vn_input_spec_init (&spec, q);
      vn_input_spec_fill_cache (&spec, q);
      g_assert_cmpint (spec.shape.dims[2], ==, caches[i].width);
    }
}

/* ---- loading ---- */

static void
add_symbols (VnValue    *value,
             const char *first,
             const char *second,
             const char *third)
{
  const char *symbols[] = { first, second, third };

  for (int i = 0; i < MIN (value->type.shape.rank, 3); i++)
    if (value->type.shape.dims[i] < 0 && symbols[i] != NULL)
      value->type.symbols[i] = g_strdup (symbols[i]);
}

/* ids, attention_mask, position_ids, lengths, past, state: the first needs samples. */
static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 14);
  VnGraph *graph = model->graph;
  VnValue *ids = vn_graph_add_input (graph, "ids", VN_DTYPE_S64, &VN_SHAPE (-1, -1));
  VnValue *out = vn_graph_add_value (graph, "out", VN_DTYPE_S64, NULL);

  add_symbols (ids, "batch", "sequence", NULL);
  add_symbols (vn_graph_add_input (graph, "attention_mask", VN_DTYPE_S64, &VN_SHAPE (-1, -1)), "batch", "past + sequence", NULL);
  add_symbols (vn_graph_add_input (graph, "position_ids", VN_DTYPE_S32, &VN_SHAPE (-1, -1)), "batch", "sequence", NULL);
  add_symbols (vn_graph_add_input (graph, "lengths", VN_DTYPE_S64, &VN_SHAPE (-1)), "batch", NULL, NULL);
  add_symbols (vn_graph_add_input (graph, "past_0", VN_DTYPE_F32, &VN_SHAPE (-1, -1, 4)), "batch", "past_sequence", NULL);
  vn_graph_add_input (graph, "state", VN_DTYPE_F32, &VN_SHAPE (2, -1, 3));
  vn_graph_add_node (graph, NULL, "", "Identity", &ids, 1, &out, 1);
  vn_graph_set_output (graph, 0, out);
  return model;
}

static void
write_ids (const char *folder,
           guint       i,
           gint64      length)
{
  g_autofree char *path = g_strdup_printf ("%s/%u.npy", folder, i);
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_S64, &VN_SHAPE (1, length), NULL);
  g_autoptr(GError) error = NULL;

  for (gint64 k = 0; k < length; k++)
    ((gint64 *) tensor->data)[k] = k + 7;
  vn_npy_write (path, tensor, &error);
  g_assert_no_error (error);
}

static void
check_input (VnTensor   *tensor,
             const char *shape,
             double      first,
             double      last)
{
  g_autofree char *text = vn_shape_to_string (&tensor->shape, "x");

  g_assert_cmpstr (text, ==, shape);
  if (tensor->n_elements == 0)
    return;
  g_assert_cmpfloat (vn_tensor_get_double (tensor, 0), ==, first);
  g_assert_cmpfloat (vn_tensor_get_double (tensor, tensor->n_elements - 1), ==, last);
}

static VnDataset *
open_data (VnModel    *model,
           const char *path,
           VnNotes    *notes,
           GError    **error)
{
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (path);
  VnInputSpec *specs;
  VnDataset *dataset;
  guint n;

  specs = vn_model_dup_input_specs (model, NULL, &n);
  dataset = vn_dataset_open (spec, specs, n, notes, error);
  vn_input_specs_free (specs, n);
  return dataset;
}

static void
test_load (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autofree char *folder = g_dir_make_tmp ("vn-roles-XXXXXX", NULL), *named = NULL, *all = NULL;
  g_autoptr(GError) error = NULL;

  write_ids (folder, 0, 5);
  write_ids (folder, 1, 9);
  named = g_strdup_printf ("ids=%s; attention_mask=zeros", folder);
  all = g_strdup ("ids=ones;attention_mask=zeros;position_ids=ones;lengths=ones;past_0=zeros;state=zeros");
  for (guint way = 0; way < 2; way++)
    {
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(VnDataset) dataset = open_data (model, way == 0 ? folder : named, notes, &error);
      guint n_filled = 0;

      g_assert_no_error (error);
      g_assert_cmpuint (vn_dataset_get_n (dataset), ==, 2);
      g_assert_cmpuint (vn_dataset_get_main_input (dataset), ==, 0);
      g_assert_cmpint (vn_dataset_get_fill (dataset, 0), ==, VN_FILL_NONE);
      g_assert_cmpint (vn_dataset_get_fill (dataset, 1), ==, way == 0 ? VN_FILL_ONES : VN_FILL_ZEROS);
      for (guint i = 0; i < vn_notes_get_n (notes); i++)
        n_filled += g_str_equal (vn_notes_get (notes, i)->code, "data-filled");
      g_assert_cmpuint (n_filled, ==, way == 0 ? 4 : 3);    /* ones; zeros; positions; lengths */
      for (guint i = 0; i < 2; i++)
        {
          VnTensor *tensors[6] = { NULL };
          const char *shape = i == 0 ? "1x5" : "1x9";
          const double length = i == 0 ? 5 : 9;

          vn_dataset_load (dataset, i, tensors, &error);
          g_assert_no_error (error);
          check_input (tensors[0], shape, 7, length + 6);
          check_input (tensors[1], shape, way == 0, way == 0);
          check_input (tensors[2], shape, 0, length - 1);
          g_assert_cmpint (tensors[2]->dtype, ==, VN_DTYPE_S32);
          check_input (tensors[3], "1", length, length);
          check_input (tensors[4], "1x0x4", 0, 0);
          check_input (tensors[5], "2x1x3", 0, 0);
          vn_tensor_clear_all (tensors, G_N_ELEMENTS (tensors));
        }
    }
  g_assert_null (open_data (model, all, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u.npy", folder, i);

      g_unlink (path);
    }
  g_rmdir (folder);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/input-roles/roles", test_roles);
  g_test_add_func ("/input-roles/words", test_words);
  g_test_add_func ("/input-roles/recurrence", test_recurrence);
  g_test_add_func ("/input-roles/caches", test_caches);
  g_test_add_func ("/input-roles/load", test_load);
  return g_test_run ();
}
