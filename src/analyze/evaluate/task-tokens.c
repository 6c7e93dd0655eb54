/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Language models: for each token that goes in, a number for each that may stand there, or come next. What is given for the words
 * of a text may also be hidden states, which are no answer: their length is a multiple of 64, and small for a vocabulary.
 *
 * p is the first network's probability, q that of the other. Where tokens follow one another, t is the true one, which the text
 * has at the next position. In nats:
 *
 *   divergence   sum p (ln p - ln q), at each position
 *   perplexity   exp (- mean ln q (t))
 *   change       q (t) - p (t)
 *   hits         positions at which q is largest at t */
#include "vn-task-reader.h"

#include "vn-user-metric.h"

#include <math.h>
#include <string.h>

#define HIDDEN_STEP 64
#define MOST_HIDDEN 8192

typedef struct { guint output; gboolean probabilities; } Layout;

#define TOP 8u              /* of the largest numbers */
#define HIGH_SHARE 0.99

/* @floats: (nullable): the numbers of @tensor, if they are of that type; @counts: by position, whether it is one of the text, not
 * of what fills it up, nor told of another sample; @next: the true token, -1: not known */
typedef struct
{
  VnTensor    *tensor;
  const float *floats;
  gboolean     probabilities, *counts;
  gint64      *next;
  gsize        n_positions, n_tokens;
} Answer;

static gboolean
tokens_fits (const VnTaskOutputs *outputs,
             guint                output)
{
  const VnTensor *tensor = outputs->tensors[output];
  const VnShape *shape = &tensor->shape;

  return outputs->n_tokens > 0 && !vn_tensor_is_container (tensor) && vn_dtype_is_float (tensor->dtype) && shape->rank == 3 &&
         shape->dims[0] > 0 && shape->dims[1] == outputs->n_tokens && shape->dims[2] >= 2;
}

static gboolean
tokens_are_probabilities (const VnTensor *tensor)
{
  const gsize n_tokens = (gsize) tensor->shape.dims[2];
  double sum = 0;

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      double value = vn_tensor_get_double (tensor, i);

      if (!(value >= 0))
        return FALSE;
      sum += value;
      if ((i + 1) % n_tokens != 0)
        continue;
      if (!(fabs (sum - 1) < 0.01))
        return FALSE;
      sum = 0;
    }
  return TRUE;
}

/* By the user, or by the network: then how many tokens there are is told, too. */
static gboolean
tokens_are_told (const VnTaskOutputs *outputs,
                 gint64               n_tokens)
{
  return vn_task_is_given (outputs, VN_TASK_TOKENS) &&
         (outputs->hint->is_given || outputs->hint->n_classes == 0 || outputs->hint->n_classes == n_tokens);
}

static gpointer
tokens_recognize (const VnTaskOutputs *outputs)
{
  static const char * const answers[] = { "logit", "score", "predict", "prob", NULL };
  static const char * const inside[] = { "hidden", "embed", "state", "feature", NULL };

  for (guint i = 0; i < outputs->n; i++)
    {
      Layout layout = { .output = i };
      gint64 n;

      if (!tokens_fits (outputs, i))
        continue;
      n = outputs->tensors[i]->shape.dims[2];
      layout.probabilities = tokens_are_probabilities (outputs->tensors[i]);
      if (tokens_are_told (outputs, n) || layout.probabilities || vn_task_name_has (outputs, i, answers) ||
          (!vn_task_name_has (outputs, i, inside) && (n % HIDDEN_STEP != 0 || n > MOST_HIDDEN)))
        return g_memdup2 (&layout, sizeof layout);
    }
  return NULL;
}

