/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Embeddings: numbers that are compared with those of other samples, not with each other.
 *
 * It is an output [1, N], all along one axis, whose length is 1, or whose name says so, or with a multiple of 64 numbers that are
 * no probabilities and not as many as the samples have classes; or hidden states [1, tokens, N], of which the mean is taken. */
#include "vn-task-reader.h"

#include "vn-thresholds.h"

#include <math.h>

#define LEAST_NUMBERS 16u
#define NUMBERS_STEP 64u
#define MOST_HIDDEN 8192u
#define LEAST_SAMPLES 3u       /* of two, each is the nearest of the other */

typedef struct { guint output; gboolean hidden; } Layout;

static const char * const inside[] = { "embed", "feat", "descriptor", "hidden", "pooler", "latent", NULL };
static const char * const answers[] = { "logit", "score", "prob", "class", "label", "softmax", NULL };

/* Numbers of one sample; 0: it is no list. @hidden: they stand for each token */
static gsize
embedding_count (const VnTensor *tensor,
                 gboolean        hidden)
{
  const VnShape *shape = &tensor->shape;
  gsize n = tensor->n_elements;
  guint n_axes = 0;

  if (vn_tensor_is_container (tensor) || !vn_dtype_is_float (tensor->dtype) || shape->rank < 2 || shape->dims[0] < 1)
    return 0;
  if (hidden)
    return shape->rank == 3 && shape->dims[1] > 0 ? (gsize) shape->dims[2] : 0;
  for (int i = 1; i < shape->rank; i++)
    n_axes += shape->dims[i] > 1;
  return n_axes == 1 ? n / (gsize) shape->dims[0] : 0;
}

/* Whether they may be the answers of a classifier: shares that add up to 1, their logarithms, or each between 0 and 1. */
static gboolean
embedding_is_scores (const VnTensor *tensor,
                     gsize           n)
{
  double sum = 0, log_sum = 0;
  gboolean positive = TRUE, small = TRUE;

  for (gsize i = 0; i < n; i++)
    {
      double value = vn_tensor_get_double (tensor, i);

      sum += value;
      log_sum += exp (value);
      positive = positive && value >= 0;
      small = small && value <= 1;
    }
  return (positive && fabs (sum - 1) < 0.01) || fabs (log_sum - 1) < 0.01 || (positive && small);
}

static double
embedding_get_length (const VnTensor *tensor,
                      gsize           n)
{
  double sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += vn_tensor_get_double (tensor, i) * vn_tensor_get_double (tensor, i);
  return sqrt (sum);
}

static gboolean
embedding_is_list (const VnTaskOutputs *outputs,
                   guint                output)
{
  const VnTensor *tensor = outputs->tensors[output];
  const gsize n = embedding_count (tensor, FALSE);
  const gboolean has_unit_length = n > 0 && fabs (embedding_get_length (tensor, n) - 1) < 0.001;

  if (n < LEAST_NUMBERS || (outputs->n_classes >= 2 && (n == outputs->n_classes || n == outputs->n_classes + 1)) ||
      vn_task_hands_on (outputs, output))
    return FALSE;
  if (vn_task_name_has (outputs, output, inside))
    return TRUE;
  return !embedding_is_scores (tensor, n) && !vn_task_name_has (outputs, output, answers) &&
         (has_unit_length || n % NUMBERS_STEP == 0);
}

static gboolean
embedding_is_hidden (const VnTaskOutputs *outputs,
                     guint                output)
{
  const VnTensor *tensor = outputs->tensors[output];
  const gsize n = embedding_count (tensor, TRUE);

  return n >= LEAST_NUMBERS && n % NUMBERS_STEP == 0 && n <= MOST_HIDDEN && !vn_task_hands_on (outputs, output) &&
         ((outputs->n_tokens > 0 && tensor->shape.dims[1] == outputs->n_tokens) || vn_task_name_has (outputs, output, inside));
}

static gpointer
embedding_recognize (const VnTaskOutputs *outputs)
{
  const gboolean is_given = vn_task_is_given (outputs, VN_TASK_EMBEDDING);

  for (guint pass = 0; pass < 3; pass++)
    for (guint i = 0; i < outputs->n; i++)
      {
        const Layout layout = { i, pass == 1 };

        if (pass == 0 ? embedding_is_list (outputs, i) : pass == 1 ? embedding_is_hidden (outputs, i)
                                                                   : is_given && embedding_count (outputs->tensors[i],
                                                                                                  FALSE) >= 2)
          return g_memdup2 (&layout, sizeof layout);
      }
  return NULL;
}

