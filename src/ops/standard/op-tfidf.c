/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TfIdfVectorizer: counts which word sequences of a list occur in each row, also with words left out between. The list
 * is kept as a tree, each edge one more word. */
#include "vn-string-private.h"

#include "vn-memory.h"

enum { TF, IDF, TFIDF };

/* An edge of the tree: from a node, by a word. */
typedef struct
{
  guint32 node, word;
} Edge;

/**
 * Vectorizer:
 * @words: strings, or integers as gint64 pointers, to number + 1
 * @edges: Edge to number of the node behind it; node 0 is the root
 * @columns: of gint64: for each node the column it counts for, or -1
 */
typedef struct
{
  gboolean      strings;
  GHashTable   *words, *edges;
  GArray       *columns;
  gint64        shortest, longest, skips, n_columns;
  guint         mode;
  const float  *weights;
  gsize         n_weights;
} Vectorizer;

static guint
tfidf_edge_hash (gconstpointer key)
{
  const Edge *edge = key;

  return edge->node * 2654435761u ^ edge->word * 40503u;
}

static gboolean
tfidf_edge_equal (gconstpointer a,
                  gconstpointer b)
{
  return memcmp (a, b, sizeof (Edge)) == 0;
}

static void
tfidf_vectorizer_free (gpointer data)
{
  Vectorizer *self = data;

  g_hash_table_unref (self->words);
  g_hash_table_unref (self->edges);
  g_array_unref (self->columns);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Vectorizer, tfidf_vectorizer_free)

/* Number of a word of the list, a new one if it is not known. */
static guint32
tfidf_intern (Vectorizer   *self,
              const VnAttr *pool,
              guint         i)
{
  gpointer key;
  guint32 found;

  if (self->strings)
    {
      gsize n;
      const char *data = g_bytes_get_data (g_ptr_array_index (pool->strings, i), &n);

      key = g_strndup (data != NULL ? data : "", n);
    }
  else
    key = g_memdup2 (&g_array_index (pool->ints, gint64, i), sizeof (gint64));
  found = GPOINTER_TO_UINT (g_hash_table_lookup (self->words, key));
  if (found == 0)
    {
      found = g_hash_table_size (self->words) + 1;
      g_hash_table_insert (self->words, key, GUINT_TO_POINTER (found));
    }
  else
    g_free (key);
  return found;
}

static guint32
tfidf_grow (Vectorizer *self,
            guint32     node,
            guint32     word)
{
  Edge edge = { node, word };
  guint32 next = GPOINTER_TO_UINT (g_hash_table_lookup (self->edges, &edge));
  gint64 none = -1;

  if (next != 0)
    return next;
  next = self->columns->len;
  g_hash_table_insert (self->edges, g_memdup2 (&edge, sizeof edge), GUINT_TO_POINTER (next));
  g_array_append_val (self->columns, none);
  return next;
}

/* ---- the list ---- */

static gboolean
tfidf_read_columns (Vectorizer    *self,
                    VnOpContext   *ctx,
                    const gint64 **columns,
                    gsize         *n,
                    GError       **error)
{
  *columns = vn_node_get_ints (ctx->node, "ngram_indexes", n);
  self->n_columns = 0;
  if (*columns == NULL || *n == 0)
    return vn_op_fail (ctx, error, _("ngram_indexes is missing"));
  for (gsize i = 0; i < *n; i++)
    {
      if ((*columns)[i] < 0 || (*columns)[i] > G_MAXINT32)
        return vn_op_fail (ctx, error, _("ngram_indexes has the column %lld"), (long long) (*columns)[i]);
      self->n_columns = MAX (self->n_columns, (*columns)[i] + 1);
    }
  return TRUE;
}

static gboolean
tfidf_read_options (Vectorizer   *self,
                    VnOpContext  *ctx,
                    GError      **error)
{
  g_autofree char *mode = vn_node_dup_string (ctx->node, "mode", "");

  self->mode = g_str_equal (mode, "TF") ? TF : g_str_equal (mode, "IDF") ? IDF : TFIDF;
  self->shortest = vn_node_get_int (ctx->node, "min_gram_length", 0);
  self->longest = vn_node_get_int (ctx->node, "max_gram_length", 0);
  self->skips = vn_node_get_int (ctx->node, "max_skip_count", 0);
  self->weights = vn_node_get_floats (ctx->node, "weights", &self->n_weights);
  if (self->mode == TFIDF && !g_str_equal (mode, "TFIDF"))
    return vn_op_fail (ctx, error, _("mode is “%s”, expected TF, IDF or TFIDF"), mode);
  if (self->shortest < 1 || self->longest < self->shortest || self->skips < 0)
    return vn_op_fail (ctx, error, _("n-grams of %lld to %lld words with at most %lld skipped are not valid"),
                       (long long) self->shortest, (long long) self->longest, (long long) self->skips);
  return TRUE;
}

