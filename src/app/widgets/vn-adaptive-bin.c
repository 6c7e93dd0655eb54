/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A place for a child that takes another form when it gets narrow: it tells of each new width once nothing is being allocated. */
#include "vn-adaptive-bin.h"

struct _VnAdaptiveBin
{
  GtkWidget  parent_instance;

  GtkWidget *child;        /* (nullable) */
  GtkWidget *box;          /* (nullable): borrowed, in @child */
  int        min_width, break_at, width;
  gboolean   narrow;
  guint      tick;
};

enum { PROP_0, PROP_CHILD, PROP_BOX, PROP_MIN_WIDTH, PROP_BREAK_AT, PROP_NARROW, N_PROPS };

static GParamSpec *properties[N_PROPS];
static guint signal_resized;

static void adaptive_bin_init_buildable (GtkBuildableIface *interface);

G_DEFINE_FINAL_TYPE_WITH_CODE (VnAdaptiveBin, vn_adaptive_bin, GTK_TYPE_WIDGET,
                               G_IMPLEMENT_INTERFACE (GTK_TYPE_BUILDABLE, adaptive_bin_init_buildable))

static void
adaptive_bin_init_buildable (GtkBuildableIface *interface)
{
}

static gboolean
adaptive_bin_notify (GtkWidget     *widget,
                     GdkFrameClock *clock,
                     gpointer       data)
{
  VnAdaptiveBin *self = VN_ADAPTIVE_BIN (widget);
  gboolean narrow = self->width < self->break_at;

  self->tick = 0;
  if (narrow != self->narrow)
    {
      self->narrow = narrow;
      if (self->box != NULL)
        gtk_orientable_set_orientation (GTK_ORIENTABLE (self->box), narrow
                                        ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
      g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_NARROW]);
    }
  g_signal_emit (self, signal_resized, 0, self->width);
  return G_SOURCE_REMOVE;
}

/* Without this a widget is asked for the height that it would have at its natural width. */
static GtkSizeRequestMode
vn_adaptive_bin_get_request_mode (GtkWidget *widget)
{
  VnAdaptiveBin *self = VN_ADAPTIVE_BIN (widget);

  return self->child != NULL ? gtk_widget_get_request_mode (self->child) : GTK_SIZE_REQUEST_CONSTANT_SIZE;
}

static void
vn_adaptive_bin_measure (GtkWidget      *widget,
                         GtkOrientation  orientation,
                         int             for_size,
                         int            *minimum,
                         int            *natural,
                         int            *minimum_baseline,
                         int            *natural_baseline)
{
  VnAdaptiveBin *self = VN_ADAPTIVE_BIN (widget);
  int needed = 0;

  *minimum = *natural = 0;
  if (self->child == NULL)
    return;
  gtk_widget_measure (self->child, GTK_ORIENTATION_HORIZONTAL, -1, &needed, NULL, NULL, NULL);
  if (orientation == GTK_ORIENTATION_VERTICAL)
    gtk_widget_measure (self->child, orientation, for_size < 0 ? -1 : MAX (for_size, needed), minimum, natural, NULL, NULL);
  else
    {
      gtk_widget_measure (self->child, orientation, -1, minimum, natural, NULL, NULL);
      *minimum = MIN (*minimum, self->min_width);
    }
}

static void
vn_adaptive_bin_size_allocate (GtkWidget *widget,
                               int        width,
                               int        height,
                               int        baseline)
{
  VnAdaptiveBin *self = VN_ADAPTIVE_BIN (widget);
  int needed_width = 0, needed_height = 0;

  if (self->child == NULL)
    return;
  gtk_widget_measure (self->child, GTK_ORIENTATION_HORIZONTAL, -1, &needed_width, NULL, NULL, NULL);
  needed_width = MAX (needed_width, width);
  gtk_widget_measure (self->child, GTK_ORIENTATION_VERTICAL, needed_width, &needed_height, NULL, NULL, NULL);
  gtk_widget_allocate (self->child, needed_width, MAX (needed_height, height), baseline, NULL);
  if (width != self->width && self->tick == 0)
    self->tick = gtk_widget_add_tick_callback (widget, adaptive_bin_notify, NULL, NULL);
  self->width = width;
}

