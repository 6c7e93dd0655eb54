/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what a runtime tells of the nodes of an export, by what its line of vn-runtimes.def says stands where. All of it comes
 * from another process: what is of another kind than it should be is as if it were not there. */
#include "verify-facts.h"

#include <math.h>
#include <string.h>

#define MOST_NODES 100000u   /* of a list; more are not read */
#define LONGEST_TEXT 400     /* bytes of a name or a reason */
#define TOLD 1000u           /* of a list that is told */

/* ---- lists and members ---- */

typedef void (*EachFunc) (JsonNode *node,
                          gpointer  data);

/* Each of the list that @path leads to: “parts[].nodes[]”. */
static void
facts_each (JsonNode   *node,
            const char *path,
            EachFunc    func,
            gpointer    data)
{
  const char *end = strstr (path, "[]");
  g_autofree char *name = end != NULL ? g_strndup (path, (gsize) (end - path)) : NULL;
  JsonNode *list = node != NULL && name != NULL && JSON_NODE_HOLDS_OBJECT (node)
                   ? json_object_get_member (json_node_get_object (node), name) : NULL;
  JsonArray *array = list != NULL && JSON_NODE_HOLDS_ARRAY (list) ? json_node_get_array (list) : NULL;

  for (guint i = 0; array != NULL && i < MIN (json_array_get_length (array), MOST_NODES); i++)
    if (end[2] == '.')
      facts_each (json_array_get_element (array, i), end + 3, func, data);
    else
      func (json_array_get_element (array, i), data);
}

static void
facts_count (JsonNode *node,
             gpointer  data)
{
  ++*(guint *) data;
}

/* (nullable): the member that @path leads to: “about.type” */
static JsonNode *
facts_find (JsonNode   *node,
            const char *path)
{
  g_auto(GStrv) names = path != NULL ? g_strsplit (path, ".", -1) : NULL;

  for (guint i = 0; names != NULL && names[i] != NULL && node != NULL; i++)
    node = JSON_NODE_HOLDS_OBJECT (node) ? json_object_get_member (json_node_get_object (node), names[i]) : NULL;
  return names != NULL ? node : NULL;
}

/* (nullable): text, shortened */
static char *
facts_dup_text (JsonNode   *node,
                const char *path)
{
  JsonNode *found = facts_find (node, path);
  const char *text = found != NULL && JSON_NODE_HOLDS_VALUE (found) ? json_node_get_string (found) : NULL;

  return text != NULL ? g_utf8_make_valid (text, (gssize) strnlen (text, LONGEST_TEXT)) : NULL;
}

/* A number, or a text that is one; 0 if it is none, or negative. */
static double
facts_read_number (JsonNode *node)
{
  double number = 0;

  if (node != NULL && JSON_NODE_HOLDS_VALUE (node))
    number = json_node_get_string (node) != NULL ? g_ascii_strtod (json_node_get_string (node), NULL)
                                                 : json_node_get_double (node);
  return isfinite (number) && number > 0 ? number : 0;
}

/* (nullable): whether @word is one of @words, which stand there by blanks; @rest: (out) (optional): what follows it there behind
 * a colon */
static gboolean
facts_has_word (const char  *words,
                const char  *word,
                char       **rest)
{
  g_auto(GStrv) all = g_strsplit (words != NULL ? words : "", " ", -1);

  for (guint i = 0; word != NULL && all[i] != NULL; i++)
    {
      const char *colon = strchr (all[i], ':');
      const gsize length = colon != NULL ? (gsize) (colon - all[i]) : strlen (all[i]);

      if (strlen (word) != length || strncmp (all[i], word, length) != 0)
        continue;
      if (rest != NULL)
        *rest = g_strdup (colon != NULL ? colon + 1 : "");
      return TRUE;
    }
  return FALSE;
}

/* ---- multiplications ---- */

/* Sizes of a result and of what is read; a product of those that are known, 0 where one is open. */
typedef struct
{
  double all, last, second;
} Sizes;

static void
facts_add_sizes (JsonNode *node,
                 gpointer  data)
{
  JsonArray *array = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  Sizes sizes = { 1, 1, 1 };

  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++)
    {
      sizes.last = facts_read_number (json_array_get_element (array, i));
      sizes.all *= sizes.last;
      if (i == 1)
        sizes.second = sizes.last;
    }
  g_array_append_val ((GArray *) data, sizes);
}

/* What each number of a result is summed from: a filter of the second operand; the row of the first, or of the second, operand;
 * NONE: the runtime says how many multiplications there are. */
typedef enum { COUNT_NONE, COUNT_FILTER, COUNT_ROWS, COUNT_FILTER_ROWS } Count;

static Count
facts_find_count (const char *name)
{
  static const char * const names[] = { "cost", "filter", "rows", "filter-rows" };   /* in the order of Count */

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_strcmp0 (names[i], name) == 0)
      return (Count) i;
  return COUNT_NONE;
}

