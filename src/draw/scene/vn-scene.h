/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-op.h"

G_BEGIN_DECLS

/* What the canvas shows, without the model behind it. A scene is filled once, sealed and from then on
 * immutable: it may be read from any thread. Error colours change more often than the network does, so
 * they live in an overlay of their own, which is replaced as a whole. */

typedef struct _VnScene   VnScene;
typedef struct _VnOverlay VnOverlay;

typedef enum
{
  VN_SCENE_NODE,
  VN_SCENE_INPUT,     /* pill: graph input */
  VN_SCENE_OUTPUT,    /* pill: graph output */
  VN_SCENE_GROUP,     /* several nodes that are shown as one box */
  VN_SCENE_PAIR,      /* QuantizeLinear with its DequantizeLinear */
} VnSceneKind;

/**
 * VnScenePrecision: how a box is outlined.
 * @VN_PRECISION_NONE: nothing decided yet: plain line, no badge
 * @VN_PRECISION_8: thin line
 * @VN_PRECISION_WIDE: 16 and 32 bit integers: double line
 * @VN_PRECISION_HALF: 16 bit floats: dashes
 * @VN_PRECISION_FLOAT: float32: dots
 * @VN_PRECISION_4: dash and dot
 */
typedef enum
{
  VN_PRECISION_NONE,
  VN_PRECISION_8,
  VN_PRECISION_WIDE,
  VN_PRECISION_HALF,
  VN_PRECISION_FLOAT,
  VN_PRECISION_4,
} VnScenePrecision;

/**
 * VnSceneNode:
 * @id: unique in the scene: node label, or value name of a pill
 * @source: index of the node in the graph it came from (of the input or output, for pills; of the group)
 * @slim: one line instead of three
 * @differs: the precision is not what the preset alone would have given
 * @excluded: left in float on purpose: hatched, "not quantized"
 * @weighted: float weights enter it
 * @op: operator, first line
 * @detail: "3×3 depthwise", or NULL; of a pair its type, scale and zero point
 * @name: second line, or name of a pill
 * @scope: (nullable): a name that tells where the node belongs, of one that has no name itself
 * @shape: "1×576×20×20", or NULL
 * @badge: "U8", or NULL
 */
typedef struct
{
  char        *id;
  guint        source;
  VnSceneKind  kind;
  VnOpFamily   family;
  VnScenePrecision  precision;
  gboolean     slim, differs, excluded, weighted;
  char        *op, *detail, *name, *scope, *shape, *badge;
} VnSceneNode;

/**
 * VnSceneEdge:
 * @output: which output of @from
 * @input: which input of @to
 * @value: name of the tensor
 * @tooltip: more about it, or NULL
 * @is_float: not quantized: drawn in dashes
 * @changes: precision changes on the way: a diamond
 */
typedef struct
{
  guint    from, to;
  guint    output, input;
  char    *value, *tooltip;
  gboolean is_float, changes;
} VnSceneEdge;

#define VN_SCENE_NONE G_MAXUINT
#define VN_BADGE_UNKNOWN "?"   /* of an operator that cannot be run */

VnScene           *vn_scene_new            (void);
VnScene           *vn_scene_ref            (VnScene           *self);
void               vn_scene_unref          (VnScene           *self);
guint              vn_scene_add_node       (VnScene           *self,
                                            const VnSceneNode *node);
guint              vn_scene_add_edge       (VnScene           *self,
                                            const VnSceneEdge *edge);
void               vn_scene_add_stand_in   (VnScene           *self,
                                            guint              source,
                                            guint              box);
void               vn_scene_add_symbol     (VnScene           *self,
                                            const char        *letter,
                                            const char        *text);
guint              vn_scene_get_n_symbols  (const VnScene     *self);
const char        *vn_scene_get_symbol     (const VnScene     *self,
                                            guint              i,
                                            const char       **text);
void               vn_scene_seal           (VnScene           *self);

guint              vn_scene_get_n_nodes    (const VnScene     *self);
guint              vn_scene_get_n_edges    (const VnScene     *self);
const VnSceneNode *vn_scene_get_node       (const VnScene     *self,
                                            guint              i);
const VnSceneEdge *vn_scene_get_edge       (const VnScene     *self,
                                            guint              i);
guint              vn_scene_find_node      (const VnScene     *self,
                                            const char        *id);
guint              vn_scene_find_source    (const VnScene     *self,
                                            guint              source);
const guint       *vn_scene_get_in_edges   (const VnScene     *self,
                                            guint              node,
                                            guint             *n);
const guint       *vn_scene_get_out_edges  (const VnScene     *self,
                                            guint              node,
                                            guint             *n);
gboolean           vn_scene_same_geometry  (const VnScene     *a,
                                            const VnScene     *b);
gboolean           vn_scene_node_is_pill   (const VnSceneNode *node);
gboolean           vn_scene_node_is_of_model (const VnSceneNode *node);
void               vn_scene_node_get_size  (const VnSceneNode *node,
                                            double            *width,
                                            double            *height);

/* ---- overlay ---- */

