/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What is shown of made pictures before calibration: what is wrong with them for a network, what is proposed instead, with what
 * effect, and that nothing is left to say once the proposal is applied. */

#include "vn-data-look.h"

#include "vn-graph-edit.h"

#include <gdk-pixbuf/gdk-pixbuf.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define SIDE 24
#define N_PICTURES 12u

typedef struct { VnDataSpec *spec; char *folder; } Pictures;

/* Slopes of several directions and brightness: on the whole as bright, and as varied, as photographs.
 * @flat: all of one grey
 * @reddish: of the colours red is far brighter than blue */
static void
write_picture (const char *folder,
               guint       index,
               gboolean    flat,
               gboolean    reddish)
{
  g_autoptr(GdkPixbuf) pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, SIDE, SIDE);
  g_autofree char *path = g_strdup_printf ("%s/%02u.png", folder, index);
  g_autoptr(GRand) random = g_rand_new_with_seed (index + 1);
  guchar *pixels = gdk_pixbuf_get_pixels (pixbuf);

  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++)
      for (int c = 0; c < 3; c++)
        {
          double value = flat ? 128 : 118 + 70 * sin (x * (0.2 + 0.02 * index) + c) + 40 * cos (y * 0.3 + index)
                         + g_rand_double_range (random, -20, 20);

          if (reddish)
            value += c == 0 ? 60 : c == 2 ? -60 : 0;
          pixels[y * gdk_pixbuf_get_rowstride (pixbuf) + 3 * x + c] = (guchar) CLAMP (value, 0, 255);
        }
  g_assert_true (gdk_pixbuf_save (pixbuf, path, "png", NULL, NULL));
}

static void
make_pictures (Pictures *self,
               guint     n,
               gboolean  flat,
               gboolean  reddish)
{
  self->folder = g_dir_make_tmp ("vn-look-XXXXXX", NULL);
  self->spec = vn_data_spec_new (self->folder);
  for (guint i = 0; i < n; i++)
    write_picture (self->folder, i, flat, reddish);
}

static void
clear_pictures (Pictures *self)
{
  g_autoptr(GDir) dir = g_dir_open (self->folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (self->folder, name, NULL);

      g_unlink (path);
    }
  g_rmdir (self->folder);
  g_free (self->folder);
  vn_data_spec_free (self->spec);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pictures, clear_pictures)

typedef enum { NETWORK_NORM, NETWORK_NORM_IMAGENET, NETWORK_NORM_RED, NETWORK_BIAS, NETWORK_PLAIN } Network;

/* image [1,3,24,24] -> BatchNormalization of what pictures from -1 to 1 have, or of those normalized as ImageNet; or a Conv 1x1
 * with biases of what -1 to 1 makes of it. */
static VnModel *
make_model (Network network)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *in = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &VN_SHAPE (1, 3, SIDE, SIDE));
  VnValue *out = vn_graph_add_value (graph, "out", VN_DTYPE_F32, &VN_SHAPE (1, 3, SIDE, SIDE));
  const float red[3] = { 0.4f, -0.07f, -0.55f }, wide[3] = { 0.18f, 0.18f, 0.18f };
  g_autoptr(VnTensor) weights = vn_tensor_new_f32 (&VN_SHAPE (3, 3, 1, 1), (const float[9]) { 1, 0, 0, 0, 1, 0, 0, 0, 1 });
  g_autoptr(VnTensor) ones = vn_tensor_new_f32 (&VN_SHAPE (3), (const float[3]) { 1, 1, 1 });
  g_autoptr(VnTensor) mean = vn_tensor_new_f32 (&VN_SHAPE (3), network == NETWORK_NORM_RED
                                                ? red : (const float[3]) { -0.07f, -0.07f, -0.07f });
  g_autoptr(VnTensor) variance = vn_tensor_new_f32 (&VN_SHAPE (3), network == NETWORK_NORM_IMAGENET
                                                    ? (const float[3]) { 1, 1, 1 } : wide);
  VnValue *w = vn_graph_add_initializer (graph, "w", weights);
  VnValue *b = vn_graph_add_initializer (graph, "b", ones);
  VnValue *m = vn_graph_add_initializer (graph, "m", mean);
  VnValue *v = vn_graph_add_initializer (graph, "v", variance);

  if (network == NETWORK_PLAIN)
    vn_graph_add_node (graph, NULL, "", "Relu", &in, 1, &out, 1);
  else if (network == NETWORK_BIAS)
    vn_graph_add_node (graph, NULL, "", "Conv", (VnValue *[]) { in, w, b }, 3, &out, 1);
  else
    vn_graph_add_node (graph, NULL, "", "BatchNormalization", (VnValue *[]) { in, b, b, m, v }, 5, &out, 1);
  vn_graph_set_output (graph, 0, out);
  return model;
}