static double
facts_count_sizes (JsonNode             *node,
                   const VnRuntimeFacts *facts,
                   Count                 count)
{
  g_autoptr(GArray) sizes = g_array_new (FALSE, FALSE, sizeof (Sizes));
  const Sizes *result, *first, *second;
  double each[] = { 0, 0, 0, 0 };

  facts_each (node, facts->result, facts_add_sizes, sizes);
  facts_each (node, facts->operands, facts_add_sizes, sizes);
  if (sizes->len < 3)
    return 0;
  result = &g_array_index (sizes, Sizes, 0);
  first = &g_array_index (sizes, Sizes, 1);
  second = &g_array_index (sizes, Sizes, 2);
  each[COUNT_FILTER] = second->all / MAX (result->second, 1);
  each[COUNT_ROWS] = first->last;
  each[COUNT_FILTER_ROWS] = second->last;
  return result->all * each[count];
}

/* “FMA(F32)”: its number, and in @type what stands in parentheses. */
static double
facts_read_cost (JsonNode              *node,
                 const VnRuntimeFacts  *facts,
                 char                 **type)
{
  JsonNode *costs = facts_find (node, facts->costs);
  g_autoptr(GList) names = costs != NULL && JSON_NODE_HOLDS_OBJECT (costs)
                           ? json_object_get_members (json_node_get_object (costs)) : NULL;

  for (const GList *l = names; l != NULL; l = l->next)
    {
      const char *name = l->data, *from = g_str_has_prefix (name, facts->cost) ? strchr (name, '(') : NULL;
      const char *to = from != NULL ? strchr (from, ')') : NULL;

      if (to == NULL)
        continue;
      *type = g_strndup (from + 1, MIN ((gsize) (to - from - 1), LONGEST_TEXT));
      return facts_read_number (json_object_get_member (json_node_get_object (costs), name));
    }
  return 0;
}

/* ---- nodes ---- */

typedef struct
{
  VnVerification *found;
  GHashTable     *whole;      /* (element-type utf8 utf8): kinds of those with pairs around them, by name */
  GHashTable     *reasons;    /* (element-type utf8 utf8): what is logged, by name */
  double          macs, integer_macs;
} Reading;

static void
facts_take_product (Reading              *self,
                    const VnVerifiedNode *node)
{
  const gboolean is_integer = node->type != NULL && facts_has_word (self->found->runtime->integers, node->type, NULL);

  self->found->n_products++;
  self->macs += node->macs;
  if (!is_integer)
    {
      vn_verification_add_node (self->found->floats, node);
      return;
    }
  self->found->n_integer_products++;
  self->integer_macs += node->macs;
}

static void
facts_read_product (JsonNode *node,
                    gpointer  data)
{
  Reading *self = data;
  const VnTargetRuntime *runtime = self->found->runtime;
  const VnRuntimeFacts *facts = &runtime->facts;
  g_autofree char *name = facts_dup_text (node, facts->name), *kind = facts_dup_text (node, facts->kind);
  g_autofree char *type = facts_dup_text (node, facts->type), *kernel = facts_dup_text (node, facts->kernel);
  g_autofree char *count = NULL;
  VnVerifiedNode row = { name != NULL ? name : (char *) "", kind, NULL, kernel, NULL, 0 };

  if (!facts_has_word (runtime->products, kind, &count))
    return;
  row.macs = facts->costs != NULL ? facts_read_cost (node, facts, &type)
                                  : facts_count_sizes (node, facts, facts_find_count (count));
  row.type = type;
  facts_take_product (self, &row);
}

/* ---- nodes between quantizers, by what they consist of ---- */

typedef struct
{
  const VnRuntimeFacts *facts;
  guint                 n;
} Members;

static void
facts_count_member (JsonNode *node,
                    gpointer  data)
{
  Members *members = data;
  g_autofree char *kind = facts_dup_text (node, members->facts->member_kind);

  members->n += g_strcmp0 (kind, members->facts->member) == 0;
}

/* What follows the name that it has in the file is cut off. */
static void
facts_cut_suffix (char       *name,
                  const char *suffix)
{
  char *from = suffix != NULL ? g_strrstr (name, suffix) : NULL;

  if (from != NULL && from != name && strspn (from + strlen (suffix), "0123456789") == strlen (from + strlen (suffix)))
    *from = '\0';
}

static void
facts_read_whole (JsonNode *node,
                  gpointer  data)
{
  Reading *self = data;
  const VnRuntimeFacts *facts = &self->found->runtime->facts;
  g_autofree char *name = facts_dup_text (node, facts->name), *kind = facts_dup_text (node, facts->kind);
  Members members = { facts, 0 };

  facts_each (node, facts->members, facts_count_member, &members);
  if (name == NULL)
    return;
  facts_cut_suffix (name, facts->suffix);
  if (members.n > 1)
    g_hash_table_insert (self->whole, g_steal_pointer (&name), g_strdup (kind));
}

