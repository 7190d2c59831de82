/* usda.c: a Universal Scene Description layer as text (USD 22 and later read it; the grammar is that of "Usda File
 * Format", openusd.org).
 *
 * An Xform "drape" with a Mesh a piece: triangles, points, extent and normals sampled at time codes 0, 1, ..., one a
 * frame, texture coordinates as primvars:st. Metres, z up. Numbers with 9 digits, so that reading them gives the same
 * floats; normals with 5. Besides its samples an attribute has the first frame as default, for readers that know no
 * time; it stands behind them since three.js forgets the one that comes first.
 *
 * Samples of one attribute stand together, so the frames are gone through three times for each piece. */
#include "io/recording.h"
#include "io/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A layer being written. */
typedef struct layer {
    drape_context *ctx;
    drape_i_recording *r;
    FILE *to;
    bool numbered; /* names of pieces end in their number, since some are alike */
} layer;

/* ---- names and words ---- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Names of prims are those of variables in C. */
static char name_character(const char *name, size_t i) {
    return is_letter(name[i]) || is_digit(name[i]) ? name[i] : '_';
}

static void write_name(const layer *l, int32_t piece) {
    const char *name = drape_cloth_piece(l->r->cloth, piece)->name;
    if (!is_letter(name_character(name, 0)) || !*name) fputc('_', l->to);
    for (size_t i = 0; name[i]; i++) fputc(name_character(name, i), l->to);
    if (l->numbered) fprintf(l->to, "_%d", piece);
}

static int compare_names(const void *a, const void *b) {
    const char *p = *(const char *const *)a, *q = *(const char *const *)b;
    size_t i = 0;
    while (p[i] && q[i] && name_character(p, i) == name_character(q, i)) i++;
    return p[i] && q[i] ? name_character(p, i) - name_character(q, i) : (p[i] != 0) - (q[i] != 0);
}

/* Names that end in their number all differ: the numbers do. */
static drape_status find_whether_numbered(layer *l) {
    int32_t count = drape_cloth_pieces(l->r->cloth);
    const char **names;
    if (!DRAPE_NEW(l->ctx, names, count)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) names[i] = drape_cloth_piece(l->r->cloth, i)->name;
    qsort(names, (size_t)count, sizeof *names, compare_names);
    for (int32_t i = 1; i < count; i++) l->numbered |= compare_names(&names[i - 1], &names[i]) == 0;
    DRAPE_FREE(l->ctx, names, count);
    return DRAPE_OK;
}

static void write_string(const char *words, FILE *to) {
    fputc('"', to);
    for (; *words; words++) {
        if (*words == '"' || *words == '\\') fputc('\\', to);
        fputc((unsigned char)*words >= ' ' ? *words : ' ', to);
    }
    fputc('"', to);
}

/* ---- arrays; a line each, as some readers want it ---- */

static void write_vectors(const layer *l, const char *format, const double *v, int64_t count) {
    fputc('[', l->to);
    for (int64_t i = 0; i < count; i++) {
        if (i) fputs(", ", l->to);
        fprintf(l->to, format, v[3 * i], v[3 * i + 1], v[3 * i + 2]);
    }
    fputc(']', l->to);
}

static void write_indices(const layer *l, const int32_t *index, int64_t count, int32_t subtract) {
    fputc('[', l->to);
    for (int64_t i = 0; i < count; i++) fprintf(l->to, "%s%d", i ? ", " : "", index[i] - subtract);
    fputs("]\n", l->to);
}

/* ---- what moves: an array of the frame that the recording has just read ---- */

typedef void write_array(const layer *l, const drape_piece_range *p);

static void write_points(const layer *l, const drape_piece_range *p) {
    write_vectors(l, "(%.9g, %.9g, %.9g)", l->r->x + 3 * (int64_t)p->first_vertex, p->vertices);
}

static void write_normals(const layer *l, const drape_piece_range *p) {
    drape_i_piece_normals(l->r->cloth, p, l->r->x, l->r->normal);
    write_vectors(l, "(%.5g, %.5g, %.5g)", l->r->normal + 3 * (int64_t)p->first_vertex, p->vertices);
}

static void write_extent(const layer *l, const drape_piece_range *p) {
    double bound[2][3];
    const double *x = l->r->x + 3 * (int64_t)p->first_vertex;
    for (int32_t k = 0; k < 3; k++) bound[0][k] = bound[1][k] = x[k];
    for (int64_t i = 0; i < 3 * (int64_t)p->vertices; i++) {
        bound[0][i % 3] = fmin(bound[0][i % 3], x[i]);
        bound[1][i % 3] = fmax(bound[1][i % 3], x[i]);
    }
    write_vectors(l, "(%.9g, %.9g, %.9g)", bound[0], 2);
}

