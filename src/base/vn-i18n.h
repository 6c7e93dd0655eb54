/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Translation of messages: gettext, for the core as well as for the two programs. */

#include <glib/gi18n-lib.h>
