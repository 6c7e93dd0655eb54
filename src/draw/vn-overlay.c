/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What colours a scene: one item a node, the bands that a legend counts, and the scale of amounts. */
#include "vn-scene.h"

#include "vn-format.h"
#include "vn-heat.h"
#include "vn-i18n.h"

#include <math.h>

#define AMOUNT_DECADES 3.    /* what is less than a thousandth of the whole has no colour */

struct _VnOverlay
{
  gatomicrefcount ref;
  VnOverlayKind   kind;
  char           *unit;
  VnAmountUnit    amount_unit;
  double          total;    /* of all amounts */
  double          least, largest;    /* of all numbers */
  guint           n;
  VnOverlayItem  *items;
  VnOverlayNote **notes;    /* by node; NULL where there are none at all */
};

static void
overlay_free_note (VnOverlayNote *note)
{
  if (note == NULL)
    return;
  g_free ((char *) note->name);
  g_free ((VnOverlayItem *) note->items);
  g_free (note);
}

/**
 * vn_overlay_new:
 * @n_nodes: as in the scene it belongs to
 * @unit: (nullable): written behind the value where there is room: "dB"
 *
 * Returns: (transfer full): an overlay in which nothing is measured
 */
VnOverlay *
vn_overlay_new (VnOverlayKind  kind,
                guint          n_nodes,
                const char    *unit)
{
  VnOverlay *self = g_new0 (VnOverlay, 1);

  g_atomic_ref_count_init (&self->ref);
  self->kind = kind;
  self->unit = g_strdup (unit != NULL ? unit : "");
  self->n = n_nodes;
  self->items = g_new0 (VnOverlayItem, MAX (n_nodes, 1));
  return self;
}

/**
 * vn_overlay_ref:
 *
 * Returns: (transfer full): @self
 */
VnOverlay *
vn_overlay_ref (VnOverlay *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_overlay_unref:
 *
 * Drops a reference; the last one frees the overlay.
 */
void
vn_overlay_unref (VnOverlay *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref))
    return;

  for (guint i = 0; self->notes != NULL && i < self->n; i++)
    overlay_free_note (self->notes[i]);
  g_free (self->notes);
  g_free (self->unit);
  g_free (self->items);
  g_free (self);
}

/**
 * vn_overlay_set:
 * @item: copied
 *
 * Sets one node; of an error the ticks say what it counts to. Only before the overlay is shared.
 */
void
vn_overlay_set (VnOverlay           *self,
                guint                node,
                const VnOverlayItem *item)
{
  g_return_if_fail (node < self->n);

  self->items[node] = *item;
  if (self->kind == VN_OVERLAY_ERROR)
    self->items[node].band = vn_heat_get_band (item->ticks);
}

/**
 * vn_overlay_get_kind:
 *
 * Returns: what the overlay shows
 */
VnOverlayKind
vn_overlay_get_kind (const VnOverlay *self)
{
  g_return_val_if_fail (self != NULL, VN_OVERLAY_NONE);

  return self->kind;
}

/**
 * vn_overlay_get_n:
 *
 * Returns: number of nodes it was made for
 */
guint
vn_overlay_get_n (const VnOverlay *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n;
}

/**
 * vn_overlay_get_unit:
 *
 * Returns: (transfer none): the unit, "" if there is none
 */
const char *
vn_overlay_get_unit (const VnOverlay *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->unit;
}

/**
 * vn_overlay_get:
 *
 * Returns: (transfer none): the item of @node, which must exist
 */
const VnOverlayItem *
vn_overlay_get (const VnOverlay *self,
                guint            node)
{
  g_return_val_if_fail (node < self->n, NULL);

  return &self->items[node];
}

/**
 * vn_overlay_dup_value:
 *
 * Returns: (transfer full): the value of @node, which must exist, with its unit: "8.5 dB", "2.2 %", "NaN"
 */
char *
vn_overlay_dup_value (const VnOverlay *self,
                      guint            node)
{
  const VnOverlayItem *item;

  g_return_val_if_fail (self != NULL && node < self->n, NULL);

  item = &self->items[node];
  return item->is_nan || *self->unit == '\0' ? g_strdup (item->value) : g_strconcat (item->value, "\u00a0", self->unit, NULL);
}

