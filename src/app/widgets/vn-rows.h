/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* Small parts that several pages are built from. */

/**
 * VnWidgetFunc: does something for @self.
 */
typedef void (*VnWidgetFunc) (GtkWidget *self);

void       vn_widget_call_soon (GtkWidget    *self,
                                VnWidgetFunc  func);
void       vn_spin_button_name_lowest (GtkSpinButton *self,
                                       const char    *word);
void       vn_row_list_add_rest (GtkWidget *list,
                                guint       n);
GtkWidget *vn_row_new          (const char *title,
                                const char *value);
GtkWidget *vn_row_new_wide     (const char *title,
                                const char *value);
GtkWidget *vn_row_list_new     (void);
GtkWidget *vn_section_new      (const char *title,
                                const char *note,
                                GtkWidget  *content);
GtkWidget *vn_label_new        (const char *text,
                                const char *css_class);
GtkRevealer *vn_foot_set_content (AdwBin *self,
                                  GtkWidget *content);
void       vn_button_let_shrink (GtkButton *button,
                                 gboolean   shrinks);
void       vn_box_clear        (GtkWidget  *box);
void       vn_list_box_clear   (GtkListBox *list);
void       vn_combo_row_show_whole (AdwComboRow *row);
GtkWidget *vn_figure_new       (const char *value,
                                const char *caption);

G_END_DECLS
