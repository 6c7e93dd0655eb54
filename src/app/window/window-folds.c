/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the window does with its width: side panels beside the canvas while there is room, over it on demand where there is not,
 * and a header bar that keeps only what is needed. */
#include "vn-window-private.h"

#include "vn-button-names.h"
#include "vn-i18n.h"
#include "vn-rows.h"

#define MIN_WIDTH 590         /* and the edges of the window */
#define FOLD_INSPECTOR 1100   /* up to this width the canvas needs the place itself */
#define FOLD_OUTLINE 860
#define SHORT_HEADER 760      /* below, the header bar has no room for words */
#define ROOM_FOR_BOTH 860     /* below, two panels that are folded would cover all there is */

static gboolean
window_folds_is_folded (AdwFlap *flap)
{
  return adw_flap_get_fold_policy (flap) == ADW_FLAP_FOLD_POLICY_ALWAYS;
}

/* What the user has chosen for the page counts while there is room; a panel that is folded waits until it is asked for. */
static void
window_folds_set_folded (VnWindow *self,
                         AdwFlap  *flap,
                         gboolean  folded)
{
  gboolean *chosen = &self->panels[self->page][flap == self->right_flap];

  if (window_folds_is_folded (flap) == folded)
    return;
  if (folded)
    *chosen = adw_flap_get_reveal_flap (flap);
  adw_flap_set_fold_policy (flap, folded ? ADW_FLAP_FOLD_POLICY_ALWAYS : ADW_FLAP_FOLD_POLICY_NEVER);
  adw_flap_set_reveal_flap (flap, folded ? FALSE : *chosen);
}

/* How the header bar looks while the switch of pages has room in it, the roomiest first. */
static const struct { gboolean is_centered, has_words, has_undo; } window_headers[] = {
  { TRUE, TRUE, TRUE },
  { FALSE, TRUE, TRUE },
  { FALSE, FALSE, TRUE },
  { FALSE, FALSE, FALSE },
};

static void
window_folds_set_words (VnWindow *self,
                        gboolean  has_words)
{
  if (has_words == (adw_split_button_get_icon_name (self->open_button) == NULL))
    return;
  if (!has_words)
    {
      adw_split_button_set_icon_name (self->open_button, "document-open-symbolic");
      gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (self->export_button), "document-save-symbolic");
    }
  else
    {
      adw_split_button_set_label (self->open_button, _("_Open"));
      gtk_menu_button_set_label (GTK_MENU_BUTTON (self->export_button), _("_Export…"));
    }
  vn_button_names_set (GTK_WIDGET (self->header));
}

static void
window_folds_set_header (VnWindow *self,
                         gboolean  is_centered,
                         gboolean  has_words,
                         gboolean  has_undo)
{
  adw_header_bar_set_centering_policy (self->header, is_centered ? ADW_CENTERING_POLICY_STRICT : ADW_CENTERING_POLICY_LOOSE);
  window_folds_set_words (self, has_words);
  gtk_widget_set_visible (self->undo_button, has_undo);
  gtk_widget_set_visible (self->redo_button, has_undo);
  gtk_widget_set_visible (GTK_WIDGET (self->main_spinner), has_undo);
}

static int
window_folds_get_natural_width (GtkWidget *widget)
{
  int natural = 0;

  if (widget != NULL)
    gtk_widget_measure (widget, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &natural, NULL, NULL);
  return natural;
}

static GtkWidget *
window_folds_find (GtkWidget *widget,
                   GType      type)
{
  GtkWidget *found = g_type_is_a (G_OBJECT_TYPE (widget), type) ? widget : NULL;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL &&
       found == NULL; child = gtk_widget_get_next_sibling (child))
    found = window_folds_find (child, type);
  return found;
}

/* What the bar needs with the switch of pages in it; the title that stands there otherwise may be longer, and need not be
 * whole. */
static int
window_folds_get_header_width (VnWindow *self)
{
  GtkWidget *title = GTK_WIDGET (self->switcher), *pages = window_folds_find (title, ADW_TYPE_VIEW_SWITCHER);

  return window_folds_get_natural_width (GTK_WIDGET (self->header)) - window_folds_get_natural_width (title) +
         window_folds_get_natural_width (pages);
}

static void
window_folds_update_header (VnWindow *self,
                            int       width)
{
  gboolean is_short = width < SHORT_HEADER;
  int least = 0;

  vn_button_let_shrink (GTK_BUTTON (self->quantize_button), FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (window_headers) && !is_short; i++)
    {
      window_folds_set_header (self, window_headers[i].is_centered, window_headers[i].has_words, window_headers[i].has_undo);
      if (window_folds_get_header_width (self) <= width)
        return;
    }
  window_folds_set_header (self, FALSE, !is_short, !is_short);   /* and the switch is at the foot */
  gtk_widget_measure (GTK_WIDGET (self->header), GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
  vn_button_let_shrink (GTK_BUTTON (self->quantize_button), least > width);
}

static void
window_folds_resized (VnWindow *self,
                      int       width)
{
  window_folds_set_folded (self, self->right_flap, width <= FOLD_INSPECTOR);
  window_folds_set_folded (self, self->left_flap, width <= FOLD_OUTLINE);
  window_folds_update_header (self, width);
}

static gboolean
window_folds_update_foot (GtkWidget     *widget,
                          GdkFrameClock *clock,
                          gpointer       data)
{
  VnWindow *self = data;

  self->foot_tick = 0;
  adw_view_switcher_bar_set_reveal (ADW_VIEW_SWITCHER_BAR (self->switcher_bar),
                                    adw_view_switcher_title_get_title_visible (self->switcher));
  return G_SOURCE_REMOVE;
}

/* This is known while the window is given its size, and a bar that comes up right then is given none. */
static void
window_folds_title_changed (VnWindow *self)
{
  if (self->foot_tick == 0)
    self->foot_tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), window_folds_update_foot, self, NULL);
}

