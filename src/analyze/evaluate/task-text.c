/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text recognition by connectionist temporal classification (CTC; Graves et al., 2006): for each step along the line a number for
 * each letter and one for the blank. The text is the best of each step, without repetitions, then without blanks.
 *
 * It is the only output, [1, steps, letters], [steps, 1, letters] or [1, letters, steps]. The blank is the first or the last of
 * the letters, and the best at more steps than any of them in a line of text. Steps of a picture are 2 to 16 pixels wide, and it
 * is longer than high. */
#include "vn-task-reader.h"

#include <math.h>

#define LEAST_LETTERS 11u
#define LEAST_STEPS 4u
#define MOST_STEP_PIXELS 16
#define LEAST_STEP_PIXELS 2
#define LEAST_BLANK_SHARE 0.15
#define NO_BLANK G_MAXSIZE

/* How to get at the numbers: step * @step + letter * @letter; @form: which of the three it is */
typedef struct { guint form; gsize n_steps, n_letters, step, letter, blank; } Layout;

static gsize
text_find_best (const Layout   *layout,
                const VnTensor *tensor,
                gsize           step)
{
  gsize best = 0;

  for (gsize i = 1; i < layout->n_letters; i++)
    if (vn_tensor_get_double (tensor, step * layout->step + i * layout->letter) >
        vn_tensor_get_double (tensor, step * layout->step + best * layout->letter))
      best = i;
  return best;
}

/* The letter that is the best at no fewer steps than any other, if it is the first or the last. */
static gboolean
text_find_blank (Layout         *layout,
                 const VnTensor *tensor)
{
  g_autofree gsize *counts = g_new0 (gsize, layout->n_letters);
  gsize most = 0;

  for (gsize i = 0; i < layout->n_steps; i++)
    counts[text_find_best (layout, tensor, i)]++;
  for (gsize i = 1; i < layout->n_letters; i++)
    if (counts[i] > counts[most])
      most = i;
  if (counts[layout->n_letters - 1] == counts[most] && most != 0)
    most = layout->n_letters - 1;
  layout->blank = most;
  return (most == 0 || most == layout->n_letters - 1) && (double) counts[most] >= LEAST_BLANK_SHARE * (double) layout->n_steps;
}

/* Whether the letters of each step are probabilities, or logarithms of them, of which the sum is 1. */
static gboolean
text_is_normalized (const Layout   *layout,
                    const VnTensor *tensor)
{
  for (gsize i = 0; i < layout->n_steps; i++)
    {
      double sum = 0, log_sum = 0;

      for (gsize k = 0; k < layout->n_letters; k++)
        {
          double value = vn_tensor_get_double (tensor, i * layout->step + k * layout->letter);

          sum += value;
          log_sum += exp (value);
        }
      if (!(fabs (sum - 1) < 0.01) && !(fabs (log_sum - 1) < 0.01))
        return FALSE;
    }
  return TRUE;
}

/* A picture of a line is longer than high; sound has none. */
static gboolean
text_has_steps_of_line (const Layout        *layout,
                        const VnTaskOutputs *outputs)
{
  const gint64 n = (gint64) layout->n_steps;

  return outputs->height == 0 || (n * LEAST_STEP_PIXELS <= outputs->width && n * MOST_STEP_PIXELS >= outputs->width &&
                                  2 * outputs->width >= 3 * outputs->height);
}

static const VnTensor *
text_find_output (const VnTaskOutputs *outputs)
{
  const VnTensor *tensor = outputs->n == 1 ? outputs->tensors[0] : NULL;

  gboolean fits = tensor != NULL && !vn_tensor_is_container (tensor) && vn_dtype_is_float (tensor->dtype) &&
                  tensor->shape.rank == 3;

  return fits ? tensor : NULL;
}

