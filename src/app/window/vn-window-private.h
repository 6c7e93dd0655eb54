/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the window share: its structure, and its parts, which call what is here and are called by their table. */

#include "vn-window.h"

#include "vn-adaptive-bin.h"
#include "vn-changed-bar.h"
#include "vn-empty-page.h"
#include "vn-inspector.h"
#include "vn-expected-bar.h"
#include "vn-job-bar.h"
#include "vn-outline.h"
#include "vn-page.h"
#include "vn-recipe-panel.h"
#include "vn-toasts.h"
#include "vn-wizard.h"

G_BEGIN_DECLS

enum
{
#define VN_PAGE(id, ...) VN_WINDOW_PAGE_##id,
#include "vn-pages.def"
#undef VN_PAGE
  VN_WINDOW_N_PAGES
};

struct _VnWindow
{
  AdwApplicationWindow parent_instance;

  GMenu          *colors_menu;

  VnDocument      *document;
  guint            spinner_timeout, draft_source;
  VnToasts        *toast;           /* speaks through @toasts */
  VnPage          *view_pages[VN_WINDOW_N_PAGES];   /* borrowed from @views */
  gboolean         panels[VN_WINDOW_N_PAGES][2];    /* by page: outline, inspector, where there is room for them */
  guint            page;                            /* index into both */

  GtkStack        *pages;
  AdwToastOverlay *toasts;
  AdwViewStack    *views;
  AdwFlap         *left_flap, *right_flap;
  VnEmptyPage     *empty;
  VnOutline       *outline;
  VnRecipePanel   *recipe_panel;
  GtkStack        *side_stack;      /* outline or recipe */
  GtkStackPage    *recipe_page;
  VnInspector     *inspector;
  VnWizard        *wizard;
  gboolean         has_painted;   /* once */
  VnChangedBar    *changed_bar;
  VnExpectedBar   *expected_bar;
  VnJobBar        *job_bar;
  AdwSplitButton  *open_button;
  GtkWidget       *quantize_button, *export_button, *undo_button, *redo_button;
  AdwHeaderBar    *header;
  GtkWidget       *switcher_bar;
  GMenu           *page_items;      /* of the menu: a line for each page */
  AdwViewSwitcherTitle *switcher;
  guint            foot_tick;       /* tells the bar at the foot whether the switch is there */
  VnAdaptiveBin   *adaptive;
  GtkSpinner      *empty_spinner, *main_spinner;
  GtkRevealer     *drop_revealer;
  GtkLabel        *drop_label;
  GtkWidget       *around_button;
  GtkLabel        *around_label;

  VnWindow        *around;          /* of the model whose body this is; NULL: of none, or it is closed */
  VnModel         *around_model;    /* nullable: that model, with @around_node */
  VnModel         *around_body;     /* nullable: what it runs, as it is shown here */
  const VnNode    *around_node;
  char            *around_attr;
};

/**
 * VnWindowPart: something that the window can do.
 * @install: (nullable): adds its actions to the class
 * @init: (nullable): once the window has its pages and its document
 * @update: (nullable): lets only those of its actions be used that can do something now
 */
typedef struct
{
  void (*install) (GtkWidgetClass *klass);
  void (*init)    (VnWindow       *self);
  void (*update)  (VnWindow       *self);
} VnWindowPart;

#define VN_WINDOW_PART(id) extern const VnWindowPart vn_window_part_##id;
#include "vn-window-parts.def"
#undef VN_WINDOW_PART

void vn_window_insert_bin       (VnWindow *self);       /* window-folds.c */
void vn_window_init_folds       (VnWindow *self);
void vn_window_set_panels       (VnWindow *self,
                                 guint     page);
void vn_window_show_outline     (VnWindow *self);
void vn_window_show_recipe      (VnWindow *self);
void vn_window_reveal_selection (VnWindow *self);       /* vn-window.c */

G_END_DECLS