/**
 * vn_overlay_set_note:
 * @note: copied, with all that is in it
 *
 * Says more about a closed group. Only before the overlay is shared.
 */
void
vn_overlay_set_note (VnOverlay           *self,
                     guint                node,
                     const VnOverlayNote *note)
{
  VnOverlayNote *copy;

  g_return_if_fail (self != NULL && node < self->n && note != NULL);

  if (self->notes == NULL)
    self->notes = g_new0 (VnOverlayNote *, self->n);
  copy = g_memdup2 (note, sizeof *note);
  copy->name = g_strdup (note->name);
  copy->items = g_memdup2 (note->items, sizeof *note->items * note->n_items);
  overlay_free_note (self->notes[node]);
  self->notes[node] = copy;
}

/**
 * vn_overlay_get_note:
 *
 * Returns: (transfer none) (nullable): what is said of a closed group; %NULL of a node
 */
const VnOverlayNote *
vn_overlay_get_note (const VnOverlay *self,
                     guint            node)
{
  g_return_val_if_fail (self != NULL && node < self->n, NULL);

  return self->notes != NULL ? self->notes[node] : NULL;
}

/**
 * vn_overlay_set_total:
 * @total: of all amounts that there are
 *
 * Says what the whole is that amounts are a share of. Only before the overlay is shared.
 */
void
vn_overlay_set_total (VnOverlay    *self,
                      VnAmountUnit  unit,
                      double        total)
{
  g_return_if_fail (self != NULL);

  self->amount_unit = unit;
  self->total = total;
}

/**
 * vn_overlay_get_total:
 *
 * Returns: the sum of all amounts; 0 in overlays of something else
 */
double
vn_overlay_get_total (const VnOverlay *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->total;
}

/**
 * vn_overlay_get_amount_unit:
 *
 * Returns: what amounts are
 */
VnAmountUnit
vn_overlay_get_amount_unit (const VnOverlay *self)
{
  g_return_val_if_fail (self != NULL, VN_AMOUNT_BYTES);

  return self->amount_unit;
}

/**
 * vn_amount_t:
 * @share: of the whole, 0 to 1
 *
 * Returns: its place on the blue scale: three decades end at the whole, so that a group that opens leaves other colours alone
 */
double
vn_amount_t (double share)
{
  return share > 0 ? CLAMP (1 + log10 (share) / AMOUNT_DECADES, 0, 1) : 0;
}

/**
 * vn_amount_share_at:
 *
 * Returns: the share at a place on the blue scale: the inverse of vn_amount_t()
 */
double
vn_amount_share_at (double t)
{
  return pow (10, AMOUNT_DECADES * (CLAMP (t, 0, 1) - 1));
}

/**
 * vn_amount_format:
 *
 * Returns: (transfer full): "1.2 MB", "340 µs"
 */
char *
vn_amount_format (VnAmountUnit unit,
                  double       amount)
{
  if (unit == VN_AMOUNT_BYTES)
    return vn_format_bytes ((guint64) MAX (amount, 0));
  if (amount < 1e-3)
    return g_strdup_printf ("%.*f\u00a0µs", amount < 1e-5 ? 1 : 0, amount * 1e6);
  if (amount < 1)
    return g_strdup_printf ("%.*f\u00a0ms", amount < 1e-1 ? 2 : 0, amount * 1e3);
  return g_strdup_printf ("%.2f\u00a0s", amount);
}

static guint
overlay_get_amount_band (double share)
{
  return share < 0.01 ? 0 : share < 0.1 ? 1 : 2;
}

/**
 * vn_overlay_rate_amount:
 * @item: (out caller-allocates): of a node or a group with so much
 */
