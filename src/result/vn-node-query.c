/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds nodes by what is typed: terms between spaces, all of which have to hold. A term is a part of a name, a glob over names,
 * "type:Conv|Gemm", "shape:1x64x*", "precision:16", "band:bad", types in a row such as "Conv>Sigmoid>Mul", or a threshold such as
 * "sqnr<20"; one with "-" before it must not hold.
 *
 * To add something to search nodes by: a kind of term, or a word for a figure, here, with an example for those who ask; its
 * German in `po/de.po`; its cases in `tests/unit/result/test-node-query.c`. */
#include "vn-node-query.h"

#include "vn-i18n.h"
#include "vn-recipe-rules.h"

#include <math.h>
#include <string.h>

#define MOST_SKIPPED 8    /* QuantizeLinear and DequantizeLinear between two nodes that count as neighbors */

typedef enum
{
  QUERY_TEXT,
  QUERY_GLOB,
  QUERY_TYPE,
  QUERY_SHAPE,
  QUERY_PRECISION,
  QUERY_BAND,
  QUERY_CHAIN,
  QUERY_THRESHOLD,
} QueryKind;

/* Terms with a word and a colon before what is looked for. */
static const struct { const char *prefix; QueryKind kind; } query_prefixes[] = {
  { VN_PATTERN_TYPE_PREFIX, QUERY_TYPE },
  { "shape:", QUERY_SHAPE },
  { "precision:", QUERY_PRECISION },
  { "band:", QUERY_BAND },
};

/* @text: folded; @is_local: it is the local error of a tensor that is compared */
typedef struct
{
  QueryKind kind;
  gboolean  negated;
  char     *text;
  VnMetric  metric;
  gboolean  is_local, is_less, or_equal;
  double    limit;
} QueryTerm;

struct _VnNodeQuery
{
  GArray *terms;     /* of QueryTerm */
  char   *problem;
};

/* Names of figures besides the ids of metrics. */
static const struct { const char *word; VnMetric metric; gboolean is_local; } query_words[] = {
  { "error", VN_METRIC_NOISE, FALSE },
  { "share", VN_METRIC_CONTRIBUTION, FALSE },
  { "local", VN_METRIC_SQNR, TRUE },
};

static void
query_term_clear (gpointer data)
{
  g_free (((QueryTerm *) data)->text);
}

/* ---- reading ---- */

static gboolean
query_find_figure (const char *word,
                   QueryTerm  *term)
{
  for (guint i = 0; i < G_N_ELEMENTS (query_words); i++)
    if (g_str_equal (word, query_words[i].word))
      {
        term->metric = query_words[i].metric;
        term->is_local = query_words[i].is_local;
        return TRUE;
      }
  return vn_metric_find (word, &term->metric);
}

static char *
query_dup_figures (void)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (query_words); i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", query_words[i].word);
  for (guint i = 0; i < VN_N_METRICS; i++)
    g_string_append_printf (names, ", %s", vn_metric_get_info ((VnMetric) i)->id);
  return g_string_free (names, FALSE);
}

static void
query_set_problem (VnNodeQuery *self,
                   char        *problem)
{
  g_free (self->problem);
  self->problem = problem;
}

/* "sqnr<20", "contribution>=5%", "error>0.1"; FALSE: it is something else. */
static gboolean
query_read_threshold (VnNodeQuery *self,
                      const char  *text,
                      QueryTerm   *term)
{
  const char *sign = strpbrk (text, "<>");
  g_autofree char *word = sign != NULL && sign != text ? g_strndup (text, (gsize) (sign - text)) : NULL;
  const char *number;
  char *end;

  if (word == NULL)
    return FALSE;
  term->kind = QUERY_THRESHOLD;
  if (!query_find_figure (word, term))
    {
      g_autofree char *figures = query_dup_figures ();

      query_set_problem (self, g_strdup_printf (_("“%s” is not a node metric; available: %s"), word, figures));
      return TRUE;
    }
  term->is_less = *sign == '<';
  term->or_equal = sign[1] == '=';
  number = sign + 1 + term->or_equal;
  term->limit = g_ascii_strtod (number, &end);
  if (end == number)
    query_set_problem (self, g_strdup_printf (_("“%s” must be followed by a number, as in “sqnr<20”"), text));
  else if (*end == '%')
    term->limit /= 100;
  return TRUE;
}

/* "conv>sigmoid": what follows the sign is a type, no number. */
static gboolean
query_is_chain (const char *text)
{
  const char *sign = strchr (text, '>');

  return sign != NULL && sign != text && (g_ascii_isalpha (sign[1]) || sign[1] == '*');
}

