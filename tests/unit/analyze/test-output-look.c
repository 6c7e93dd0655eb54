/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outputs that hardly depend on the samples, a network that takes all of them for one class, and labels that it hits by chance
 * alone. */
#include "vn-evaluate.h"
#include "vn-output-look.h"

#include <math.h>

#define N 8u

static guint
count_notes (VnOutputLook *look)
{
  g_autoptr(VnNotes) notes = vn_notes_new ();

  vn_output_look_note (look, notes);
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    g_assert_cmpstr (vn_notes_get (notes, i)->code, ==, "data-no-reaction");
  return vn_notes_get_n (notes);
}

/* [1, 3, 50]: the first slice is @size with a change of @change, half of the samples up, half down; the others are @rest and
 * never change. */
static void
test_reaction (void)
{
  static const struct { float size, change, rest; guint n_samples, n_notes; } cases[] = {
    { 1, 0.5f, 1, N, 0 }, { 1, 0.01f, 1, N, 1 }, { 1, 0, 1, N, 1 },
    { 0.01f, 0.005f, 100, N, 0 },   /* small numbers beside large ones that never change */
    { 1, 0.01f, 1, 3, 0 },          /* too few to say */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnOutputLook) look = vn_output_look_new (1);
      const double square = (double) cases[i].change * cases[i].change;

      for (guint s = 0; s < cases[i].n_samples; s++)
        {
          g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 3, 50), NULL);

          for (guint k = 0; k < 150; k++)
            ((float *) tensor->data)[k] = k >= 50 ? cases[i].rest : cases[i].size
                                          + (s % 2 == 0 ? cases[i].change : -cases[i].change);
          vn_output_look_add (look, 0, tensor);
        }
      if (cases[i].n_samples == N)
        g_assert_cmpfloat_with_epsilon (vn_output_look_get_reaction (look),
                                        square / ((double) cases[i].size * cases[i].size + square), 1e-6);
      else
        g_assert_true (isnan (vn_output_look_get_reaction (look)));
      g_assert_cmpuint (count_notes (look), ==, cases[i].n_notes);
    }
}

/* Outputs of several sizes cannot be held against each other. */
static void
test_sizes (void)
{
  g_autoptr(VnOutputLook) look = vn_output_look_new (1);

  for (guint s = 0; s < N; s++)
    {
      g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 3 + s), NULL);

      vn_output_look_add (look, 0, tensor);
    }
  g_assert_true (isnan (vn_output_look_get_reaction (look)));
  g_assert_cmpuint (count_notes (look), ==, 0);
}

/* A distribution over @n_classes, of which each sample has @confidence at one of the first @n_chosen, and the rest spread in its
 * own way. */
static void
test_classes (void)
{
  static const struct { guint n_classes, n_chosen; float confidence; guint n_notes; } cases[] = {
    { 40, 1, 0.2f, 1 }, { 40, 2, 0.2f, 1 }, { 40, 3, 0.2f, 0 }, { 40, 1, 0.9f, 0 }, { 10, 1, 0.2f, 0 }, { 1000, 1, 0.3f, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const guint n = cases[i].n_classes;
      g_autoptr(VnOutputLook) look = vn_output_look_new (1);

      for (guint s = 0; s < N; s++)
        {
          g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, n), NULL);
          float *values = tensor->data;
          float rest = 0;

          for (guint k = 0; k < n; k++)
            rest += values[k] = 1 + (float) ((k * 7 + s * 3) % 5);
          rest -= values[s % cases[i].n_chosen];
          for (guint k = 0; k < n; k++)
            values[k] *= (1 - cases[i].confidence) / rest;
          values[s % cases[i].n_chosen] = cases[i].confidence;
          vn_output_look_add (look, 0, tensor);
        }
      g_test_message ("%u of %u classes, %g", cases[i].n_chosen, n, (double) cases[i].confidence);
      g_assert_cmpuint (count_notes (look), ==, cases[i].n_notes);
    }
}

static void
test_labels (void)
{
  static const struct { guint n, hits, n_classes, n_notes; } cases[] = {
    { 60, 8, 5, 1 }, { 60, 12, 5, 1 }, { 60, 40, 5, 0 }, { 60, 25, 5, 0 }, { 5, 0, 1000, 1 }, { 5, 1, 1000, 0 },
    { 100, 50, 2, 1 },
    { 100, 75, 2, 0 }, { 10, 5, 2, 0 }, { 2, 0, 10, 0 }, { 100, 13, 10, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const VnAccuracy accuracy = { .n = cases[i].n, .float_top1 = cases[i].hits, .n_classes = cases[i].n_classes,
                                    .valid = TRUE };
      g_autoptr(VnNotes) notes = vn_notes_new ();

      vn_labels_note_chance (&accuracy, notes);
      g_test_message ("%u of %u, %u classes", cases[i].hits, cases[i].n, cases[i].n_classes);
      g_assert_cmpuint (vn_notes_get_n (notes), ==, cases[i].n_notes);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/output-look/reaction", test_reaction);
  g_test_add_func ("/output-look/sizes", test_sizes);
  g_test_add_func ("/output-look/classes", test_classes);
  g_test_add_func ("/output-look/labels", test_labels);
  return g_test_run ();
}