/* What multiplies in the file, as the runtime tells no sizes. */
static void
facts_read_forecast (Reading                 *self,
                     const VnRuntimeForecast *forecast)
{
  for (guint i = 0; i < forecast->nodes->len; i++)
    {
      const VnRuntimeNode *node = g_ptr_array_index (forecast->nodes, i);
      const VnVerifiedNode row = { node->label, node->op_type, NULL, NULL, NULL, node->macs };

      if (!(node->macs > 0))
        continue;
      self->found->n_products++;
      self->macs += node->macs;
      if (g_hash_table_contains (self->whole, node->label))
        {
          self->found->n_integer_products++;
          self->integer_macs += node->macs;
        }
      else
        vn_verification_add_node (self->found->floats, &row);
    }
}

/* ---- what fell back ---- */

/* What was logged of a node says more than the list does. */
static void
facts_read_log (Reading    *self,
                const char *log)
{
  const char *pattern = self->found->runtime->facts.log;
  g_autoptr(GRegex) regex = pattern != NULL ? g_regex_new (pattern, G_REGEX_OPTIMIZE | G_REGEX_RAW, 0, NULL) : NULL;
  g_autoptr(GMatchInfo) match = NULL;

  if (regex == NULL || log == NULL)
    return;
  for (g_regex_match (regex, log, 0, &match); g_match_info_matches (match); g_match_info_next (match, NULL))
    {
      g_autofree char *name = g_match_info_fetch_named (match, "name"), *kind = g_match_info_fetch_named (match, "kind");
      g_autofree char *reason = g_match_info_fetch_named (match, "reason"), *error = g_match_info_fetch_named (match, "error");
      g_autofree char *text = g_strdup_printf ("%s %s: %s", reason, error, kind);

      g_hash_table_insert (self->reasons, g_utf8_make_valid (name, -1),
                           g_utf8_make_valid (text, (gssize) strnlen (text, LONGEST_TEXT)));
    }
}

static void
facts_read_refused (JsonNode *node,
                    gpointer  data)
{
  Reading *self = data;
  const VnRuntimeFacts *facts = &self->found->runtime->facts;
  g_autofree char *name = facts_dup_text (node, facts->refused_name), *kind = facts_dup_text (node, facts->refused_kind);
  g_autofree char *reason = facts_dup_text (node, facts->refused_reason);
  char *logged = name != NULL ? g_hash_table_lookup (self->reasons, name) : NULL;
  const VnVerifiedNode row = { name, kind, NULL, NULL, logged != NULL ? logged : reason, 0 };

  if (name == NULL || kind == NULL || facts_has_word (facts->companions, kind, NULL) || self->found->fallen->len >= TOLD)
    return;
  vn_verification_add_node (self->found->fallen, &row);
}

/* ---- all ---- */

static int
facts_compare (gconstpointer a,
               gconstpointer b)
{
  const VnVerifiedNode *first = *(const VnVerifiedNode * const *) a, *second = *(const VnVerifiedNode * const *) b;

  return first->macs > second->macs ? -1 : first->macs < second->macs ? 1 : g_strcmp0 (first->name, second->name);
}

/*< private >
 * vn_verify_facts_read:
 * @found: what is known of an export in its runtime; gets what that tells of nodes
 * @facts: (nullable): what it printed; not trusted
 * @log: (nullable): what it logged; bytes of any kind
 * @forecast: (nullable): of the export: how many multiplications its nodes have
 */
void
vn_verify_facts_read (VnVerification          *found,
                      JsonNode                *facts,
                      const char              *log,
                      const VnRuntimeForecast *forecast)
{
  const VnRuntimeFacts *where;
  Reading reading = { .found = found };

  g_return_if_fail (found != NULL);

  where = &found->runtime->facts;
  if (where->nodes == NULL || facts == NULL || !JSON_NODE_HOLDS_OBJECT (facts))
    return;
  reading.whole = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  reading.reasons = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  facts_each (facts, where->nodes, where->members != NULL ? facts_read_whole : facts_read_product, &reading);
  if (where->members != NULL && forecast != NULL && g_hash_table_size (reading.whole) > 0)
    facts_read_forecast (&reading, forecast);
  if (where->partitions != NULL)
    facts_each (facts, where->partitions, facts_count, &found->n_partitions);
  facts_read_log (&reading, log);
  if (where->refused != NULL)
    facts_each (facts, where->refused, facts_read_refused, &reading);
  if (reading.macs > 0)
    found->integer_share = reading.integer_macs / reading.macs;
  g_ptr_array_sort (found->floats, facts_compare);
  if (found->floats->len > TOLD)
    g_ptr_array_set_size (found->floats, TOLD);
  g_hash_table_unref (reading.whole);
  g_hash_table_unref (reading.reasons);
}
