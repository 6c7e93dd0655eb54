/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph as it is shown, all of it, as PNG, SVG or PDF. What is drawn is shared with the view and never changes, so that a
 * thread can write it while the view goes on. */
#include "vn-graph-picture.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-graph-painter-private.h"
#include "vn-graph-view-private.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>

#define MARGIN        24.0
#define SHARPNESS      2.0     /* pixels of a unit, where that is not too many */
#define MOST_SIDE  16000.0     /* pixels */
#define MOST_PIXELS  48e6
#define MOST_POINTS 14000.0    /* of a page of PDF: readers know no larger ones */

struct _VnGraphPicture
{
  char          *form;
  VnScene       *scene;
  VnGraphLayout *layout;
  VnOverlay     *overlay;    /* nullable */
  VnGroups      *groups;     /* nullable */
  VnGraphTheme   theme;
  char          *font;
};

/**
 * vn_graph_picture_new:
 * @form: "png", "svg" or "pdf"
 * @dark: 0: light, 1: dark, negative: as @view is
 *
 * Returns: (transfer full) (nullable): what @view shows now: groups as they are folded, with their colours; %NULL: nothing is
 * shown
 */
VnGraphPicture *
vn_graph_picture_new (VnGraphView *view,
                      const char  *form,
                      int          dark)
{
  const VnGraphContent *content;
  VnGraphPicture *self;

  g_return_val_if_fail (VN_IS_GRAPH_VIEW (view) && form != NULL, NULL);

  content = view->parts.content;
  if (content->scene == NULL || content->layout == NULL)
    return NULL;
  self = g_new0 (VnGraphPicture, 1);
  self->form = g_strdup (form);
  self->scene = vn_scene_ref (content->scene);
  self->layout = vn_graph_layout_ref (content->layout);
  self->overlay = content->overlay != NULL ? vn_overlay_ref (content->overlay) : NULL;
  self->groups = content->groups != NULL ? vn_groups_ref (content->groups) : NULL;
  self->theme = view->parts.painter->theme;
  self->font = g_strdup (self->theme.font);
  if (dark >= 0)
    vn_graph_theme_init (&self->theme, dark > 0, FALSE);
  self->theme.font = self->font;
  return self;
}

void
vn_graph_picture_free (VnGraphPicture *self)
{
  if (self == NULL)
    return;
  vn_scene_unref (self->scene);
  vn_graph_layout_unref (self->layout);
  g_clear_pointer (&self->overlay, vn_overlay_unref);
  g_clear_pointer (&self->groups, vn_groups_unref);
  g_free (self->font);
  g_free (self->form);
  g_free (self);
}

static void
graph_picture_draw (const VnGraphPicture *self,
                    cairo_t              *cr,
                    double                zoom)
{
  const VnRect bounds = vn_graph_layout_get_bounds (self->layout);
  const VnGraphCamera camera = { zoom, { bounds.x - MARGIN, bounds.y - MARGIN } };
  g_autoptr(VnGraphIndex) index = vn_graph_index_new (self->layout);
  g_autoptr(VnGraphPainter) painter = vn_graph_painter_new ();

  vn_graph_painter_set_theme (painter, &self->theme);
  vn_graph_painter_set_content (painter, self->scene, self->layout, index);
  vn_graph_painter_set_groups (painter, self->groups);
  vn_graph_painter_set_overlay (painter, self->overlay);
  vn_graph_painter_draw (painter, cr, camera, (bounds.width + 2 * MARGIN) * zoom, (bounds.height + 2 * MARGIN) * zoom);
}

static cairo_status_t
graph_picture_take_bytes (void                *closure,
                          const unsigned char *data,
                          unsigned int         length)
{
  g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

/* Those of a large network are so many that boxes are drawn as from afar. */
static cairo_status_t
graph_picture_make_pixels (const VnGraphPicture  *self,
                           GByteArray            *bytes,
                           double                 width,
                           double                 height,
                           GError               **error)
{
  double zoom = MIN (SHARPNESS, MIN (MOST_SIDE / MAX (width, height), sqrt (MOST_PIXELS / (width * height))));
  cairo_surface_t *surface;
  cairo_status_t status;
  cairo_t *cr;

  if (!vn_memory_expect ((gsize) (width * zoom * height * zoom * 4) + ((gsize) 16 << 20), error))
    return CAIRO_STATUS_NO_MEMORY;
  surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, (int) ceil (width * zoom), (int) ceil (height * zoom));
  cr = cairo_create (surface);
  graph_picture_draw (self, cr, zoom);
  status = cairo_status (cr);
  cairo_destroy (cr);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream (surface, graph_picture_take_bytes, bytes);
  cairo_surface_destroy (surface);
  return status;
}

static cairo_status_t
graph_picture_make_lines (const VnGraphPicture *self,
                          GByteArray           *bytes,
                          double                width,
                          double                height)
{
  const gboolean is_pdf = g_str_equal (self->form, "pdf");
  const double scale = is_pdf ? MIN (1, MOST_POINTS / MAX (width, height)) : 1;
  cairo_surface_t *surface = is_pdf ? cairo_pdf_surface_create_for_stream (graph_picture_take_bytes, bytes, width * scale,
                                                                           height * scale)
                                    : cairo_svg_surface_create_for_stream (graph_picture_take_bytes, bytes, width, height);
  cairo_t *cr = cairo_create (surface);
  cairo_status_t status;

  if (is_pdf)
    cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATE_DATE, NULL);
  cairo_scale (cr, scale, scale);
  graph_picture_draw (self, cr, 1);
  status = cairo_status (cr);
  cairo_destroy (cr);
  cairo_surface_finish (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  return status;
}

/**
 * vn_graph_picture_write:
 * @path: of the file; what stands there is replaced only by a complete new one
 *
 * May run on any thread.
 *
 * Returns: %FALSE if it could not be drawn or written
 */
gboolean
vn_graph_picture_write (VnGraphPicture  *self,
                        const char      *path,
                        GCancellable    *cancellable,
                        GError         **error)
{
  VnRect bounds;
  double width, height;
  g_autoptr(GByteArray) bytes = g_byte_array_new ();
  g_autoptr(GError) reason = NULL;
  cairo_status_t status;

  g_return_val_if_fail (self != NULL && path != NULL, FALSE);

  bounds = vn_graph_layout_get_bounds (self->layout);
  width = bounds.width + 2 * MARGIN;
  height = bounds.height + 2 * MARGIN;
  status = g_str_equal (self->form, "png") ? graph_picture_make_pixels (self, bytes, width, height, &reason)
                                           : graph_picture_make_lines (self, bytes, width, height);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (reason != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  if (status != CAIRO_STATUS_SUCCESS)
    {
      g_set_error (error, VN_ERROR, status == CAIRO_STATUS_NO_MEMORY ? VN_ERROR_MEMORY : VN_ERROR_LIMIT,
                   _("The graph cannot be drawn, %.0f by %.0f units large: %s. Collapse groups to make it smaller."), width,
                   height,
                   cairo_status_to_string (status));
      return FALSE;
    }
  return vn_file_write_all (path, (const char *) bytes->data, bytes->len, error);
}