/* The token behind each, of those that count in the same text. */
static gint64 *
tokens_find_next (const Answer        *self,
                  const VnTaskOutputs *outputs)
{
  const gsize n = (gsize) outputs->n_tokens;
  gint64 *next = g_new (gint64, self->n_positions);

  for (gsize i = 0; i < self->n_positions; i++)
    {
      gint64 token = -1;

      if (outputs->tokens != NULL && outputs->tokens->n_elements == self->n_positions && (i + 1) % n != 0 && self->counts[i + 1])
        token = vn_tensor_get_s64 (outputs->tokens, i + 1);
      next[i] = token >= 0 && token < (gint64) self->n_tokens ? token : -1;
    }
  return next;
}

static gpointer
tokens_read (gconstpointer        data,
             const VnTaskOutputs *outputs)
{
  const Layout *layout = data;
  const VnTensor *mask = outputs->mask;
  Answer *self;

  if (layout->output >= outputs->n || !tokens_fits (outputs, layout->output))
    return NULL;
  self = g_new0 (Answer, 1);
  self->tensor = vn_tensor_ref (outputs->tensors[layout->output]);
  self->floats = self->tensor->dtype == VN_DTYPE_F32 ? self->tensor->data : NULL;
  self->probabilities = layout->probabilities;
  self->n_tokens = (gsize) self->tensor->shape.dims[2];
  self->n_positions = self->tensor->n_elements / self->n_tokens;
  self->counts = g_new (gboolean, self->n_positions);
  for (gsize i = 0; i < self->n_positions; i++)
    {
      const gsize n = (gsize) outputs->n_tokens, text = i / n, n_masked = mask != NULL ? (gsize) mask->shape.dims[1] : 0;

      self->counts[i] = (i % n + 1 >= outputs->n_seen) &&
                        (mask == NULL || mask->shape.dims[0] != self->tensor->shape.dims[0] ||
                        vn_tensor_get_double (mask, text * n_masked + n_masked - n + i % n) != 0);
    }
  self->next = tokens_find_next (self, outputs);
  return self;
}

static void
tokens_free (gpointer data)
{
  Answer *self = data;

  vn_tensor_unref (self->tensor);
  g_free (self->counts);
  g_free (self->next);
  g_free (self);
}

static inline double
tokens_get (const Answer *self,
            gsize         i)
{
  return self->floats != NULL ? self->floats[i] : vn_tensor_get_double (self->tensor, i);
}

static gsize
tokens_find_best (const Answer *self,
                  gsize         position)
{
  const gsize from = position * self->n_tokens;
  gsize best = 0;

  for (gsize i = 1; i < self->n_tokens; i++)
    if (tokens_get (self, from + i) > tokens_get (self, from + best))
      best = i;
  return best;
}

/* By falling number, of equal ones the first first. */
static guint
tokens_find_top (const Answer *self,
                 gsize         position,
                 gsize         top[TOP])
{
  const gsize from = position * self->n_tokens;
  guint n = 0;

  for (gsize i = 0; i < self->n_tokens; i++)
    {
      const double value = tokens_get (self, from + i);
      guint at = n;

      while (at > 0 && value > tokens_get (self, from + top[at - 1]))
        at--;
      if (at == TOP)
        continue;
      n = MIN (n + 1, TOP);
      memmove (top + at + 1, top + at, (n - 1 - at) * sizeof *top);
      top[at] = i;
    }
  return n;
}

/* How many of the largest are the same, as a share. */
static float
tokens_share_top (const Answer *a,
                  const Answer *b,
                  gsize         position)
{
  gsize of_a[TOP], of_b[TOP];
  const guint n = tokens_find_top (a, position, of_a), n_b = tokens_find_top (b, position, of_b);
  guint same = 0;

  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < n_b; k++)
      same += of_a[i] == of_b[k];
  return (float) same / (float) MAX (n, 1);
}

/* What is taken off a number to make it the logarithm of a probability. */
static double
tokens_find_log_sum (const Answer *self,
                     gsize         position)
{
  const gsize from = position * self->n_tokens;
  const double most = tokens_get (self, from + tokens_find_best (self, position));
  double sum = 0;

  for (gsize i = 0; i < self->n_tokens && !self->probabilities; i++)
    sum += exp (tokens_get (self, from + i) - most);
  return self->probabilities ? 0 : most + log (sum);
}