static void
vn_adaptive_bin_get_property (GObject    *object,
                              guint       id,
                              GValue     *value,
                              GParamSpec *pspec)
{
  VnAdaptiveBin *self = VN_ADAPTIVE_BIN (object);

  switch (id)
    {
    case PROP_CHILD:
      g_value_set_object (value, self->child);
      break;
    case PROP_BOX:
      g_value_set_object (value, self->box);
      break;
    case PROP_MIN_WIDTH:
      g_value_set_int (value, self->min_width);
      break;
    case PROP_BREAK_AT:
      g_value_set_int (value, self->break_at);
      break;
    case PROP_NARROW:
      g_value_set_boolean (value, self->narrow);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
vn_adaptive_bin_set_property (GObject      *object,
                              guint         id,
                              const GValue *value,
                              GParamSpec   *pspec)
{
  VnAdaptiveBin *self = VN_ADAPTIVE_BIN (object);

  switch (id)
    {
    case PROP_CHILD:
      g_clear_pointer (&self->child, gtk_widget_unparent);
      self->child = g_value_get_object (value);
      if (self->child != NULL)
        gtk_widget_set_parent (self->child, GTK_WIDGET (self));
      break;
    case PROP_BOX:
      self->box = g_value_get_object (value);
      break;
    case PROP_MIN_WIDTH:
      self->min_width = g_value_get_int (value);
      break;
    case PROP_BREAK_AT:
      self->break_at = g_value_get_int (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

/**
 * vn_adaptive_bin_insert:
 * @parent: a widget with a child
 * @property: the name of the property that holds it
 * @min_width: in pixels
 * @break_at: in pixels
 *
 * Puts a bin between @parent and its child.
 *
 * Returns: (transfer none): that bin
 */
VnAdaptiveBin *
vn_adaptive_bin_insert (GtkWidget  *parent,
                        const char *property,
                        int         min_width,
                        int         break_at)
{
  g_autoptr(GtkWidget) child = NULL;
  VnAdaptiveBin *self;

  g_return_val_if_fail (GTK_IS_WIDGET (parent) && property != NULL, NULL);

  g_object_get (parent, property, &child, NULL);
  g_object_set (parent, property, NULL, NULL);
  self = g_object_new (VN_TYPE_ADAPTIVE_BIN, "child", child, "min-width", min_width, "break-at", break_at, NULL);
  g_object_set (parent, property, self, NULL);
  return self;
}

/**
 * vn_adaptive_bin_is_narrow:
 *
 * Returns: whether it has less than its #VnAdaptiveBin:break-at
 */
gboolean
vn_adaptive_bin_is_narrow (VnAdaptiveBin *self)
{
  g_return_val_if_fail (VN_IS_ADAPTIVE_BIN (self), FALSE);

  return self->narrow;
}

static void
vn_adaptive_bin_dispose (GObject *object)
{
  VnAdaptiveBin *self = VN_ADAPTIVE_BIN (object);

  if (self->tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->tick);
  self->tick = 0;
  g_clear_pointer (&self->child, gtk_widget_unparent);
  G_OBJECT_CLASS (vn_adaptive_bin_parent_class)->dispose (object);
}

static void
vn_adaptive_bin_class_init (VnAdaptiveBinClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = vn_adaptive_bin_dispose;
  object_class->get_property = vn_adaptive_bin_get_property;
  object_class->set_property = vn_adaptive_bin_set_property;
  widget_class->get_request_mode = vn_adaptive_bin_get_request_mode;
  widget_class->measure = vn_adaptive_bin_measure;
  widget_class->size_allocate = vn_adaptive_bin_size_allocate;
  properties[PROP_CHILD] = g_param_spec_object ("child", NULL, NULL, GTK_TYPE_WIDGET, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  properties[PROP_BOX] = g_param_spec_object ("box", NULL, NULL, GTK_TYPE_ORIENTABLE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  properties[PROP_MIN_WIDTH] = g_param_spec_int ("min-width", NULL, NULL, 0, G_MAXINT, 0,
                                                 G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  properties[PROP_BREAK_AT] = g_param_spec_int ("break-at", NULL, NULL, 0, G_MAXINT, 0,
                                                G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  properties[PROP_NARROW] = g_param_spec_boolean ("narrow", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  signal_resized = g_signal_new ("resized", VN_TYPE_ADAPTIVE_BIN, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                                 G_TYPE_INT);
}

static void
vn_adaptive_bin_init (VnAdaptiveBin *self)
{
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
}