static drape_status write_sampled(const layer *l, const drape_piece_range *p, const char *attribute,
                                  write_array *write, const char *metadata) {
    drape_status status = DRAPE_OK;
    fprintf(l->to, "        %s.timeSamples = {\n", attribute);
    for (int64_t f = 0; f < l->r->frames && !status; f++) {
        status = drape_i_recording_read_piece(l->ctx, l->r, f, p);
        fprintf(l->to, "            %lld: ", (long long)f);
        if (!status) write(l, p);
        fputs(",\n", l->to);
    }
    fprintf(l->to, "        }\n        %s = ", attribute);
    if (!status) status = drape_i_recording_read_piece(l->ctx, l->r, 0, p);
    if (!status) write(l, p);
    fputs(metadata, l->to);
    return status;
}

/* ---- what does not ---- */

static void write_topology(const layer *l, const drape_piece_range *p) {
    const int32_t *corner = drape_cloth_triangle(l->r->cloth) + 3 * (int64_t)p->first_triangle;
    fputs("        uniform bool doubleSided = 1\n        int[] faceVertexCounts = [", l->to);
    for (int32_t t = 0; t < p->triangles; t++) fputs(t ? ", 3" : "3", l->to);
    fputs("]\n        int[] faceVertexIndices = ", l->to);
    write_indices(l, corner, 3 * (int64_t)p->triangles, p->first_vertex);
}

static void write_texture(const layer *l, const drape_i_texture *t, const drape_piece_range *p) {
    if (!t->uv) return;
    fputs("        texCoord2f[] primvars:st = [", l->to);
    for (int64_t i = 0; i < t->count; i++)
        fprintf(l->to, "%s(%.9g, %.9g)", i ? ", " : "", (double)(float)t->uv[2 * i], (double)(float)t->uv[2 * i + 1]);
    fprintf(l->to, "] (\n            interpolation = \"%s\"\n        )\n", t->seams ? "faceVarying" : "vertex");
    if (!t->seams) return;
    fputs("        int[] primvars:st:indices = ", l->to);
    write_indices(l, t->corner, 3 * (int64_t)p->triangles, 0);
}

static drape_status write_mesh(const layer *l, int32_t piece) {
    const drape_piece_range *p = drape_cloth_piece(l->r->cloth, piece);
    drape_i_texture texture = drape_i_texture_of(l->r->pieces, piece);
    fputs("\n    def Mesh \"", l->to);
    write_name(l, piece);
    fputs("\"\n    {\n", l->to);
    write_topology(l, p);
    drape_status status = write_sampled(l, p, "float3[] extent", write_extent, "\n");
    if (!status) status = write_sampled(l, p, "point3f[] points", write_points, "\n");
    if (!status)
        status = write_sampled(l, p, "normal3f[] normals", write_normals,
                               " (\n            interpolation = \"vertex\"\n        )\n");
    write_texture(l, &texture, p);
    fputs("        uniform token subdivisionScheme = \"none\"\n    }\n", l->to);
    return status;
}

static void write_head(const layer *l) {
    fputs("#usda 1.0\n(\n    defaultPrim = \"drape\"\n    doc = ", l->to);
    write_string(l->r->title, l->to);
    fprintf(l->to,
            "\n    endTimeCode = %lld\n    framesPerSecond = %.9g\n    metersPerUnit = 1\n    startTimeCode = 0\n"
            "    timeCodesPerSecond = %.9g\n    upAxis = \"Z\"\n)\n\n",
            (long long)(l->r->frames - 1), l->r->fps, l->r->fps);
    fputs("def Xform \"drape\" (\n    kind = \"component\"\n)\n{", l->to);
}

static drape_status write_layer(drape_context *ctx, void *user, drape_i_file *file) {
    drape_i_recording *r = user;
    layer l = {.ctx = ctx, .r = r, .to = file->stream};
    drape_status status = find_whether_numbered(&l);
    if (status) return status;
    write_head(&l);
    for (int32_t i = 0; i < drape_cloth_pieces(r->cloth) && !status; i++) status = write_mesh(&l, i);
    fputs("}\n", l.to);
    return status;
}

static drape_status close_layer(drape_context *ctx, void *state) {
    return drape_i_recording_close(ctx, state, write_layer, state);
}

const drape_i_format drape_i_format_usda = {".usda", "a layer of Universal Scene Description, as text",
                                            drape_i_recording_open, drape_i_recording_frame, close_layer};