static double
tokens_get_log (const Answer *self,
                gsize         position,
                gsize         token,
                double        log_sum)
{
  double value = tokens_get (self, position * self->n_tokens + token);

  return self->probabilities ? log (value) : value - log_sum;
}

/* sum p (ln p - ln q), p of @a, in nats; @of_a, @of_b: tokens_find_log_sum() */
static double
tokens_get_divergence (const Answer *a,
                       const Answer *b,
                       gsize         position,
                       double        of_a,
                       double        of_b)
{
  double sum = 0;

  for (gsize i = 0; i < a->n_tokens; i++)
    {
      const double p = tokens_get_log (a, position, i, of_a);

      if (exp (p) > 0)
        sum += exp (p) * (p - tokens_get_log (b, position, i, of_b));
    }
  return MAX (sum, 0);
}

/* What is told of each position: how much of the top is kept, the logarithms of what both give the true token, and whether it is
 * the one with the highest number. */
typedef struct { float top, of_first, of_other, first_hits, other_hits; } Position;

static void
tokens_compare (gconstpointer  first,
                gconstpointer  other,
                guint          item,
                VnKeptSum     *sum)
{
  const Answer *a = first, *b = other;
  const gboolean same = a->tensor == b->tensor;     /* one network, of which only its own figures are told */
  VnKeptItem divergence = { .item = item };
  const gsize n = a->n_positions == b->n_positions && a->n_tokens == b->n_tokens ? a->n_positions : 0;

  divergence.first = g_array_new (FALSE, FALSE, sizeof (float));
  divergence.other = g_array_new (FALSE, FALSE, sizeof (float));
  for (gsize i = 0; i < n; i++)
    if (a->counts[i])
      {
        const double of_a = tokens_find_log_sum (a, i), of_b = same ? of_a : tokens_find_log_sum (b, i);
        const double found = same ? 0 : tokens_get_divergence (a, b, i, of_a, of_b);
        const float narrow = (float) found;
        const gsize best_a = tokens_find_best (a, i), best_b = same ? best_a : tokens_find_best (b, i);
        Position position = { same ? 1 : tokens_share_top (a, b, i), NAN, NAN, 0, 0 };

        if (a->next[i] >= 0)
          {
            position.of_first = (float) tokens_get_log (a, i, (gsize) a->next[i], of_a);
            position.of_other = (float) tokens_get_log (b, i, (gsize) a->next[i], of_b);
            position.first_hits = (gint64) best_a == a->next[i];
            position.other_hits = (gint64) best_b == a->next[i];
          }
        sum->n++;
        sum->n_kept += best_a == best_b;
        divergence.value += found;
        g_array_append_val (divergence.first, narrow);
        g_array_append_vals (divergence.other, &position, sizeof position / sizeof (float));
      }
  vn_kept_sum_add_item (sum, &divergence);
}

/* ---- figures beside the share ---- */

static void
tokens_add_number (GArray     *numbers,
                   const char *name,
                   double      value)
{
  VnMetricNumber number = { g_strdup (name), value };

  if (isfinite (value))
    g_array_append_val (numbers, number);
  else
    g_free (number.name);
}

static int
tokens_compare_floats (gconstpointer a,
                       gconstpointer b)
{
  const float x = *(const float *) a, y = *(const float *) b;

  return (x > y) - (x < y);
}

/* Those of all samples, in their order. */
static GArray *
tokens_join (const VnKeptSum *sum,
             gboolean         divergences)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (float));

  for (guint i = 0; sum->items != NULL && i < sum->items->len; i++)
    {
      const VnKeptItem *item = &g_array_index (sum->items, VnKeptItem, i);
      const GArray *own = divergences ? item->first : item->other;

      if (own != NULL)
        g_array_append_vals (all, own->data, own->len);
    }
  return all;
}

