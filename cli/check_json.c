/* check_json.c: findings for machines, printed as they come; the counts stand behind them. */
#include "check.h"

/* ---- texts ---- */

/* Bytes of the character that begins here; 0 where it is no UTF-8. Long ways to write short ones pass: who reads them
 * decides. */
static size_t character(const unsigned char *c) {
    size_t size = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < size; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    return size;
}

/* In quotes; names of files may hold anything, and what is no text becomes question marks. */
static void print_text(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    putchar('"');
    while (*c) {
        size_t size = character(c);
        if (*c == '"' || *c == '\\') printf("\\%c", *c);
        else if (*c < ' ') printf("\\u%04x", *c);
        else if (size) fwrite(c, 1, size, stdout);
        else putchar('?');
        c += size ? size : 1;
    }
    putchar('"');
}

static void text_or_null(const char *key, const char *text) {
    printf("\"%s\": ", key);
    if (text) print_text(text);
    else printf("null");
}

static void place_or_null(const char *key, int32_t number) {
    if (number > 0) printf(", \"%s\": %d", key, number);
    else printf(", \"%s\": null", key);
}

static void numbers(const char *key, int32_t count, const int32_t *from) {
    printf(", \"%s\": [", key);
    for (int32_t i = 0; i < count; i++) printf("%s%d", i ? ", " : "", from[i]);
    printf("]");
}

/* ---- the object ---- */

typedef struct printer {
    const char *name;
    bool begun; /* something was printed, so the object must be completed */
    int64_t findings;
} printer;

static void begin(printer *p) {
    if (p->begun) return;
    printf("{");
    text_or_null("file", p->name);
    printf(",\n\"findings\": [");
    p->begun = true;
}

static void print_finding(void *user, const drape_finding *f) {
    printer *p = user;
    begin(p);
    printf("%s\n  {\"severity\": \"%s\", \"code\": \"%s\", ", p->findings++ ? "," : "",
           drape_severity_name(f->severity), f->code);
    text_or_null("file", f->file);
    place_or_null("line", f->line);
    place_or_null("column", f->column);
    printf(", ");
    text_or_null("piece", f->piece);
    numbers("vertices", f->vertex_count, f->vertex);
    numbers("triangles", f->triangle_count, f->triangle);
    printf(", \"count\": %lld,\n   ", (long long)f->count);
    text_or_null("message", f->message);
    printf(",\n   ");
    text_or_null("advice", f->advice);
    printf("}");
}

static void end(const printer *p, const drape_check_summary *s) {
    printf("%s],\n\"errors\": %lld, \"warnings\": %lld,\n\"pieces\": %d, \"vertices\": %lld, \"triangles\": %lld,\n",
           p->findings ? "\n" : "", (long long)s->errors, (long long)s->warnings, s->pieces, (long long)s->vertices,
           (long long)s->triangles);
    if (s->step > 0) printf("\"step\": %.17g, ", s->step);
    else printf("\"step\": null, ");
    printf("\"fastest\": %.17g}\n", s->fastest);
}

drape_status check_as_json(drape_context *ctx, const char *name, drape_check_options *how,
                           drape_check_summary *summary) {
    printer p = {.name = name};
    how->finding = print_finding;
    how->user = &p;
    drape_status status = drape_check(ctx, name, how, summary);
    if (!status) begin(&p);
    if (p.begun) end(&p, summary);
    return status;
}