/* What is selected opens the inspector over the canvas, and nothing any more closes it. */
static void
window_folds_selection_changed (VnWindow *self)
{
  if (window_folds_is_folded (self->right_flap) && self->panels[self->page][1])
    adw_flap_set_reveal_flap (self->right_flap, !gtk_bitset_is_empty (vn_document_get_selection (self->document)));
}

/* One at a time, where both would leave nothing to see. */
static void
window_folds_revealed (VnWindow   *self,
                       GParamSpec *pspec,
                       AdwFlap    *flap)
{
  AdwFlap *other = flap == self->left_flap ? self->right_flap : self->left_flap;

  if (adw_flap_get_reveal_flap (flap) && window_folds_is_folded (flap) && window_folds_is_folded (other) &&
      gtk_widget_get_width (GTK_WIDGET (self->adaptive)) < ROOM_FOR_BOTH)
    adw_flap_set_reveal_flap (other, FALSE);
}

/* Before anybody else gets it, but after popovers. */
static gboolean
window_folds_pressed (VnWindow        *self,
                      guint            keyval,
                      guint            keycode,
                      GdkModifierType  state)
{
  AdwFlap *flaps[] = { self->right_flap, self->left_flap };
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (self));

  if (keyval != GDK_KEY_Escape || g_strcmp0 (gtk_stack_get_visible_child_name (self->pages), "main") != 0 ||
      (focus != NULL && gtk_widget_get_ancestor (focus, GTK_TYPE_POPOVER) != NULL))
    return GDK_EVENT_PROPAGATE;
  for (guint i = 0; i < G_N_ELEMENTS (flaps); i++)
    if (window_folds_is_folded (flaps[i]) && adw_flap_get_reveal_flap (flaps[i]))
      {
        adw_flap_set_reveal_flap (flaps[i], FALSE);
        gtk_widget_child_focus (GTK_WIDGET (self->views), GTK_DIR_TAB_FORWARD);
        return GDK_EVENT_STOP;
      }
  return GDK_EVENT_PROPAGATE;
}

/**
 * vn_window_set_panels:
 * @page: the page that is shown from now on
 *
 * Each page remembers which of the side panels it shows.
 */
void
vn_window_set_panels (VnWindow *self,
                      guint     page)
{
  AdwFlap *flaps[] = { self->left_flap, self->right_flap };

  for (guint i = 0; i < G_N_ELEMENTS (flaps); i++)
    {
      gboolean folded = window_folds_is_folded (flaps[i]);

      if (!folded)
        self->panels[self->page][i] = adw_flap_get_reveal_flap (flaps[i]);
      adw_flap_set_reveal_flap (flaps[i], !folded && self->panels[page][i]);
    }
  self->page = page;
}

/**
 * vn_window_show_outline:
 *
 * Opens the panel that holds it.
 */
void
vn_window_show_outline (VnWindow *self)
{
  adw_flap_set_reveal_flap (self->left_flap, TRUE);
  gtk_stack_set_visible_child_name (self->side_stack, "outline");
}

/* A panel that slides before it has had a size starts at 0 pixels a second by 0 pixels, which is not a number, and neither is the
 * width that AdwFlap then gives to what lies beside it. So the first size is given here, while nothing is shown. */
static void
window_folds_give_size (VnWindow *self)
{
  GtkWidget *outer = GTK_WIDGET (self->left_flap);   /* the other one is in it */
  int width, height;

  gtk_widget_measure (outer, GTK_ORIENTATION_HORIZONTAL, -1, &width, NULL, NULL, NULL);
  gtk_widget_measure (outer, GTK_ORIENTATION_VERTICAL, width, &height, NULL, NULL, NULL);
  gtk_widget_allocate (outer, width, height, -1, NULL);
}

/**
 * vn_window_show_recipe:
 *
 * Opens the panel with rules and runs.
 */
void
vn_window_show_recipe (VnWindow *self)
{
  adw_flap_set_reveal_flap (self->left_flap, TRUE);
  gtk_stack_set_visible_child_name (self->side_stack, "recipe");
}

/**
 * vn_window_insert_bin:
 *
 * Puts what watches the width of the window into it. To be called before its content is filled: moving that takes time.
 */
void
vn_window_insert_bin (VnWindow *self)
{
  self->adaptive = vn_adaptive_bin_insert (GTK_WIDGET (self), "content", MIN_WIDTH, 0);
}

/**
 * vn_window_init_folds:
 *
 * Has the window follow its width.
 */
void
vn_window_init_folds (VnWindow *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();

  window_folds_give_size (self);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (window_folds_pressed), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  g_signal_connect_object (self->switcher, "notify::title-visible", G_CALLBACK (window_folds_title_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_swapped (self->adaptive, "resized", G_CALLBACK (window_folds_resized), self);
  g_signal_connect_swapped (self->left_flap, "notify::reveal-flap", G_CALLBACK (window_folds_revealed), self);
  g_signal_connect_swapped (self->right_flap, "notify::reveal-flap", G_CALLBACK (window_folds_revealed), self);
  g_signal_connect_object (self->document, "selection-changed", G_CALLBACK (window_folds_selection_changed), self,
                           G_CONNECT_SWAPPED);
}