static VnDataLook *
look_at (VnModel    *model,
         VnDataSpec *spec)
{
  const VnInputSpec input = { (char *) "image", VN_DTYPE_F32, VN_SHAPE (1, 3, SIDE, SIDE) };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
  VnDataLook *look;

  g_assert_no_error (error);
  look = vn_data_look (model, model, NULL, dataset, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (look);
  return look;
}

static const struct
{
  const char *name;
  Network     network;
  gboolean    flat, reddish;
  guint       n;
  const char *code;         /* of the first finding; NULL: there is none */
  const char *cure;         /* title of the first proposal; NULL: none */
  gboolean    is_certain;
  double      suits_low, suits_high;   /* NaN: not told */
} cases[] = {
  { "norm", NETWORK_NORM, FALSE, FALSE, N_PICTURES, "data-range", "−1 … 1", TRUE, -1, 1 },
  { "norm-imagenet", NETWORK_NORM_IMAGENET, FALSE, FALSE, N_PICTURES, "data-range", "ImageNet", TRUE, -2.118, 2.640 },
  { "bias", NETWORK_BIAS, FALSE, FALSE, N_PICTURES, "data-range", "ImageNet", FALSE, NAN, NAN },
  { "flat", NETWORK_PLAIN, TRUE, FALSE, N_PICTURES, "data-equal", NULL, FALSE, NAN, NAN },
  { "few", NETWORK_PLAIN, FALSE, FALSE, 4, "data-few", NULL, FALSE, NAN, NAN },
  { "plain", NETWORK_PLAIN, FALSE, FALSE, N_PICTURES, NULL, NULL, FALSE, NAN, NAN },
};

static void
check_values (const VnDataValues *values,
              double              low,
              double              high)
{
  g_assert_cmpstr (values->input, ==, "image");
  g_assert_cmpuint (values->n_channels, ==, 3);
  g_assert_cmpfloat (values->low, >=, low - 1e-4);
  g_assert_cmpfloat (values->high, <=, high + 1e-4);
  for (guint c = 0; c < 3; c++)
    {
      double n = 0;

      for (guint i = 0; i < VN_DATA_LOOK_BINS; i++)
        n += values->counts[c][i];
      g_assert_cmpfloat (n, >, SIDE * SIDE);
    }
}

static void
test_case (gconstpointer data)
{
  const guint k = GPOINTER_TO_UINT (data);
  g_auto(Pictures) pictures = { 0 };
  g_autoptr(VnModel) model = make_model (cases[k].network);
  g_autoptr(VnDataLook) look = NULL;
  const VnDataFinding *first;

  make_pictures (&pictures, cases[k].n, cases[k].flat, cases[k].reddish);
  look = look_at (model, pictures.spec);
  check_values (&look->values, 0, 255);
  if (isnan (cases[k].suits_low))
    g_assert_true (isnan (look->values.suits_low));
  else
    {
      g_assert_cmpfloat_with_epsilon (look->values.suits_low, cases[k].suits_low, 1e-3);
      g_assert_cmpfloat_with_epsilon (look->values.suits_high, cases[k].suits_high, 1e-3);
    }
  g_assert_true (vn_data_look_is_suspicious (look) == (cases[k].code != NULL && !g_str_equal (cases[k].code, "data-few")));
  g_assert_cmpuint (look->findings->len > 0, ==, cases[k].code != NULL);
  if (cases[k].code == NULL)
    return;
  first = look->findings->pdata[0];
  g_test_message ("%s: %s. %s", first->title, first->text, first->remedy != NULL ? first->remedy : "");
  g_assert_cmpstr (first->code, ==, cases[k].code);
  g_assert_cmpuint (strlen (first->title), >, 5);
  if (cases[k].cure == NULL)
    {
      g_assert_cmpuint (first->cures->len, ==, 0);
      return;
    }
  for (guint i = 0; i < first->cures->len; i++)
    {
      const VnDataCure *cure = first->cures->pdata[i];
      g_autoptr(VnDataLook) after = NULL;

      if (i == 0)
        g_assert_cmpstr (cure->title, ==, cases[k].cure);
      g_assert_cmpstr (cure->input, ==, "image");
      g_assert_nonnull (cure->effect);
      g_test_message ("%s", cure->effect);
      g_assert_nonnull (strstr (cure->effect, cure->title));
      pictures.spec->preprocess = cure->settings;
      after = look_at (model, pictures.spec);
      g_assert_false (vn_data_look_is_suspicious (after));     /* what is proposed helps */
    }
  g_assert_true (first->is_certain == cases[k].is_certain);
  g_assert_true (cases[k].is_certain ? first->cures->len == 1 : first->cures->len > 1);
}

/* Colours: pictures that are red, for a network that knows them so, read as blue. */
static void
test_colors (void)
{
  g_auto(Pictures) pictures = { 0 };
  g_autoptr(VnModel) model = make_model (NETWORK_NORM_RED);
  g_autoptr(VnDataLook) right = NULL, look = NULL, after = NULL;
  const VnDataFinding *first;
  const VnDataCure *cure;

  make_pictures (&pictures, N_PICTURES, FALSE, TRUE);
  for (guint c = 0; c < 4; c++)
    pictures.spec->preprocess.mean[c] = pictures.spec->preprocess.std[c] = 127.5f;
  right = look_at (model, pictures.spec);
  g_assert_cmpuint (right->findings->len, ==, 0);
  g_assert_cmpfloat_with_epsilon (right->values.suits_low, -1, 1e-3);
  pictures.spec->preprocess.color = VN_COLOR_BGR;
  look = look_at (model, pictures.spec);
  g_assert_cmpuint (look->findings->len, ==, 1);
  first = look->findings->pdata[0];
  g_test_message ("%s: %s", first->title, first->text);
  g_assert_cmpstr (first->code, ==, "data-colors");
  g_assert_cmpuint (first->cures->len, ==, 1);
  cure = first->cures->pdata[0];
  g_assert_cmpint (cure->settings.color, ==, VN_COLOR_RGB);
  g_assert_cmpstr (cure->title, ==, "RGB");
  pictures.spec->preprocess = cure->settings;
  after = look_at (model, pictures.spec);
  g_assert_cmpuint (after->findings->len, ==, 0);
}

/* What the network's file says counts more than what its biases would also allow, and the chart speaks of that alone. */
static void
test_metadata (void)
{
  g_auto(Pictures) pictures = { 0 };
  g_autoptr(VnModel) model = make_model (NETWORK_BIAS);
  g_autoptr(VnDataLook) look = NULL, after = NULL;
  const VnDataFinding *first;

  make_pictures (&pictures, N_PICTURES, FALSE, FALSE);
  g_ptr_array_add (model->metadata, g_strdup ("Image.NominalPixelRange"));
  g_ptr_array_add (model->metadata, g_strdup ("Normalized_0_1"));
  look = look_at (model, pictures.spec);
  g_assert_cmpuint (look->findings->len, ==, 1);
  first = look->findings->pdata[0];
  g_test_message ("%s: %s. %s", first->title, first->text, first->remedy);
  g_assert_true (first->is_certain);
  g_assert_cmpuint (first->cures->len, ==, 1);
  g_assert_cmpstr (((VnDataCure *) first->cures->pdata[0])->title, ==, "0 … 1");
  g_assert_cmpfloat_with_epsilon (look->values.suits_high, 1, 1e-6);
  pictures.spec->preprocess = ((VnDataCure *) first->cures->pdata[0])->settings;
  after = look_at (model, pictures.spec);
  g_assert_cmpuint (after->findings->len, ==, 0);
  g_assert_cmpfloat_with_epsilon (after->values.suits_high, 1, 1e-6);
}

/* Each scale once, the likeliest first; the chart says what the layer seems to be made for where it is that alone. */
static void
test_ranking (void)
{
  static const char * const titles[] = { "ImageNet", "−1 … 1", "0 … 1" };
  g_auto(Pictures) pictures = { 0 };
  g_autoptr(VnModel) model = make_model (NETWORK_BIAS);
  g_autoptr(VnDataLook) look = NULL;
  const VnDataFinding *first;

  make_pictures (&pictures, N_PICTURES, FALSE, FALSE);
  look = look_at (model, pictures.spec);
  first = look->findings->pdata[0];
  g_assert_cmpuint (first->cures->len, ==, G_N_ELEMENTS (titles));
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    g_assert_cmpstr (((VnDataCure *) first->cures->pdata[i])->title, ==, titles[i]);
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    {
      g_autoptr(VnDataLook) after = NULL;

      pictures.spec->preprocess = ((VnDataCure *) first->cures->pdata[i])->settings;
      after = look_at (model, pictures.spec);
      g_assert_true (isfinite (after->values.suits_low) == (i == 0));
    }
}

/* Whoever changes the samples does not wait for what is about those before. */
static void
test_cancel (void)
{
  g_auto(Pictures) pictures = { 0 };
  g_autoptr(VnModel) model = make_model (NETWORK_NORM);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  const VnInputSpec input = { (char *) "image", VN_DTYPE_F32, VN_SHAPE (1, 3, SIDE, SIDE) };

  make_pictures (&pictures, 2, FALSE, FALSE);
  dataset = vn_dataset_open (pictures.spec, &input, 1, NULL, &error);
  g_assert_no_error (error);
  g_cancellable_cancel (cancellable);
  g_assert_null (vn_data_look (model, model, NULL, dataset, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/data-look/", cases[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_case);
    }
  g_test_add_func ("/data-look/colors", test_colors);
  g_test_add_func ("/data-look/metadata", test_metadata);
  g_test_add_func ("/data-look/ranking", test_ranking);
  g_test_add_func ("/data-look/cancel", test_cancel);
  return g_test_run ();
}
