/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"
#include "vn-rule-gains.h"
#include "vn-rule-groups.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnRuleRow: a rule in the list of rules: its name, what it says and gained, a switch, a menu, a grip.
 *
 * Signal command (const char *): what is to be done with the rule: "rename", "up", "down", "show", "toggle", "delete"; "light":
 * the keyboard is on it.
 */
#define VN_TYPE_RULE_ROW (vn_rule_row_get_type ())
G_DECLARE_FINAL_TYPE (VnRuleRow, vn_rule_row, VN, RULE_ROW, AdwActionRow)

GtkWidget *vn_rule_row_new    (VnDocument        *document,
                               const VnRuleGroup *group,
                               guint              at,
                               guint              n_rows,
                               const VnRuleGain  *gain);     /* nullable */
guint      vn_rule_row_get_at (VnRuleRow         *self);

G_END_DECLS