static void
query_add_term (VnNodeQuery *self,
                const char  *text)
{
  QueryTerm term = { .kind = QUERY_TEXT, .negated = (*text == '-' || *text == '!') && text[1] != '\0' };
  const char *rest = text + term.negated;
  g_autofree char *folded = g_utf8_casefold (rest, -1);

  for (guint i = 0; i < G_N_ELEMENTS (query_prefixes) && term.text == NULL; i++)
    if (g_str_has_prefix (folded, query_prefixes[i].prefix))
      {
        term.kind = query_prefixes[i].kind;
        term.text = g_strdup (folded + strlen (query_prefixes[i].prefix));
      }
  if (term.text == NULL && query_is_chain (folded))
    {
      term.kind = QUERY_CHAIN;
      term.text = g_strdup (folded);
    }
  if (term.text == NULL && !query_read_threshold (self, folded, &term))
    {
      term.kind = strpbrk (folded, "*?") != NULL ? QUERY_GLOB : QUERY_TEXT;
      term.text = g_strdup (folded);
    }
  g_array_append_val (self->terms, term);
}

/* Up to the next space that is not between quotes. Returns: (transfer full) (nullable): the term without its quotes. */
static char *
query_next_term (const char **at)
{
  GString *term = g_string_new (NULL);
  gboolean quoted = FALSE;

  while (g_ascii_isspace (**at))
    (*at)++;
  for (; **at != '\0' && (quoted || !g_ascii_isspace (**at)); (*at)++)
    if (**at == '"')
      quoted = !quoted;
    else
      g_string_append_c (term, **at);
  return g_string_free (term, term->len == 0);
}

/**
 * vn_node_query_new:
 * @text: what was typed
 *
 * Returns: (transfer full): what it asks for; nothing if it cannot be understood, see vn_node_query_get_problem()
 */
VnNodeQuery *
vn_node_query_new (const char *text)
{
  VnNodeQuery *self = g_new0 (VnNodeQuery, 1);
  char *term;

  g_return_val_if_fail (text != NULL, self);

  self->terms = g_array_new (FALSE, TRUE, sizeof (QueryTerm));
  g_array_set_clear_func (self->terms, query_term_clear);
  while ((term = query_next_term (&text)) != NULL)
    {
      query_add_term (self, term);
      g_free (term);
    }
  return self;
}

/**
 * vn_node_query_free:
 */
void
vn_node_query_free (VnNodeQuery *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->terms, g_array_unref);
  g_free (self->problem);
  g_free (self);
}

/**
 * vn_node_query_is_empty:
 *
 * Returns: whether nothing was asked for, which all nodes match
 */
gboolean
vn_node_query_is_empty (const VnNodeQuery *self)
{
  g_return_val_if_fail (self != NULL, TRUE);

  return self->terms->len == 0;
}

/**
 * vn_node_query_get_problem:
 *
 * Returns: (nullable): what cannot be understood, in a sentence
 */
const char *
vn_node_query_get_problem (const VnNodeQuery *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->problem;
}

/* ---- matching ---- */

static gboolean
query_matches_name (const QueryTerm *term,
                    const char      *name)
{
  g_autofree char *folded = g_utf8_casefold (name, -1);

  return term->kind == QUERY_GLOB ? vn_pattern_matches_text (term->text, folded) : strstr (folded, term->text) != NULL;
}

static gboolean
query_matches_names (const QueryTerm   *term,
                     const VnNodeFacts *facts)
{
  if (query_matches_name (term, facts->label) || (term->kind == QUERY_TEXT && query_matches_name (term, facts->node->op_type)))
    return TRUE;
  for (guint i = 0; i < facts->node->outputs->len; i++)
    {
      const VnValue *output = vn_node_get_output (facts->node, i);

      if (output != NULL && query_matches_name (term, output->name))
        return TRUE;
    }
  for (guint i = 0; i < facts->node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (facts->node, i);

      if (input != NULL && input->producer == NULL && query_matches_name (term, input->name))
        return TRUE;
    }
  return FALSE;
}

