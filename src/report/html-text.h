/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Text of a page of HTML. */

#include "vn-report-model.h"

G_BEGIN_DECLS

#define HTML_MOST_NAME  160u      /* characters of a cell; what is longer is shortened */
#define HTML_MOST_TEXT 1280u

/**
 * Html: a page that is being written.
 * @nodes: of node + 1: those that a picture before shows, so that text can lead to them
 */
typedef struct
{
  GString               *text;
  const VnReportSection *section;
  GHashTable            *nodes;
} Html;

void _vn_html_append         (Html                *self,
                              const char          *plain);
void _vn_html_append_name    (Html                *self,
                              const char          *plain);
void _vn_html_append_value   (Html                *self,
                              const VnReportValue *value,
                              guint                most);
void _vn_html_append_element (Html                *self,
                              const char          *opening,
                              const char          *plain,
                              const char          *closing);
void _vn_html_append_joined  (Html                *self,
                              VnReportJoin         join,
                              const VnReportValue *value);

G_END_DECLS
