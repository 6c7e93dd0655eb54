/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-curve.h"

void curve_fixture_add (VnCurve *curve,
                        double   predicted_db,
                        double   measured_db,
                        gsize    bytes,
                        guint    wide,
                        gboolean is_chosen);