/* Form @i of three; %FALSE if the axes do not fit. */
static gboolean
text_get_layout (const VnTensor *tensor,
                 guint           i,
                 Layout         *layout)
{
  const gsize n0 = (gsize) tensor->shape.dims[0], n1 = (gsize) tensor->shape.dims[1], n2 = (gsize) tensor->shape.dims[2];

  *layout = i == 0   ? (Layout) { i, n1, n2, n2, 1, NO_BLANK }
            : i == 1 ? (Layout) { i, n0, n2, n2, 1, NO_BLANK }
                     : (Layout) { i, n2, n1, 1, n2, NO_BLANK };
  return (i == 1 ? n1 : n0) == 1 && layout->n_steps >= LEAST_STEPS && layout->n_letters >= LEAST_LETTERS;
}

static gpointer
text_recognize (const VnTaskOutputs *outputs)
{
  const VnTensor *tensor = text_find_output (outputs);
  const gboolean is_given = vn_task_is_given (outputs, VN_TASK_TEXT);

  for (guint pass = 0; pass < 2 && tensor != NULL && outputs->n_tokens == 0; pass++)
    for (guint i = 0; i < 3; i++)
      {
        Layout layout;

        if (!text_get_layout (tensor, i, &layout) || (pass == 0) != text_is_normalized (&layout, tensor))
          continue;
        if (text_find_blank (&layout, tensor) && (is_given || (text_has_steps_of_line (&layout, outputs) &&
                                                               (pass == 0 || outputs->height > 0))))
          return g_memdup2 (&layout, sizeof layout);
      }
  return NULL;
}

/* Letters by their numbers, as gsize. */
static gpointer
text_read (gconstpointer        data,
           const VnTaskOutputs *outputs)
{
  const Layout *known = data;
  const VnTensor *tensor = text_find_output (outputs);
  Layout layout;
  gsize before = NO_BLANK;
  GArray *letters;

  if (tensor == NULL || !text_get_layout (tensor, known->form, &layout) || layout.n_letters != known->n_letters)
    return NULL;
  letters = g_array_new (FALSE, FALSE, sizeof (gsize));
  for (gsize i = 0; i < layout.n_steps; i++)
    {
      gsize letter = text_find_best (&layout, tensor, i);

      if (letter != before && letter != known->blank)
        g_array_append_val (letters, letter);
      before = letter;
    }
  return letters;
}

static void
text_free (gpointer data)
{
  g_array_unref (data);
}

static void
text_compare (gconstpointer  first,
              gconstpointer  other,
              guint          item,
              VnKeptSum     *sum)
{
  const GArray *a = first, *b = other;
  gboolean same = a->len == b->len;

  for (guint i = 0; same && i < a->len; i++)
    same = g_array_index (a, gsize, i) == g_array_index (b, gsize, i);
  sum->n += a->len > 0;
  sum->n_kept += a->len > 0 && same;
  sum->n_added += a->len == 0 && b->len > 0;
}

/* Numbers among the letters without the blank. */
static GArray *
text_copy_letters (const GArray *letters,
                   const Layout *layout)
{
  GArray *symbols = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < MIN (letters->len, VN_ANSWER_MOST_SYMBOLS); i++)
    {
      const gsize letter = g_array_index (letters, gsize, i);
      const guint symbol = (guint) (letter - (letter > layout->blank));

      g_array_append_val (symbols, symbol);
    }
  return symbols;
}

static void
text_keep (gconstpointer   layout,
           gconstpointer   first,
           gconstpointer   other,
           guint           most_pixels,
           VnSampleAnswer *kept)
{
  const Layout *known = layout;

  kept->form = VN_ANSWER_SYMBOLS;
  kept->n_classes = (guint) known->n_letters - 1;
  kept->first = text_copy_letters (first, known);
  kept->other = text_copy_letters (other, known);
  vn_sample_answer_align (kept);
}

const VnTaskReader vn_task_text = {
  .recognize = text_recognize,
  .read = text_read,
  .free = text_free,
  .compare = text_compare,
  .keep = text_keep,
};
