/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes that require each other share what they cost: a layer in float costs once, and all tensors around it gain by it. For a
 * fixed price of cost the best set is a minimum cut, found exactly; for all prices these are the corners of the hull of gain over
 * cost. Between two corners changes are added by what they bring for what they still cost. */
#include "vn-choices.h"

#include <math.h>
#include <string.h>

typedef struct
{
  double  gain, cost;
  GArray *required;   /* of guint */
} Choice;

struct _VnChoices
{
  GArray *items;      /* of Choice */
};

static void
choices_clear_item (gpointer data)
{
  g_array_unref (((Choice *) data)->required);
}

VnChoices *
vn_choices_new (void)
{
  VnChoices *self = g_new0 (VnChoices, 1);

  self->items = g_array_new (FALSE, FALSE, sizeof (Choice));
  g_array_set_clear_func (self->items, choices_clear_item);
  return self;
}

/**
 * vn_choices_free:
 */
void
vn_choices_free (VnChoices *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->items);
  g_free (self);
}

static Choice *
choices_get (const VnChoices *self,
             guint            which)
{
  return &g_array_index (self->items, Choice, which);
}

/**
 * vn_choices_add:
 * @gain, @cost: any numbers; both may be negative
 *
 * Returns: the number of a new change
 */
guint
vn_choices_add (VnChoices *self,
                double     gain,
                double     cost)
{
  Choice item = { gain, cost, NULL };

  g_return_val_if_fail (self != NULL && isfinite (gain) && isfinite (cost), 0);

  item.required = g_array_new (FALSE, FALSE, sizeof (guint));
  g_array_append_val (self->items, item);
  return self->items->len - 1;
}

void
vn_choices_set_gain (VnChoices *self,
                     guint      which,
                     double     gain)
{
  g_return_if_fail (self != NULL && which < self->items->len && isfinite (gain));

  choices_get (self, which)->gain = gain;
}

void
vn_choices_add_cost (VnChoices *self,
                     guint      which,
                     double     more)
{
  g_return_if_fail (self != NULL && which < self->items->len && isfinite (more));

  choices_get (self, which)->cost += more;
}

/**
 * vn_choices_require:
 *
 * From now on @which is only made together with @required.
 */
void
vn_choices_require (VnChoices *self,
                    guint      which,
                    guint      required)
{
  g_return_if_fail (self != NULL && which < self->items->len && required < self->items->len && which != required);

  g_array_append_val (choices_get (self, which)->required, required);
}

guint
vn_choices_get_n (VnChoices *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->items->len;
}

/* ---- minimum cut ---- */

typedef struct
{
  guint  to;
  double room;
} Edge;

/**
 * Flow: edges lie in pairs, forth and back.
 * @out: by node: of guint: its edges
 */
typedef struct
{
  GArray  *edges;     /* of Edge */
  GArray **out;
  int     *level;
  guint   *next, *queue;
  guint    n, source, sink;
  double   least;     /* less is what rounding leaves */
} Flow;

static void
choices_flow_init (Flow  *flow,
                   guint  n)
{
  *flow = (Flow) { g_array_new (FALSE, FALSE, sizeof (Edge)), g_new (GArray *, n), g_new (int, n), g_new (guint, n),
                   g_new (guint, n),
                   n, n - 2, n - 1, 0 };
  for (guint i = 0; i < n; i++)
    flow->out[i] = g_array_new (FALSE, FALSE, sizeof (guint));
}

static void
choices_flow_clear (Flow *flow)
{
  for (guint i = 0; i < flow->n; i++)
    g_array_unref (flow->out[i]);
  g_array_unref (flow->edges);
  g_free (flow->out);
  g_free (flow->level);
  g_free (flow->next);
  g_free (flow->queue);
}

static void
choices_flow_add (Flow   *flow,
                  guint   from,
                  guint   to,
                  double  room)
{
  Edge forth = { to, room }, back = { from, 0 };
  guint at = flow->edges->len, behind = at + 1;

  g_array_append_val (flow->edges, forth);
  g_array_append_val (flow->edges, back);
  g_array_append_val (flow->out[from], at);
  g_array_append_val (flow->out[to], behind);
}

/* How far each node is from the source, by edges that have room. */
static gboolean
choices_flow_rank (Flow *flow)
{
  guint first = 0, last = 0;

  for (guint i = 0; i < flow->n; i++)
    flow->level[i] = -1;
  flow->level[flow->source] = 0;
  flow->queue[last++] = flow->source;
  while (first < last)
    {
      guint node = flow->queue[first++];

      for (guint k = 0; k < flow->out[node]->len; k++)
        {
          const Edge *edge = &g_array_index (flow->edges, Edge, g_array_index (flow->out[node], guint, k));

          if (edge->room <= flow->least || flow->level[edge->to] >= 0)
            continue;
          flow->level[edge->to] = flow->level[node] + 1;
          flow->queue[last++] = edge->to;
        }
    }
  return flow->level[flow->sink] >= 0;
}