void
vn_overlay_rate_amount (const VnOverlay *self,
                        double           amount,
                        VnOverlayItem   *item)
{
  g_autofree char *text = NULL;
  double share;

  g_return_if_fail (self != NULL && item != NULL);

  text = vn_amount_format (self->amount_unit, amount);
  share = self->total > 0 ? amount / self->total : 0;
  *item = (VnOverlayItem) { .measured = TRUE, .amount = amount, .t = (float) vn_amount_t (share) };
  item->ticks = (guint) ceil (4 * (double) item->t);
  item->band = overlay_get_amount_band (share);
  g_strlcpy (item->value, text, sizeof item->value);
}

/**
 * vn_overlay_set_span:
 * @least, @largest: of all numbers that there are
 *
 * Sets the ends of the scale of numbers. Only before the overlay is shared.
 */
void
vn_overlay_set_span (VnOverlay *self,
                     double     least,
                     double     largest)
{
  g_return_if_fail (self != NULL && least <= largest);

  self->least = least;
  self->largest = largest;
}

/**
 * vn_overlay_get_span:
 * @least, @largest: (out): the ends of the scale of numbers; 0 in overlays of something else
 */
void
vn_overlay_get_span (const VnOverlay *self,
                     double          *least,
                     double          *largest)
{
  g_return_if_fail (self != NULL && least != NULL && largest != NULL);

  *least = self->least;
  *largest = self->largest;
}

/**
 * vn_overlay_rate_number:
 * @item: (out caller-allocates): of a node with this number; where all are the same it is in the middle of the scale
 */
void
vn_overlay_rate_number (const VnOverlay *self,
                        double           number,
                        VnOverlayItem   *item)
{
  g_autofree char *text = NULL;
  double span, t;

  g_return_if_fail (self != NULL && item != NULL);

  text = vn_format_number (number, 3);
  span = self->largest / 2 - self->least / 2;    /* of halves: the whole may be beyond what a double holds */
  t = span > 0 ? CLAMP ((number / 2 - self->least / 2) / span, 0, 1) : 0.5;
  *item = (VnOverlayItem) { .measured = TRUE, .amount = number, .t = (float) t };
  item->ticks = (guint) ceil (4 * t);
  item->band = MIN ((guint) (3 * t), 2);
  g_strlcpy (item->value, text, sizeof item->value);
}

/* The lines of the key of each kind; of a precision in the order of VnScenePrecision, of kernels in that of VnRuntimeKind. */
static const VnOverlayBand overlay_errors[] = {
  [VN_BAND_FINE] = { N_("Fine"), 0.2, 1, NULL },
  [VN_BAND_WATCH] = { N_("Borderline"), 0.5, 2, NULL },
  [VN_BAND_BAD] = { N_("Bad"), 0.85, 4, NULL },
};

static const VnOverlayBand overlay_amounts[] = {
  { N_("Under 1\u00a0%"), 0.15, 1, NULL },
  { N_("1 to 10\u00a0%"), 0.5, 2, NULL },
  { N_("Over 10\u00a0%"), 0.85, 4, NULL },
};

static const VnOverlayBand overlay_numbers[] = {
  { N_("Low third"), 0.15, 1, NULL },
  { N_("Middle third"), 0.5, 2, NULL },
  { N_("High third"), 0.85, 4, NULL },
};

static const VnOverlayBand overlay_differences[] = {
  { N_("Better"), -0.7, 3, NULL },
  { N_("Same"), 0, 0, NULL },
  { N_("Worse"), 0.7, 3, NULL },
};

static const VnOverlayBand overlay_precisions[] = {
  [VN_PRECISION_NONE] = { N_("Non-numeric"), 0, 0, "–" },
  [VN_PRECISION_8] = { N_("8-bit"), 0, 0, "8" },
  [VN_PRECISION_WIDE] = { N_("16-bit"), 0, 0, "16" },
  [VN_PRECISION_HALF] = { N_("Half"), 0, 0, "F16" },
  [VN_PRECISION_FLOAT] = { N_("Float"), 0, 0, "F32" },
  [VN_PRECISION_4] = { N_("4-bit"), 0, 0, "4" },
};

