/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The style sheet of reports in HTML: for light and dark screens, and for paper. */
#include "html-style.h"

#include "vn-pen.h"

static const char light[] = ":root{--ink:#1b1b1b;--dim:#5c5c5c;--page:#fff;--card:#f6f5f4;--line:#d9d8d6;"
                            "--bad:#a51d2d;--good:#1a7336;--watch:#8f5200;--accent:#1c71d8}\n";
static const char dark[] = ":root{--ink:#f0f0f0;--dim:#a9a9a9;--page:#1e1e1e;--card:#2b2b2b;--line:#454545;"
                           "--bad:#ff9a8d;--good:#7fd894;--watch:#ffc46b;--accent:#78aeed}\n";

static const char rules[] =
  "*{box-sizing:border-box}\n"
  "html{background:var(--page)}\n"
  "body{margin:0 auto;padding:20px 24px 48px;max-width:1120px;background:var(--page);color:var(--ink);"
  "font:14px/1.45 Cantarell,system-ui,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
  "header{display:flex;align-items:center;gap:4px 16px;border-bottom:2px solid var(--ink);padding-bottom:8px}\n"
  "header .title{flex:1}header .made{text-align:right;font-size:12.5px;white-space:nowrap}\n"
  "h1{font-size:22px;line-height:1.2;margin:0}\n"
  "h2{font-size:16px;margin:26px 0 8px}\n"
  "h3{font-size:14px;margin:16px 0 4px}\n"
  "p{margin:4px 0 8px;max-width:90ch}\n"
  ".dim{color:var(--dim)}\n"
  ".verdict{margin-top:14px}\n"
  ".verdict h2{font-size:19px;margin:0 0 2px}\n"
  ".verdict .good{color:var(--good)}.verdict .watch{color:var(--watch)}.verdict .bad{color:var(--bad)}\n"
  ".note{border-left:4px solid var(--watch);padding:2px 0 2px 10px;margin:10px 0}\n"
  ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:4px "
  "18px;background:var(--card);border-radius:10px;"
  "padding:12px 18px;margin:14px 0}\n"
  ".cards b{display:block;font-size:18px}\n"
  ".glance{display:grid;grid-template-columns:repeat(auto-fit,minmax(300px,1fr));gap:0 28px}\n"
  ".glance h2{margin:6px 0 4px}\n"
  ".glance ul,.notes{list-style:none;margin:0;padding:0}\n"
  ".glance li{border-top:1px solid var(--line);padding:4px 0;display:flex;gap:10px}\n"
  ".glance li>b{flex:0 0 5.5em;white-space:nowrap}\n"
  ".name,td,li,dd{overflow-wrap:break-word;unicode-bidi:isolate}\n"
  "table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}\n"
  "th,td{text-align:left;vertical-align:top;padding:3px 10px 3px 0;border-bottom:1px solid var(--line)}\n"
  "th{font-weight:600;white-space:nowrap}\n"
  "td{min-width:4em}\n"
  "th.n,td.n{text-align:right;white-space:nowrap}\n"
  "td.mark,th.mark{min-width:0}\n"
  "td.bad,b.bad{color:var(--bad);font-weight:600}\n"
  ".wide{overflow-x:auto}\n"
  "details{margin:6px 0}summary{cursor:pointer;color:var(--accent)}\n"
  "pre{background:var(--card);border-radius:8px;padding:10px 14px;white-space:pre-wrap;overflow-wrap:anywhere;font-size:12.5px}\n"
  "figure{margin:8px 0 14px}figcaption{font-size:12.5px;color:var(--dim);overflow-wrap:anywhere}\n"
  "figure svg{display:block;width:100%;height:auto}\n"
  "svg text{font-family:Cantarell,system-ui,\"DejaVu Sans\",sans-serif}\n"
  "svg g:hover>rect,svg g:hover>circle{stroke-width:2.4}\n"
  "svg.sign{vertical-align:-3px}figure svg.sign{width:auto}td a{color:inherit;text-decoration-color:var(--line)}\n"
  "g:target>rect{stroke-width:3}\n"
  ".beside{display:grid;grid-template-columns:repeat(auto-fit,minmax(300px,1fr));gap:0 32px}.beside>figure{grid-column:span 2}\n"
  ".column h3{margin-top:8px}.column table{width:100%}\n"
  ".grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(310px,1fr));gap:4px 24px}\n"
  ".grid h3{margin:6px 0 2px}\n"
  "footer{margin-top:32px;border-top:1px solid var(--line);padding-top:8px;color:var(--dim);font-size:12.5px}\n";

static const char paper[] =
  "@media print{@page{size:A4;margin:14mm}html,body{background:#fff}body{padding:0;max-width:none;font-size:9.5pt}"
  ".wide{overflow:visible}table{font-size:7pt}th,td{padding-right:5px}h2{break-after:avoid}figure,tr,.cards,.glance "
  "li{break-inside:avoid}"
  "th,th.n{white-space:normal}td{min-width:0}.cards{grid-template-columns:repeat(4,1fr)}.glance{display:block;columns:2}.glance "
  "section{break-inside:avoid}pre{font-size:8pt;border:1px solid #ccc}summary{color:inherit}"
  "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n";

/*< private >
 * _vn_html_append_style:
 *
 * Appends the element "style".
 */
void
_vn_html_append_style (GString *text)
{
  g_string_append (text, "<style>\n");
  g_string_append (text, light);
  g_string_append (text, rules);
  vn_pen_append_css (text, FALSE);
  g_string_append (text, "@media screen and (prefers-color-scheme:dark){\n");
  g_string_append (text, dark);
  vn_pen_append_css (text, TRUE);
  g_string_append (text, "}\n");
  g_string_append (text, paper);
  g_string_append (text, "</style>\n");
}