/* Sequences of @size words from @first on; @id counts all sequences of the list. */
static gboolean
tfidf_add_sequences (Vectorizer    *self,
                     VnOpContext   *ctx,
                     const VnAttr  *pool,
                     gsize          first,
                     gsize          n,
                     gsize          size,
                     gsize          id,
                     GError       **error)
{
  const gint64 *columns;
  gsize n_columns;

  columns = vn_node_get_ints (ctx->node, "ngram_indexes", &n_columns);
  if (id > n_columns || n > n_columns - id)
    return vn_op_fail (ctx, error, _("the pool has more n-grams than ngram_indexes has columns: %zu"),
                       n_columns);
  for (gsize k = 0; k < n; k++)
    {
      guint32 node = 0;

      for (gsize j = 0; j < size; j++)
        node = tfidf_grow (self, node, tfidf_intern (self, pool, (guint) (first + k * size + j)));
      g_array_index (self->columns, gint64, node) = columns[id + k];
    }
  return TRUE;
}

static gboolean
tfidf_read_list (Vectorizer    *self,
                 VnOpContext   *ctx,
                 const VnAttr  *pool,
                 gsize          n_words,
                 GError       **error)
{
  gsize n_starts, id = 0;
  const gint64 *starts = vn_node_get_ints (ctx->node, "ngram_counts", &n_starts);

  for (gsize i = 0; starts != NULL && i < n_starts; i++)
    {
      gint64 end = i + 1 < n_starts ? starts[i + 1] : (gint64) n_words;
      gsize n;

      if (starts[i] < 0 || end < starts[i] || end > (gint64) n_words)
        return vn_op_fail (ctx, error, _("ngram_counts goes from %lld to %lld in a pool of %zu"), (long long) starts[i],
                           (long long) end, n_words);
      n = (gsize) (end - starts[i]) / (i + 1);
      if ((gint64) i + 1 >= self->shortest && (gint64) i + 1 <= self->longest &&
          !tfidf_add_sequences (self, ctx, pool, (gsize) starts[i], n, i + 1, id, error))
        return FALSE;
      id += n;
    }
  return TRUE;
}

static Vectorizer *
tfidf_vectorizer_new (VnOpContext  *ctx,
                      GError      **error)
{
  g_autoptr(Vectorizer) self = g_new0 (Vectorizer, 1);
  const VnAttr *pool = vn_node_get_attr (ctx->node, "pool_strings");
  const gint64 *columns;
  gint64 none = -1;
  gsize n;

  self->strings = pool != NULL && pool->strings != NULL;
  if (!self->strings)
    pool = vn_node_get_attr (ctx->node, "pool_int64s");
  self->words = g_hash_table_new_full (self->strings ? g_str_hash : g_int64_hash,
                                       self->strings ? g_str_equal : g_int64_equal, g_free, NULL);
  self->edges = g_hash_table_new_full (tfidf_edge_hash, tfidf_edge_equal, g_free, NULL);
  self->columns = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_array_append_val (self->columns, none);
  if (pool == NULL || (!self->strings && pool->ints == NULL))
    {
      vn_op_fail (ctx, error, _("the word pool is missing"));
      return NULL;
    }
  if (!tfidf_read_columns (self, ctx, &columns, &n, error) || !tfidf_read_options (self, ctx, error) ||
      !tfidf_read_list (self, ctx, pool, self->strings ? pool->strings->len : pool->ints->len, error))
    return NULL;
  return g_steal_pointer (&self);
}

/* ---- counting ---- */

static gboolean
tfidf_infer (VnOpContext *ctx,
             GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape;
  Vectorizer self = { 0 };
  const gint64 *columns;
  VnShape y = VN_SHAPE_UNKNOWN;
  gsize n;

  if (x->rank > 2)
    return vn_op_fail (ctx, error, _("the input has %d dims, expected 1 or 2"), x->rank);
  if (!tfidf_read_columns (&self, ctx, &columns, &n, error) || !tfidf_read_options (&self, ctx, error))
    return FALSE;
  if (x->rank >= 0)
    y = x->rank == 2 ? VN_SHAPE (x->dims[0], self.n_columns) : VN_SHAPE (self.n_columns);
  vn_op_set_output (ctx, 0, VN_DTYPE_F32, &y);
  return TRUE;
}