/* The way is three edges long or goes through what is required: never deep. */
static double
choices_flow_push (Flow   *flow,
                   guint   node,
                   double  most)
{
  if (node == flow->sink)
    return most;
  for (; flow->next[node] < flow->out[node]->len; flow->next[node]++)
    {
      guint at = g_array_index (flow->out[node], guint, flow->next[node]);
      Edge *edge = &g_array_index (flow->edges, Edge, at);
      double pushed;

      if (edge->room <= flow->least || flow->level[edge->to] != flow->level[node] + 1)
        continue;
      pushed = choices_flow_push (flow, edge->to, MIN (most, edge->room));
      if (pushed <= flow->least)
        continue;
      edge->room -= pushed;
      g_array_index (flow->edges, Edge, at ^ 1).room += pushed;
      return pushed;
    }
  return 0;
}

/* ---- sets ---- */

static void
choices_free_set (gpointer data)
{
  g_free (((VnChoiceSet *) data)->taken);
  g_free (data);
}

static VnChoiceSet *
choices_new_set (const VnChoices *self,
                 gboolean        *taken)
{
  VnChoiceSet *set = g_new0 (VnChoiceSet, 1);

  set->taken = taken;
  for (guint i = 0; i < self->items->len; i++)
    if (taken[i])
      {
        set->gain += choices_get (self, i)->gain;
        set->cost += choices_get (self, i)->cost;
      }
  return set;
}

/* The set of the largest @of_gain × gain − @of_cost × cost. */
static VnChoiceSet *
choices_solve (const VnChoices *self,
               double           of_gain,
               double           of_cost)
{
  guint n = self->items->len;
  gboolean *taken = g_new0 (gboolean, n + 1);
  double total = 0;
  Flow flow;

  choices_flow_init (&flow, n + 2);
  for (guint i = 0; i < n; i++)
    {
      const Choice *item = choices_get (self, i);
      double value = of_gain * item->gain - of_cost * item->cost;

      total += fabs (value);
      if (value > 0)
        choices_flow_add (&flow, flow.source, i, value);
      else if (value < 0)
        choices_flow_add (&flow, i, flow.sink, -value);
    }
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < choices_get (self, i)->required->len; k++)
      choices_flow_add (&flow, i, g_array_index (choices_get (self, i)->required, guint, k), 2 * total + 1);
  flow.least = 1e-13 * total;
  while (choices_flow_rank (&flow))
    {
      memset (flow.next, 0, flow.n * sizeof *flow.next);
      while (choices_flow_push (&flow, flow.source, INFINITY) > 0)
        ;
    }
  for (guint i = 0; i < n; i++)
    taken[i] = flow.level[i] >= 0;
  choices_flow_clear (&flow);
  return choices_new_set (self, taken);
}

/* What is a thousandth of a millionth of all decides nothing. */
#define LEAST 1e-9

typedef struct
{
  double gain, cost;   /* of all, without signs */
} Size;

static Size
choices_measure (const VnChoices *self)
{
  Size size = { 0, 0 };

  for (guint i = 0; i < self->items->len; i++)
    {
      size.gain += fabs (choices_get (self, i)->gain);
      size.cost += fabs (choices_get (self, i)->cost);
    }
  return (Size) { size.gain > 0 ? size.gain : 1, size.cost > 0 ? size.cost : 1 };
}

/* Corners between two sets, in their order. */
static void
choices_split (const VnChoices   *self,
               const Size        *size,
               const VnChoiceSet *low,
               const VnChoiceSet *high,
               GPtrArray         *sets)
{
  double of_gain = (high->cost - low->cost) / size->cost, of_cost = (high->gain - low->gain) / size->gain, more;
  VnChoiceSet *middle;

  if (of_gain <= LEAST || of_cost <= LEAST)
    return;
  middle = choices_solve (self, of_gain / size->gain, of_cost / size->cost);
  more = of_gain * (middle->gain - low->gain) / size->gain - of_cost * (middle->cost - low->cost) / size->cost;
  if (more <= LEAST * of_gain || middle->cost <= low->cost || middle->cost >= high->cost)
    {
      choices_free_set (middle);
      return;
    }
  choices_split (self, size, low, middle, sets);
  g_ptr_array_add (sets, middle);
  choices_split (self, size, middle, high, sets);
}

/**
 * vn_choices_find_hull:
 *
 * Returns: (transfer full) (element-type VnChoiceSet): from the set that costs least to the one that gains most, those that no
 *   other set, or mixture of two, exceeds in gain at the same cost
 */