typedef enum
{
  VN_OVERLAY_NONE,
  VN_OVERLAY_ERROR,      /* warm scale, ticks by band, bad ones ringed */
  VN_OVERLAY_AMOUNT,     /* blue scale, ticks by quartile, no ring */
  VN_OVERLAY_PRECISION,  /* no fill, badges at all zooms */
  VN_OVERLAY_KERNELS,    /* blue where a runtime computes in float, no ring */
  VN_OVERLAY_DIFFERENCE, /* violet where the error is less than in another run, orange where it is more, no ring */
  VN_OVERLAY_BITS,       /* blue, darker for more bits, with their number, no ring */
  VN_OVERLAY_NUMBER,     /* blue scale from the least to the largest, ticks by quartile, no ring */
} VnOverlayKind;

/* What the amounts of an overlay are. */
typedef enum { VN_AMOUNT_BYTES, VN_AMOUNT_SECONDS } VnAmountUnit;

/**
 * VnSceneMark: what is said of a node beside another network.
 */
typedef enum
{
  VN_MARK_NONE,
  VN_MARK_CHANGED,    /* another operator, other attributes or another precision */
  VN_MARK_ADDED,      /* only this network has it */
  VN_MARK_MISSING,    /* the other network lacks it */
} VnSceneMark;

/**
 * VnOverlayItem:
 * @t: place on the scale, 0 … 1; of a difference −1 … 1
 * @ticks: filled ticks, 0 … 4; for errors the band
 * @is_bad: beyond the handle "bad"
 * @is_nan: NaN or infinite
 * @is_origin: a good part of the error of the outputs starts here
 * @value: what is written, without unit
 * @mark: also of a node that was not measured
 * @band: which line of vn_overlay_kind_get_bands() it counts to; of errors set by vn_overlay_set()
 * @amount: size or time: what a closed group adds up; or the number
 */
typedef struct
{
  gboolean measured;
  float    t;
  guint    ticks;
  gboolean is_bad, is_nan, is_origin;
  char     value[16];
  VnSceneMark mark;
  guint    band;
  double   amount;
} VnOverlayItem;

/**
 * VnOverlayNote: what is said of a closed group beside the item of its worst node.
 * @worst: that node, in the whole scene; of amounts the one with the largest
 * @name: of that node
 * @n_origins: nodes in which a good part of the error starts
 * @items: of those of its nodes that are measured, in their order
 */
typedef struct
{
  guint                worst, n_origins, n_items;
  const char          *name;
  const VnOverlayItem *items;
} VnOverlayNote;

VnOverlay           *vn_overlay_new        (VnOverlayKind        kind,
                                            guint                n_nodes,
                                            const char          *unit);
VnOverlay           *vn_overlay_ref        (VnOverlay           *self);
void                 vn_overlay_unref      (VnOverlay           *self);
void                 vn_overlay_set        (VnOverlay           *self,
                                            guint                node,
                                            const VnOverlayItem *item);
VnOverlayKind        vn_overlay_get_kind   (const VnOverlay     *self);
guint                vn_overlay_get_n      (const VnOverlay     *self);
const char          *vn_overlay_get_unit   (const VnOverlay     *self);
const VnOverlayItem *vn_overlay_get        (const VnOverlay     *self,
                                            guint                node);
char                *vn_overlay_dup_value  (const VnOverlay     *self,
                                            guint                node);
void                 vn_overlay_set_note   (VnOverlay           *self,
                                            guint                node,
                                            const VnOverlayNote *note);
const VnOverlayNote *vn_overlay_get_note   (const VnOverlay     *self,
                                            guint                node);   /* nullable */
void                 vn_overlay_set_total  (VnOverlay           *self,
                                            VnAmountUnit         unit,
                                            double               total);
double               vn_overlay_get_total  (const VnOverlay     *self);
VnAmountUnit         vn_overlay_get_amount_unit (const VnOverlay *self);
void                 vn_overlay_rate_amount (const VnOverlay    *self,
                                            double               amount,
                                            VnOverlayItem       *item);
void                 vn_overlay_set_span   (VnOverlay           *self,
                                            double               least,
                                            double               largest);
void                 vn_overlay_get_span   (const VnOverlay     *self,
                                            double              *least,
                                            double              *largest);
void                 vn_overlay_rate_bits  (guint                bits,
                                            VnOverlayItem       *item);
void                 vn_overlay_rate_number (const VnOverlay    *self,
                                            double               number,
                                            VnOverlayItem       *item);
guint                vn_overlay_count_band (const VnOverlay     *self,
                                            guint                band);
void                 vn_overlay_count      (const VnOverlay     *self,
                                            guint               *fine,
                                            guint               *watch,
                                            guint               *bad);

/**
 * VnOverlayBand: a line of a legend's key: nodes that are much alike.
 * @title: N_()
 * @t, @ticks: how a sample of it is painted
 * @letters: (nullable): written in the sample in place of ticks
 */
typedef struct
{
  const char *title;
  double      t;
  guint       ticks;
  const char *letters;
} VnOverlayBand;

gboolean             vn_overlay_kind_rates_float (VnOverlayKind  kind);
const VnOverlayBand *vn_overlay_kind_get_bands (VnOverlayKind    kind,
                                                guint           *n);

char                *vn_amount_format       (VnAmountUnit        unit,
                                             double              amount);
double               vn_amount_t            (double              share);   /* of the whole, 0 to 1 */
double               vn_amount_share_at     (double              t);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnScene, vn_scene_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnOverlay, vn_overlay_unref)

G_END_DECLS
