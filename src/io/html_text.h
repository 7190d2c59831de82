/* html_text.h: words of others inside a page: nothing in them can end a string, an element or a script. */
#ifndef DRAPE_IO_HTML_TEXT_H
#define DRAPE_IO_HTML_TEXT_H

#include "base/file.h"

/* As text of an element, < > & " ' as entities. Bytes that are no UTF-8 become U+FFFD. */
void drape_i_html_text(drape_i_file *file, const char *words);
/* As a string of JSON with its quotes, which may stand in a script element: < > & are written \u003c and so on. */
void drape_i_html_json(drape_i_file *file, const char *words);

#endif