GPtrArray *
vn_choices_find_hull (VnChoices *self)
{
  g_autoptr(GPtrArray) sets = NULL;
  VnChoiceSet *low, *high;
  Size size;

  g_return_val_if_fail (self != NULL, NULL);

  size = choices_measure (self);
  sets = g_ptr_array_new_with_free_func (choices_free_set);
  low = choices_solve (self, LEAST / size.gain, 1 / size.cost);
  high = choices_solve (self, 1 / size.gain, LEAST / size.cost);
  g_ptr_array_add (sets, low);
  if (high->gain - low->gain <= LEAST * size.gain || high->cost - low->cost <= LEAST * size.cost)
    {
      choices_free_set (high);
      return g_steal_pointer (&sets);
    }
  choices_split (self, &size, low, high, sets);
  g_ptr_array_add (sets, high);
  return g_steal_pointer (&sets);
}

/* ---- between the corners ---- */

/* Adds @which, and what it requires, to @all; says what that gains and costs more. */
static void
choices_add_with_required (const VnChoices *self,
                           guint            which,
                           gboolean        *all,
                           double          *gain,
                           double          *cost)
{
  const Choice *item = choices_get (self, which);

  if (all[which])
    return;
  all[which] = TRUE;
  *gain += item->gain;
  *cost += item->cost;
  for (guint k = 0; k < item->required->len; k++)
    choices_add_with_required (self, g_array_index (item->required, guint, k), all, gain, cost);
}

/* What costs nothing now that other things are done. */
static void
choices_add_free (const VnChoices   *self,
                  const VnChoiceSet *within,
                  gboolean          *taken)
{
  gboolean changed = TRUE;

  while (changed)
    {
      changed = FALSE;
      for (guint i = 0; i < self->items->len; i++)
        {
          g_autofree gboolean *all = NULL;
          double gain = 0, cost = 0;

          if (taken[i] || !within->taken[i])
            continue;
          all = g_memdup2 (taken, self->items->len * sizeof *taken);
          choices_add_with_required (self, i, all, &gain, &cost);
          if (cost > 0 || gain < 0)
            continue;
          memcpy (taken, all, self->items->len * sizeof *taken);
          changed = TRUE;
        }
    }
}

/* Takes what gains most for its cost; FALSE: nothing that gains is left. */
static gboolean
choices_step (const VnChoices   *self,
              const VnChoiceSet *within,
              gboolean          *taken)
{
  g_autofree gboolean *best = NULL;
  double density = 0;

  for (guint i = 0; i < self->items->len; i++)
    {
      g_autofree gboolean *all = NULL;
      double gain = 0, cost = 0;

      if (taken[i] || !within->taken[i] || choices_get (self, i)->gain <= 0)
        continue;
      all = g_memdup2 (taken, self->items->len * sizeof *taken);
      choices_add_with_required (self, i, all, &gain, &cost);
      if (gain <= 0 || (best != NULL && gain / MAX (cost, 1e-300) <= density))
        continue;
      density = gain / MAX (cost, 1e-300);
      g_free (best);
      best = g_steal_pointer (&all);
    }
  if (best == NULL)
    return FALSE;
  memcpy (taken, best, self->items->len * sizeof *taken);
  choices_add_free (self, within, taken);
  return TRUE;
}

static void
choices_fill (const VnChoices   *self,
              const VnChoiceSet *low,
              const VnChoiceSet *high,
              GPtrArray         *sets)
{
  g_autofree gboolean *taken = g_memdup2 (low->taken, self->items->len * sizeof *taken);

  while (choices_step (self, high, taken))
    {
      VnChoiceSet *set = choices_new_set (self, g_memdup2 (taken, self->items->len * sizeof *taken));

      if (set->cost > low->cost && set->cost < high->cost && set->gain > low->gain && set->gain < high->gain)
        g_ptr_array_add (sets, set);
      else
        choices_free_set (set);
    }
}

/**
 * vn_choices_find_path:
 *
 * Returns: (transfer full) (element-type VnChoiceSet): vn_choices_find_hull() with sets between its corners: each of them lies
 *   within the next corner
 */
GPtrArray *
vn_choices_find_path (VnChoices *self)
{
  g_autoptr(GPtrArray) hull = NULL;
  g_autoptr(GPtrArray) path = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  hull = vn_choices_find_hull (self);
  path = g_ptr_array_new_with_free_func (choices_free_set);
  for (guint i = 0; i < hull->len; i++)
    {
      const VnChoiceSet *set = g_ptr_array_index (hull, i);

      if (i > 0)
        choices_fill (self, g_ptr_array_index (hull, i - 1), set, path);
      g_ptr_array_add (path, choices_new_set (self, g_memdup2 (set->taken, self->items->len * sizeof *set->taken)));
    }
  return g_steal_pointer (&path);
}