/* Whether any of what stands between "|" is a glob of @word. */
static gboolean
query_matches_word (const QueryTerm *term,
                    const char      *word)
{
  g_auto(GStrv) parts = g_strsplit (term->text, "|", -1);
  g_autofree char *folded = g_utf8_casefold (word, -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (vn_pattern_matches_text (parts[i], folded))
      return TRUE;
  return FALSE;
}

/* "1x64x32"; what is not known is "?", what has a name is that. */
static char *
query_dup_shape (const VnType *type)
{
  GString *text = g_string_new (NULL);

  for (int i = 0; i < type->shape.rank; i++)
    {
      g_string_append (text, i > 0 ? "x" : "");
      if (type->shape.dims[i] >= 0)
        g_string_append_printf (text, "%" G_GINT64_FORMAT, type->shape.dims[i]);
      else
        g_string_append (text, type->symbols[i] != NULL ? type->symbols[i] : "?");
    }
  return g_string_free (text, FALSE);
}

static gboolean
query_matches_shape (const QueryTerm   *term,
                     const VnNodeFacts *facts)
{
  g_autofree QueryTerm *plain = g_memdup2 (term, sizeof *term);
  g_auto(GStrv) parts = g_strsplit (term->text, "×", -1);
  g_autofree char *text = plain->text = g_strjoinv ("x", parts);

  for (guint i = 0; i < facts->node->outputs->len; i++)
    {
      const VnValue *output = vn_node_get_output (facts->node, i);
      g_autofree char *shape = output != NULL && output->type.kind == VN_TYPE_TENSOR && output->type.shape.rank >= 0
                               ? query_dup_shape (&output->type) : NULL;

      if (shape != NULL && query_matches_word (plain, shape))
        return TRUE;
    }
  return FALSE;
}

/* By the letters of its badge, or by the number of bits. */
static gboolean
query_matches_precision (const QueryTerm   *term,
                         const VnNodeFacts *facts)
{
  g_autofree char *bits = NULL;

  if (facts->dtype == VN_DTYPE_UNDEFINED)
    return FALSE;
  bits = g_strdup_printf ("%u", vn_dtype_get_bits (facts->dtype));
  return query_matches_word (term, vn_dtype_get_badge (facts->dtype)) || query_matches_word (term, bits)
         || (vn_dtype_is_float (facts->dtype) && query_matches_word (term, "float"));
}

/* What is no number is worse than any. */
static gboolean
query_matches_threshold (const QueryTerm   *term,
                         const VnNodeFacts *facts)
{
  gboolean higher_is_better = vn_metric_is_higher_better (term->metric);
  double value;

  if (facts->row == NULL || (term->is_local ? isnan (facts->local_db) : !vn_metric_is_measured (facts->row, term->metric)))
    return FALSE;
  value = term->is_local ? facts->local_db : vn_metric_get (facts->row, term->metric);
  if (isnan (value) || (facts->row->n_bad > 0 && !term->is_local && term->metric != VN_METRIC_CONTRIBUTION))
    return term->is_less == higher_is_better;
  if (term->or_equal && value == term->limit)
    return TRUE;
  return term->is_less ? value < term->limit : value > term->limit;
}

/* ---- types in a row ---- */

static gboolean
query_chain_fits (const char   *part,
                  const VnNode *node)
{
  g_autofree char *folded = g_utf8_casefold (node->op_type, -1);

  return vn_pattern_matches_text (part, folded);
}

/* What quantizing has put between two nodes does not part them. */
static gboolean
query_chain_skips (const char   *part,
                   const VnNode *node)
{
  return (vn_node_quantizes (node) || vn_node_dequantizes (node) || vn_node_is (node, "DynamicQuantizeLinear")) &&
         !query_chain_fits (part, node);
}

/* Whether what stands before @part, a word of @parts that @node fits, comes before it in the network. */
static gboolean
query_chain_before (char         **parts,
                    guint          part,
                    const VnNode  *node)
{
  if (part == 0)
    return TRUE;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);
      const VnNode *before = input != NULL ? input->producer : NULL;

      for (guint k = 0; k < MOST_SKIPPED && before != NULL && query_chain_skips (parts[part - 1], before); k++)
        {
          input = vn_node_get_input (before, 0);
          before = input != NULL ? input->producer : NULL;
        }
      if (before != NULL && query_chain_fits (parts[part - 1], before) && query_chain_before (parts, part - 1, before))
        return TRUE;
    }
  return FALSE;
}

static gboolean
query_chain_after (char         **parts,
                   guint          part,
                   const VnNode  *node,
                   guint          n_skipped)
{
  if (parts[part + 1] == NULL)
    return TRUE;
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *output = vn_node_get_output (node, i);

      for (guint k = 0; output != NULL && k < output->uses->len; k++)
        {
          const VnNode *after = g_array_index (output->uses, VnUse, k).node;

          if (query_chain_skips (parts[part + 1], after)
              ? n_skipped < MOST_SKIPPED && query_chain_after (parts, part, after, n_skipped + 1)
              : query_chain_fits (parts[part + 1], after) && query_chain_after (parts, part + 1, after, 0))
            return TRUE;
        }
    }
  return FALSE;
}