/* Numbers of the words of the data, 0 for those not in the list. */
static guint32 *
tfidf_number_words (const Vectorizer  *self,
                    const VnTensor    *x,
                    GError           **error)
{
  guint32 *words = vn_try_new (guint32, x->n_elements, error);

  for (gsize i = 0; words != NULL && i < x->n_elements; i++)
    {
      gint64 number = self->strings ? 0 : vn_tensor_get_s64 (x, i);

      words[i] = GPOINTER_TO_UINT (g_hash_table_lookup (self->words, self->strings ? (gconstpointer) vn_string_get (x, i)
                                                                                   : (gconstpointer) &number));
    }
  return words;
}

/* Sequences from word @at on, each word @step behind the one before. */
static void
tfidf_count_from (const Vectorizer *self,
                  const guint32    *words,
                  gsize             n,
                  gsize             at,
                  gsize             step,
                  gint64            shortest,
                  float            *y)
{
  Edge edge = { 0 };

  for (gint64 size = 1; size <= self->longest && at < n; size++, at += step)
    {
      gint64 column;

      edge.word = words[at];
      edge.node = edge.word == 0 ? 0 : GPOINTER_TO_UINT (g_hash_table_lookup (self->edges, &edge));
      if (edge.node == 0)
        return;
      column = g_array_index (self->columns, gint64, edge.node);
      if (size >= shortest && column >= 0)
        y[column] += 1.f;
    }
}

static void
tfidf_count_row (const Vectorizer *self,
                 const guint32    *words,
                 gsize             n,
                 float            *y)
{
  gint64 shortest = self->shortest;

  for (gsize step = 1; step <= MAX (n, 1) && (gint64) step - 1 <= self->skips; step++)
    {
      for (gsize at = 0; at < n; at++)
        tfidf_count_from (self, words, n, at, step, shortest, y);
      /* Single words are the same for every step: counted once. */
      if (shortest == 1 && ++shortest > self->longest)
        return;
    }
}

static void
tfidf_weigh (const Vectorizer *self,
             float            *y)
{
  for (gsize i = 0; self->mode != TF && i < (gsize) self->n_columns; i++)
    {
      float weight = self->weights != NULL && i < self->n_weights ? self->weights[i] : 1.f;

      y[i] = self->mode == IDF ? (y[i] > 0.f ? weight : 0.f) : y[i] * weight;
    }
}

static gboolean
tfidf_prepare (VnOpContext *ctx,
               gpointer    *prepared,
               GError     **error)
{
  *prepared = tfidf_vectorizer_new (ctx, error);
  return *prepared != NULL;
}

static gboolean
tfidf_run (VnOpContext *ctx,
           GError     **error)
{
  const VnTensor *x = ctx->in[0];
  g_autoptr(Vectorizer) own = ctx->prepared == NULL ? tfidf_vectorizer_new (ctx, error) : NULL;
  const Vectorizer *self = ctx->prepared != NULL ? ctx->prepared : own;
  gsize rows = x->shape.rank == 2 ? (gsize) x->shape.dims[0] : 1, n = rows > 0 ? x->n_elements / rows : 0;
  g_autofree guint32 *words = NULL;

  if (self == NULL)
    return FALSE;
  if (self->strings != (x->dtype == VN_DTYPE_STRING))
    return vn_op_fail (ctx, error, _("the pool contains %s, but the input is %s"),
                       self->strings ? vn_dtype_get_name (VN_DTYPE_STRING) : vn_dtype_get_name (VN_DTYPE_S64),
                       vn_dtype_get_name (x->dtype));
  words = tfidf_number_words (self, x, error);
  if (words == NULL)
    return FALSE;
  if (ctx->out[0]->n_bytes > 0)
    memset (ctx->out[0]->data, 0, ctx->out[0]->n_bytes);
  for (gsize row = 0; row < rows; row++)
    {
      float *y = (float *) ctx->out[0]->data + row * (gsize) self->n_columns;

      tfidf_count_row (self, words + row * n, n, y);
      tfidf_weigh (self, y);
    }
  return TRUE;
}

const VnOp vn_op_tf_idf_vectorizer_9 = {
  .domain = "", .type = "TfIdfVectorizer", .since = 9,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (STRING) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64),
  .infer = tfidf_infer,
  .run = tfidf_run,
  .prepare = tfidf_prepare,
  .release = tfidf_vectorizer_free,
};