static const VnOverlayBand overlay_kernels[] = {
  { N_("Float"), 0.75, 4, NULL },
  { N_("Integer"), 0, 0, "I" },
  { N_("Data movement"), 0, 0, "M" },
  { N_("Fused"), 0, 0, "F" },
  { N_("Constant"), 0, 0, "C" },
};

static const VnOverlayBand overlay_bits[] = {
  { N_("2-bit"), 0.1, 0, "2" },
  { N_("4-bit"), 0.25, 0, "4" },
  { N_("8-bit"), 0.5f, 0, "8" },
  { N_("16-bit"), 0.75f, 0, "16" },
  { N_("32-bit"), 0.95f, 0, "32" },
};

/**
 * vn_overlay_rate_bits:
 * @bits: of a number
 * @item: (out caller-allocates): of a node whose weights have so many
 */
void
vn_overlay_rate_bits (guint          bits,
                      VnOverlayItem *item)
{
  guint band = 0;

  g_return_if_fail (item != NULL);

  while (band + 1 < G_N_ELEMENTS (overlay_bits) && bits > 2u << band)
    band++;
  *item = (VnOverlayItem) { .measured = TRUE, .band = band, .ticks = band, .t = (float) overlay_bits[band].t };
  g_snprintf (item->value, sizeof item->value, "%u", bits);
}

/**
 * vn_overlay_kind_get_bands:
 *
 * Returns: (transfer none) (nullable) (array length=n): the lines of the key; %NULL where nothing is told apart
 */
const VnOverlayBand *
vn_overlay_kind_get_bands (VnOverlayKind  kind,
                           guint         *n)
{
  static const struct { const VnOverlayBand *bands; guint n; } all[] = {
    [VN_OVERLAY_ERROR] = { overlay_errors, G_N_ELEMENTS (overlay_errors) },
    [VN_OVERLAY_AMOUNT] = { overlay_amounts, G_N_ELEMENTS (overlay_amounts) },
    [VN_OVERLAY_PRECISION] = { overlay_precisions, G_N_ELEMENTS (overlay_precisions) },
    [VN_OVERLAY_KERNELS] = { overlay_kernels, G_N_ELEMENTS (overlay_kernels) },
    [VN_OVERLAY_DIFFERENCE] = { overlay_differences, G_N_ELEMENTS (overlay_differences) },
    [VN_OVERLAY_BITS] = { overlay_bits, G_N_ELEMENTS (overlay_bits) },
    [VN_OVERLAY_NUMBER] = { overlay_numbers, G_N_ELEMENTS (overlay_numbers) },
  };

  g_return_val_if_fail (n != NULL, NULL);

  *n = (guint) kind < G_N_ELEMENTS (all) ? all[kind].n : 0;
  return *n > 0 ? all[kind].bands : NULL;
}

/**
 * vn_overlay_kind_rates_float:
 *
 * Returns: whether nodes that are left in float have a value, too: they have a size and take time
 */
gboolean
vn_overlay_kind_rates_float (VnOverlayKind kind)
{
  return kind == VN_OVERLAY_AMOUNT || kind == VN_OVERLAY_KERNELS || kind == VN_OVERLAY_DIFFERENCE || kind == VN_OVERLAY_BITS ||
         kind == VN_OVERLAY_NUMBER;
}

/**
 * vn_overlay_count_band:
 *
 * Returns: how many measured nodes count to a line of the key
 */
guint
vn_overlay_count_band (const VnOverlay *self,
                       guint            band)
{
  guint count = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; i < self->n; i++)
    count += self->items[i].measured && self->items[i].band == band;
  return count;
}

/**
 * vn_overlay_count:
 * @fine: (out): measured nodes with at most one tick
 * @watch: (out): two or three ticks
 * @bad: (out): bad ones, NaN included
 */
void
vn_overlay_count (const VnOverlay *self,
                  guint           *fine,
                  guint           *watch,
                  guint           *bad)
{
  g_return_if_fail (self != NULL);

  *fine = vn_overlay_count_band (self, VN_BAND_FINE);
  *watch = vn_overlay_count_band (self, VN_BAND_WATCH);
  *bad = vn_overlay_count_band (self, VN_BAND_BAD);
}