static void
tokens_measure_divergence (const VnKeptSum *sum,
                           GArray          *numbers)
{
  g_autoptr(GArray) all = tokens_join (sum, TRUE);
  const float *sorted;

  g_array_sort (all, tokens_compare_floats);
  if (all->len == 0)
    return;
  sorted = (const float *) (gpointer) all->data;
  tokens_add_number (numbers, "kl_99", sorted[(guint) ceil (HIGH_SHARE * all->len) - 1]);
  tokens_add_number (numbers, "kl_max", sorted[all->len - 1]);
}

static void
tokens_measure (const VnKeptSum *sum,
                gboolean         of_first,
                GArray          *numbers)
{
  g_autoptr(GArray) all = NULL;
  double logs = 0, change = 0, squares = 0, top = 0, hits = 0;
  guint n, n_true = 0;

  vn_kept_sum_sort (sum);
  all = tokens_join (sum, FALSE);
  n = all->len / (guint) (sizeof (Position) / sizeof (float));
  for (guint i = 0; i < n; i++)
    {
      const Position *position = (const Position *) (gpointer) all->data + i;
      const double step = exp (position->of_other) - exp (position->of_first);

      top += position->top;
      if (isnan (position->of_first))
        continue;
      n_true++;
      logs += of_first ? position->of_first : position->of_other;
      hits += of_first ? position->first_hits : position->other_hits;
      change += step;
      squares += step * step;
    }
  if (n_true > 0)
    {
      tokens_add_number (numbers, "perplexity", exp (-logs / n_true));
      tokens_add_number (numbers, "next_top1", hits / n_true);
    }
  if (of_first || n == 0)
    return;
  tokens_add_number (numbers, "top8_kept", top / n);
  tokens_measure_divergence (sum, numbers);
  if (n_true > 0)
    {
      tokens_add_number (numbers, "p_change", change / n_true);
      tokens_add_number (numbers, "p_change_rms", sqrt (squares / n_true));
    }
}

static void
tokens_finish (const VnKeptSum *sum,
               VnKept          *kept)
{
  double total = 0;

  vn_kept_sum_sort (sum);
  for (guint i = 0; sum->items != NULL && i < sum->items->len; i++)
    total += g_array_index (sum->items, VnKeptItem, i).value;
  if (sum->n > 0)
    kept->mean = total / (double) sum->n;
}

/* Those that count, at the same positions: a token has the one at its own place for a partner, or none. */
static void
tokens_keep (gconstpointer   layout,
             gconstpointer   first,
             gconstpointer   other,
             guint           most_pixels,
             VnSampleAnswer *kept)
{
  const Answer *a = first, *b = other;
  const gsize n = a->n_positions == b->n_positions && a->n_tokens == b->n_tokens ? a->n_positions : 0;

  kept->form = VN_ANSWER_SYMBOLS;
  kept->n_classes = (guint) a->n_tokens;
  kept->first = g_array_new (FALSE, FALSE, sizeof (guint));
  kept->other = g_array_new (FALSE, FALSE, sizeof (guint));
  kept->partners = g_array_new (FALSE, FALSE, sizeof (guint));
  for (gsize i = 0; i < n && kept->first->len < VN_ANSWER_MOST_SYMBOLS; i++)
    if (a->counts[i])
      {
        const guint x = (guint) tokens_find_best (a, i), y = (guint) tokens_find_best (b, i);
        const guint partner = x == y ? kept->first->len : VN_NO_PARTNER;

        g_array_append_val (kept->first, x);
        g_array_append_val (kept->other, y);
        g_array_append_val (kept->partners, partner);
      }
}

const VnTaskReader vn_task_tokens = {
  .measure = tokens_measure,
  .recognize = tokens_recognize,
  .read = tokens_read,
  .free = tokens_free,
  .compare = tokens_compare,
  .finish = tokens_finish,
  .keep = tokens_keep,
};