/* The mean over the tokens of the first text that are not masked. */
static void
embedding_average (const VnTaskOutputs *outputs,
                   const VnTensor      *tensor,
                   gsize                n,
                   double              *values)
{
  const gsize n_tokens = (gsize) tensor->shape.dims[1];
  const gsize n_masked = outputs->mask != NULL ? (gsize) outputs->mask->shape.dims[1] : 0;

  for (gsize t = 0; t < n_tokens; t++)
    if (n_masked < n_tokens || vn_tensor_get_double (outputs->mask, n_masked - n_tokens + t) != 0)
      for (gsize i = 0; i < n; i++)
        values[i] += vn_tensor_get_double (tensor, t * n + i);
}

/* Scaled to a length of 1; nothing but 0 stays so. */
static gpointer
embedding_read (gconstpointer        data,
                const VnTaskOutputs *outputs)
{
  const Layout *layout = data;
  const VnTensor *tensor = layout->output < outputs->n ? outputs->tensors[layout->output] : NULL;
  const gsize n = tensor != NULL ? embedding_count (tensor, layout->hidden) : 0;
  g_autofree double *values = g_new0 (double, n + 1);
  double length = 0;
  GArray *self;

  if (n == 0)
    return NULL;
  if (layout->hidden)
    embedding_average (outputs, tensor, n, values);
  for (gsize i = 0; i < n && !layout->hidden; i++)
    values[i] = vn_tensor_get_double (tensor, i);
  for (gsize i = 0; i < n; i++)
    length += values[i] * values[i];
  length = sqrt (length);
  self = g_array_sized_new (FALSE, FALSE, sizeof (float), (guint) n);
  for (gsize i = 0; i < n; i++)
    {
      float value = length > 0 ? (float) (values[i] / length) : 0;

      g_array_append_val (self, value);
    }
  return self;
}

static void
embedding_free (gpointer data)
{
  g_array_unref (data);
}

static void
embedding_compare (gconstpointer  first,
                   gconstpointer  other,
                   guint          item,
                   VnKeptSum     *sum)
{
  GArray *a = (GArray *) first, *b = (GArray *) other;
  const VnKeptItem pair = { .item = item, .first = g_array_ref (a), .other = g_array_ref (b) };

  vn_kept_sum_add_item (sum, &pair);
}

static double
embedding_get_cosine (const GArray *a,
                      const GArray *b)
{
  double sum = 0;

  for (guint i = 0; i < MIN (a->len, b->len); i++)
    sum += (double) g_array_index (a, float, i) * (double) g_array_index (b, float, i);
  return sum;
}

/* Of equal ones the first. */
static guint
embedding_find_neighbor (const GArray *items,
                         guint         n,
                         guint         of,
                         gboolean      other)
{
  guint best = n;
  double most = -INFINITY;

  for (guint i = 0; i < n; i++)
    {
      const VnKeptItem *a = &g_array_index (items, VnKeptItem, of), *b = &g_array_index (items, VnKeptItem, i);
      double cosine = i != of ? embedding_get_cosine (other ? a->other : a->first, other ? b->other : b->first) : -INFINITY;

      if (cosine > most)
        {
          most = cosine;
          best = i;
        }
    }
  return best;
}

static void
embedding_finish (const VnKeptSum *sum,
                  VnKept          *kept)
{
  const guint n = sum->items != NULL ? sum->items->len : 0, n_looked = MIN (n, VN_MOST_NEIGHBORS);
  double total = 0;

  vn_kept_sum_sort (sum);
  for (guint i = 0; i < n; i++)
    {
      const VnKeptItem *item = &g_array_index (sum->items, VnKeptItem, i);

      total += item->first->len == item->other->len ? embedding_get_cosine (item->first, item->other) : 0;
    }
  kept->n = n_looked;
  kept->mean = n > 0 ? total / n : NAN;
  if (n < LEAST_SAMPLES)
    return;
  for (guint i = 0; i < n_looked; i++)
    kept->n_kept += embedding_find_neighbor (sum->items, n_looked, i, FALSE) ==
                    embedding_find_neighbor (sum->items, n_looked, i, TRUE);
  kept->share = (double) kept->n_kept / (double) kept->n;
}

const VnTaskReader vn_task_embedding = {
  .recognize = embedding_recognize,
  .read = embedding_read,
  .free = embedding_free,
  .compare = embedding_compare,
  .finish = embedding_finish,
};