/* Every node of the row is found. */
static gboolean
query_matches_chain (const QueryTerm   *term,
                     const VnNodeFacts *facts)
{
  g_auto(GStrv) parts = g_strsplit (term->text, ">", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (query_chain_fits (parts[i], facts->node) && query_chain_before (parts, i, facts->node) &&
        query_chain_after (parts, i, facts->node, 0))
      return TRUE;
  return FALSE;
}

static gboolean
query_term_matches (const QueryTerm   *term,
                    const VnNodeFacts *facts)
{
  switch (term->kind)
    {
    case QUERY_TYPE:
      return query_matches_word (term, facts->node->op_type);
    case QUERY_SHAPE:
      return query_matches_shape (term, facts);
    case QUERY_CHAIN:
      return query_matches_chain (term, facts);
    case QUERY_PRECISION:
      return query_matches_precision (term, facts);
    case QUERY_BAND:
      return query_matches_word (term, facts->band != NULL ? facts->band : "none");
    case QUERY_THRESHOLD:
      return query_matches_threshold (term, facts);
    case QUERY_TEXT:
    case QUERY_GLOB:
    default:
      return query_matches_names (term, facts);
    }
}

/**
 * vn_node_query_matches:
 *
 * Returns: whether all terms hold for a node; %FALSE while the query cannot be understood
 */
gboolean
vn_node_query_matches (const VnNodeQuery *self,
                       const VnNodeFacts *facts)
{
  g_return_val_if_fail (self != NULL && facts != NULL, FALSE);

  if (self->problem != NULL)
    return FALSE;
  for (guint i = 0; i < self->terms->len; i++)
    {
      const QueryTerm *term = &g_array_index (self->terms, QueryTerm, i);

      if (query_term_matches (term, facts) == term->negated)
        return FALSE;
    }
  return TRUE;
}

/**
 * vn_node_query_get_examples:
 *
 * Returns: (transfer none) (array length=n): what can be typed, for whoever wants to know
 */
const VnNodeExample *
vn_node_query_get_examples (guint *n)
{
  static const VnNodeExample examples[] = {
    { "conv", N_("part of a name, type, tensor or weight") },
    { "*attention*/MatMul", N_("names, with * for any text and ? for one character") },
    { "type:Conv*", N_("operator types; several with |, as in type:Conv|Gemm") },
    { "Conv>Sigmoid>Mul", N_("nodes of these types in a row") },
    { "shape:1x64x*", N_("output shape, with * for any sizes") },
    { "sqnr<20", N_("SQNR in dB") },
    { "error>0.1", N_("noise-to-signal ratio") },
    { "contribution>5%", N_("share of the output error") },
    { "precision:16", N_("bits, or letters as in precision:U8, or precision:float") },
    { "band:bad|watch", N_("fine, watch or bad, as in the legend; none: not quantized") },
    { "type:Conv sqnr<20", N_("all terms must match") },
    { "-type:Relu", N_("all except these") },
  };

  g_return_val_if_fail (n != NULL, NULL);

  *n = G_N_ELEMENTS (examples);
  return examples;
}

/* ---- changing what was typed ---- */

static char *
query_dup_prefix (const char *word)
{
  return g_strconcat (word, ":", NULL);
}

/**
 * vn_node_query_dup_value:
 * @text: what was typed
 * @word: "type", "precision" or "band"
 *
 * Returns: (transfer full) (nullable): what the first term with that word asks for, several with "|": "Conv|Gemm"; %NULL: there
 * is none
 */
char *
vn_node_query_dup_value (const char *text,
                         const char *word)
{
  g_autofree char *prefix = NULL;
  char *term;

  g_return_val_if_fail (text != NULL && word != NULL, NULL);

  prefix = query_dup_prefix (word);
  while ((term = query_next_term (&text)) != NULL)
    {
      char *value = g_str_has_prefix (term, prefix) ? g_strdup (term + strlen (prefix)) : NULL;

      g_free (term);
      if (value != NULL)
        return value;
    }
  return NULL;
}

/**
 * vn_node_query_dup_with:
 * @text: what was typed
 * @word: "type", "precision" or "band"
 * @value: (nullable): what nodes are to be of, several with "|"; %NULL: anything
 *
 * Returns: (transfer full): @text that asks for that in place of what it asked for
 */
char *
vn_node_query_dup_with (const char *text,
                        const char *word,
                        const char *value)
{
  g_autofree char *prefix = NULL;
  GString *changed;

  g_return_val_if_fail (text != NULL && word != NULL, NULL);

  prefix = query_dup_prefix (word);
  changed = g_string_new (NULL);
  if (value != NULL)
    g_string_append_printf (changed, "%s%s", prefix, value);
  for (;;)
    {
      const char *start = text + strspn (text, " \t\n");
      g_autofree char *term = (text = start, query_next_term (&text));

      if (term == NULL)
        break;
      if (!g_str_has_prefix (term, prefix))
        g_string_append_printf (changed, "%s%.*s", changed->len > 0 ? " " : "", (int) (text - start), start);
    }
  return g_string_free (changed, FALSE);
}
