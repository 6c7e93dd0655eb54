/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of a command in groups, and what --help prints about them. */
#pragma once

#include "vn-cmd.h"
#include "vn-setting.h"

G_BEGIN_DECLS

/**
 * VnCmdOption: an option of a command.
 * @entry: as GOption takes it
 * @setting: (nullable): the setting of the recipe that it sets
 * @help: what it does, with what may stand there; translated
 */
typedef struct
{
  const GOptionEntry *entry;
  const VnSetting    *setting;
  VnCmdGroup          group;
  char               *help;
} VnCmdOption;

void        vn_cmd_set_all       (const VnCmd * const *cmds,
                                  guint                n);
const VnCmd * const *vn_cmd_get_all (guint            *n);
GArray     *vn_cmd_list_options  (const VnCmd         *self);    /* of VnCmdOption */
gboolean    vn_cmd_is_common     (const VnCmd         *self,
                                  const char          *name);
const char *vn_cmd_group_get_title (VnCmdGroup         group);    /* translated */
char       *vn_cmd_dup_usage     (const VnCmd         *self);
char       *vn_cmd_dup_help      (const VnCmd         *self,
                                  gboolean             all);

gboolean    vn_cmd_accept_foreign_words (GArray       *options,
                                         char       ***args,
                                         GError      **error);
gboolean    vn_cmd_add_overrides (GPtrArray           *args,
                                  JsonObject          *overrides,
                                  GError             **error);
void        vn_cmd_hint_at_option (GArray             *options,
                                   const char * const *args,
                                   GError            **error);
char       *vn_cmd_dup_command_hint (const char       *name);

/* “-” in place of a file (vn-cmd-standard.c) */
gboolean    vn_cmd_take_standard_streams (const VnCmd *cmd,
                                          GArray      *options,
                                          char       **args,
                                          GError     **error);
void        vn_cmd_remove_standard_files (void);
gboolean    vn_cmd_write_standard_output (GError     **error);

/* Text of at most this many columns. */
#define VN_CMD_COLUMNS 100

void        vn_cmd_append_wrapped (GString            *text,
                                   const char         *words,
                                   guint               column,
                                   guint               indent);
void        vn_cmd_append_item   (GString             *text,
                                  const char          *left,
                                  const char          *right,
                                  guint                width);

G_END_DECLS
