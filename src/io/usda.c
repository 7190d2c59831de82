/* usda.c: a Universal Scene Description layer as text (USD 22 and later read it; the grammar is that of "Usda File
 * Format", openusd.org).
 *
 * An Xform "drape" has one Mesh per piece: triangles, and points, extent and normals sampled at time codes that are
 * the numbers of the frames. Texture coordinates are primvars:st, attributes of the frames primvars:NAME. Then
 * follows one Mesh per mesh beside the cloth, with points and extent. What has a color or an image has
 * primvars:displayColor and a UsdPreviewSurface among the Materials; images are files beside the layer. Metres, z up.
 * Numbers with 9 digits, so that reading them gives the same floats; normals with 5. Besides its samples an attribute
 * has the first frame as default, for readers that know no time; it is after them since three.js forgets the one
 * that comes first.
 *
 * Samples of one attribute are together, so the frames are read once for each of them and each piece. */
#include "io/appearance.h"
#include "io/format_tools.h"

#include <math.h>
#include <string.h>

static const char AT_VERTICES[] = " (\n            interpolation = \"vertex\"\n        )\n";
static const char AT_TRIANGLES[] = " (\n            interpolation = \"uniform\"\n        )\n";

enum { ATTRIBUTE_NAME_SIZE = 80 }; /* "primvars:" and a name of at most 63 characters */

/* A layer being written. */
typedef struct layer {
    drape_context *ctx;
    drape_i_recording *r;
    FILE *to;
    const char *const *name; /* of the pieces, then of the meshes beside the cloth */
    drape_i_images images;
} layer;

static const char EXTENSION[] = ".usda", MATERIALS[] = "Materials"; /* the scope of these */

/* ---- names and words ---- */

/* Meshes of a layer: the pieces of the cloth, then those beside it. */
static int32_t count_meshes(const layer *l) { return drape_cloth_pieces(l->r->cloth) + l->r->shape->mesh_count; }

/* sRGB; NULL: it says nothing. */
static const uint8_t *color_of(const layer *l, int32_t mesh) {
    int32_t pieces = drape_cloth_pieces(l->r->cloth);
    if (mesh >= pieces) return drape_i_mesh_color(l->r->shape, mesh - pieces);
    const drape_appearance *look = drape_i_appearance_of(l->r->pieces, mesh);
    return look ? drape_i_appearance_color(look) : NULL;
}

static bool has_materials(const layer *l) {
    for (int32_t i = 0; i < count_meshes(l); i++)
        if (color_of(l, i)) return true;
    return false;
}

static void write_name(const layer *l, int32_t mesh) { fputs(l->name[mesh], l->to); }

/* Bytes that are no UTF-8 become U+FFFD. */
static void write_string(const char *words, FILE *to) {
    fputc('"', to);
    for (const unsigned char *c = (const unsigned char *)words; *c;) {
        size_t bytes = drape_i_letter_bytes(c);
        if (*c == '"' || *c == '\\') fputc('\\', to);
        if (bytes == 0) fputs("\xef\xbf\xbd", to);
        else if (*c < ' ' || *c == 0x7f) fputc(' ', to);
        else fwrite(c, 1, bytes, to);
        c += bytes ? bytes : 1;
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

/* ---- what moves ---- */

/* An attribute of a mesh that has a sample in every frame: `read` brings the frame's numbers into the recording,
 * `write` writes the array. */
typedef struct series {
    const char *type, *name, *metadata;
    drape_status (*read)(const layer *l, const struct series *s, int64_t frame);
    void (*write)(const layer *l, const struct series *s);
    const drape_piece_range *piece; /* of the cloth's own attributes */
    int64_t first, count;           /* of others: numbers among the recording's extras */
    int32_t components;             /* likewise */
} series;

static drape_status read_piece(const layer *l, const series *s, int64_t frame) {
    return drape_i_recording_read_piece(l->ctx, l->r, frame, s->piece);
}

static drape_status read_extra(const layer *l, const series *s, int64_t frame) {
    return drape_i_recording_read_extra(l->ctx, l->r, frame, s->first, s->count);
}

static void write_points(const layer *l, const series *s) {
    write_vectors(l, "(%.9g, %.9g, %.9g)", l->r->x + 3 * (int64_t)s->piece->first_vertex, s->piece->vertices);
}

static void write_normals(const layer *l, const series *s) {
    const drape_piece_range *p = s->piece;
    drape_i_piece_normals(l->r->cloth, p, l->r->x, l->r->normal);
    write_vectors(l, "(%.5g, %.5g, %.5g)", l->r->normal + 3 * (int64_t)p->first_vertex, p->vertices);
}

static void widen(double bound[2][3], int32_t k, double value) {
    bound[0][k] = fmin(bound[0][k], value);
    bound[1][k] = fmax(bound[1][k], value);
}

static void write_bound(const layer *l, double bound[2][3]) { write_vectors(l, "(%.9g, %.9g, %.9g)", bound[0], 2); }

static void write_extent(const layer *l, const series *s) {
    double bound[2][3] = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    const double *x = l->r->x + 3 * (int64_t)s->piece->first_vertex;
    for (int64_t i = 0; i < 3 * (int64_t)s->piece->vertices; i++) widen(bound, (int32_t)(i % 3), x[i]);
    write_bound(l, bound);
}

static void write_extra_extent(const layer *l, const series *s) {
    double bound[2][3] = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int64_t i = 0; i < s->count; i++) widen(bound, (int32_t)(i % 3), (double)l->r->extra[i]);
    write_bound(l, bound);
}

/* Numbers, or tuples of them. */
static void write_extra(const layer *l, const series *s) {
    fputc('[', l->to);
    for (int64_t i = 0; i < s->count; i++) {
        bool begins = i % s->components == 0, ends = (i + 1) % s->components == 0;
        fprintf(l->to, "%s%s%.9g%s", i ? ", " : "", begins && s->components > 1 ? "(" : "", (double)l->r->extra[i],
                ends && s->components > 1 ? ")" : "");
    }
    fputc(']', l->to);
}

static drape_status write_value(const layer *l, const series *s) {
    fprintf(l->to, "        %s[] %s = ", s->type, s->name);
    drape_status status = s->read(l, s, 0);
    if (!status) s->write(l, s);
    fputs(s->metadata, l->to);
    return status;
}

static drape_status write_sampled(const layer *l, const series *s) {
    drape_status status = DRAPE_OK;
    fprintf(l->to, "        %s[] %s.timeSamples = {\n", s->type, s->name);
    for (int64_t f = 0; f < l->r->frames && !status; f++) {
        drape_i_stamp stamp = {0};
        status = drape_i_recording_stamp(l->ctx, l->r, f, &stamp);
        if (!status) status = s->read(l, s, f);
        fprintf(l->to, "            %lld: ", (long long)stamp.number);
        if (!status) s->write(l, s);
        fputs(",\n", l->to);
    }
    fputs("        }\n", l->to);
    return status ? status : write_value(l, s);
}

/* Whether the numbers are the same in all frames, of which there are several. */
static drape_status find_whether_it_rests(const layer *l, const series *s, bool *rests) {
    uint64_t first = 0;
    *rests = l->r->frames > 1;
    for (int64_t f = 0; f < l->r->frames && *rests; f++) {
        drape_status status = s->read(l, s, f);
        if (status) return status;
        uint64_t hash = drape_i_hash(DRAPE_I_HASH_SEED, l->r->extra, (size_t)s->count * sizeof *l->r->extra);
        if (f == 0) first = hash;
        *rests = hash == first;
    }
    return DRAPE_OK;
}

/* The attributes of the frames, as primvars of the piece. */
static drape_status write_attributes(const layer *l, const drape_piece_range *p) {
    static const char *const types[] = {"", "float", "float2", "float3", "float4"};
    const drape_frame *shape = l->r->shape;
    drape_status status = DRAPE_OK;
    int64_t first = 0;
    for (int32_t i = 0; i < shape->mesh_count; i++) first += 3 * (int64_t)shape->meshes[i].vertices;
    for (int32_t i = 0; i < shape->attribute_count && !status; i++) {
        const drape_frame_attribute *a = &shape->attributes[i];
        bool at_vertices = a->place == DRAPE_PER_VERTEX;
        char name[ATTRIBUTE_NAME_SIZE];
        snprintf(name, sizeof name, "primvars:%s", a->name);
        series s = {.type = types[a->components], .name = name, .read = read_extra, .write = write_extra};
        s.metadata = at_vertices ? AT_VERTICES : AT_TRIANGLES;
        s.components = a->components;
        s.first = first + s.components * (int64_t)(at_vertices ? p->first_vertex : p->first_triangle);
        s.count = s.components * (int64_t)(at_vertices ? p->vertices : p->triangles);
        status = write_sampled(l, &s);
        first += s.components *
                 (int64_t)(at_vertices ? drape_cloth_vertices(l->r->cloth) : drape_cloth_triangles(l->r->cloth));
    }
    return status;
}

/* ---- what does not ---- */

static void write_topology(const layer *l, const int32_t *corner, int64_t triangles, int32_t first_vertex) {
    fputs("        uniform bool doubleSided = 1\n        int[] faceVertexCounts = [", l->to);
    for (int64_t t = 0; t < triangles; t++) fputs(t ? ", 3" : "3", l->to);
    fputs("]\n        int[] faceVertexIndices = ", l->to);
    write_indices(l, corner, 3 * triangles, first_vertex);
}

static void write_texture(const layer *l, const drape_i_texture *t, const drape_piece_range *p) {
    if (!t->uv) return;
    fputs("        texCoord2f[] primvars:st = [", l->to);
    for (int64_t i = 0; i < t->count; i++) {
        double st[2];
        drape_i_texture_at(t, i, st);
        fprintf(l->to, "%s(%.9g, %.9g)", i ? ", " : "", (double)(float)st[0], (double)(float)st[1]);
    }
    fprintf(l->to, "] (\n            interpolation = \"%s\"\n        )\n", t->seams ? "faceVarying" : "vertex");
    if (!t->seams) return;
    fputs("        int[] primvars:st:indices = ", l->to);
    write_indices(l, t->corner, 3 * (int64_t)p->triangles, 0);
}

/* A color as amounts of light, as USD has them. */
static void write_light(const layer *l, const uint8_t *color) {
    fprintf(l->to, "(%.9g, %.9g, %.9g)", drape_i_linear(color[0]), drape_i_linear(color[1]),
            drape_i_linear(color[2]));
}

static void begin_mesh(const layer *l, int32_t mesh) {
    fputs("\n    def Mesh \"", l->to);
    write_name(l, mesh);
    if (!color_of(l, mesh)) {
        fputs("\"\n    {\n", l->to);
        return;
    }
    fputs("\" (\n        prepend apiSchemas = [\"MaterialBindingAPI\"]\n    )\n    {\n", l->to);
    fprintf(l->to, "        rel material:binding = </drape/%s/", MATERIALS);
    write_name(l, mesh);
    fputs(">\n        color3f[] primvars:displayColor = [", l->to);
    write_light(l, color_of(l, mesh));
    fputs("] (\n            interpolation = \"constant\"\n        )\n", l->to);
}

static void end_mesh(const layer *l) { fputs("        uniform token subdivisionScheme = \"none\"\n    }\n", l->to); }

static drape_status write_piece(const layer *l, int32_t piece) {
    const drape_piece_range *p = drape_cloth_piece(l->r->cloth, piece);
    drape_i_texture texture = drape_i_texture_of(l->r->pieces, piece);
    const series own[] = {
        {"float3", "extent", "\n", read_piece, write_extent, p, 0, 0, 0},
        {"point3f", "points", "\n", read_piece, write_points, p, 0, 0, 0},
        {"normal3f", "normals", AT_VERTICES, read_piece, write_normals, p, 0, 0, 0},
    };
    drape_status status = DRAPE_OK;
    begin_mesh(l, piece);
    write_topology(l, drape_cloth_triangle(l->r->cloth) + 3 * (int64_t)p->first_triangle, p->triangles,
                   p->first_vertex);
    for (size_t i = 0; i < sizeof own / sizeof *own && !status; i++) status = write_sampled(l, &own[i]);
    write_texture(l, &texture, p);
    if (!status) status = write_attributes(l, p);
    end_mesh(l);
    return status;
}

/* A mesh beside the cloth; readers make its normals. One that rests has one value, at no time. */
static drape_status write_other(const layer *l, int32_t index) {
    const drape_frame_mesh *m = &l->r->shape->meshes[index];
    int64_t first = 0, count = 3 * (int64_t)m->vertices;
    for (int32_t i = 0; i < index; i++) first += 3 * (int64_t)l->r->shape->meshes[i].vertices;
    const series extent = {"float3", "extent", "\n", read_extra, write_extra_extent, NULL, first, count, 3};
    const series points = {"point3f", "points", "\n", read_extra, write_extra, NULL, first, count, 3};
    begin_mesh(l, drape_cloth_pieces(l->r->cloth) + index);
    write_topology(l, m->triangle, m->triangles, 0);
    bool rests;
    drape_status status = find_whether_it_rests(l, &points, &rests);
    if (!status && m->vertices > 0) status = rests ? write_value(l, &extent) : write_sampled(l, &extent);
    if (!status) status = rests ? write_value(l, &points) : write_sampled(l, &points);
    end_mesh(l);
    return status;
}

/* ---- materials ---- */

static void write_path(const layer *l, int32_t mesh, const char *rest) {
    fprintf(l->to, "</drape/%s/", MATERIALS);
    write_name(l, mesh);
    fprintf(l->to, "/%s>\n", rest);
}

/* Names of files are enclosed in at signs, three where the name itself has one. */
static void write_asset(const layer *l, int32_t image) {
    char name[4096]; /* more than a file name can have */
    drape_i_image_name(&l->images, image, l->r->path, EXTENSION, name, sizeof name);
    const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name,
               *quote = strchr(file, '@') ? "@@@" : "@";
    fprintf(l->to, "%s./%s%s", quote, file, quote);
}

/* The image, times the color, at the texture coordinates. */
static void write_image(const layer *l, int32_t mesh, int32_t image) {
    const uint8_t *c = color_of(l, mesh);
    fputs("            def Shader \"coordinates\"\n            {\n"
          "                uniform token info:id = \"UsdPrimvarReader_float2\"\n"
          "                string inputs:varname = \"st\"\n"
          "                float2 outputs:result\n            }\n"
          "            def Shader \"image\"\n            {\n"
          "                uniform token info:id = \"UsdUVTexture\"\n"
          "                asset inputs:file = ",
          l->to);
    write_asset(l, image);
    fprintf(l->to, "\n                float4 inputs:scale = (%.9g, %.9g, %.9g, 1)\n", drape_i_linear(c[0]),
            drape_i_linear(c[1]), drape_i_linear(c[2]));
    fputs("                token inputs:sourceColorSpace = \"sRGB\"\n                float2 inputs:st.connect = ",
          l->to);
    write_path(l, mesh, "coordinates.outputs:result");
    drape_i_texture texture = drape_i_texture_of(l->r->pieces, mesh);
    const char *wrap = drape_i_texture_inside(&texture) ? "clamp" : "repeat";
    fprintf(l->to,
            "                token inputs:wrapS = \"%s\"\n                token inputs:wrapT = \"%s\"\n"
            "                float3 outputs:rgb\n            }\n",
            wrap, wrap);
}

static void write_material(const layer *l, int32_t mesh) {
    bool piece = mesh < drape_cloth_pieces(l->r->cloth);
    int32_t image = piece ? l->images.of_piece[mesh] : -1;
    if (!color_of(l, mesh)) return;
    fputs("\n        def Material \"", l->to);
    write_name(l, mesh);
    fputs("\"\n        {\n            token outputs:surface.connect = ", l->to);
    write_path(l, mesh, "surface.outputs:surface");
    fputs("            def Shader \"surface\"\n            {\n"
          "                uniform token info:id = \"UsdPreviewSurface\"\n"
          "                color3f inputs:diffuseColor",
          l->to);
    if (image >= 0) {
        fputs(".connect = ", l->to);
        write_path(l, mesh, "image.outputs:rgb");
    } else {
        fputs(" = ", l->to);
        write_light(l, color_of(l, mesh));
        fputc('\n', l->to);
    }
    fprintf(l->to,
            "                float inputs:roughness = %.1f\n                token outputs:surface\n            }\n",
            piece ? 0.9 : 0.8);
    if (image >= 0) write_image(l, mesh, image);
    fputs("        }\n", l->to);
}

static void write_materials(const layer *l) {
    if (!has_materials(l)) return;
    fprintf(l->to, "\n    def Scope \"%s\"\n    {", MATERIALS);
    for (int32_t i = 0; i < count_meshes(l); i++) write_material(l, i);
    fputs("    }\n", l->to);
}

static void write_head(const layer *l) {
    fputs("#usda 1.0\n(\n    defaultPrim = \"drape\"\n    doc = ", l->to);
    write_string(l->r->title, l->to);
    fprintf(l->to,
            "\n    endTimeCode = %lld\n    framesPerSecond = %.9g\n    metersPerUnit = 1\n    startTimeCode = %lld\n"
            "    timeCodesPerSecond = %.9g\n    upAxis = \"Z\"\n)\n\n",
            (long long)l->r->last.number, l->r->fps, (long long)l->r->first.number, l->r->fps);
    fputs("def Xform \"drape\" (\n    kind = \"component\"\n)\n{", l->to);
}

static drape_status write_layer(drape_context *ctx, void *user, drape_i_file *file) {
    drape_i_recording *r = user;
    drape_i_arena arena = {0};
    layer l = {.ctx = ctx, .r = r, .to = file->stream};
    drape_status status = drape_i_images_create(ctx, r->pieces, drape_cloth_pieces(r->cloth), &l.images);
    if (!status) status = drape_i_images_write(ctx, &l.images, r->path, EXTENSION);
    if (!status) {
        l.name = drape_i_mesh_names(ctx, &arena, r->cloth, r->shape, has_materials(&l) ? MATERIALS : NULL);
        status = l.name ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    }
    if (!status) write_head(&l);
    for (int32_t i = 0; i < drape_cloth_pieces(r->cloth) && !status; i++) status = write_piece(&l, i);
    for (int32_t i = 0; i < r->shape->mesh_count && !status; i++) status = write_other(&l, i);
    if (!status) write_materials(&l);
    fputs("}\n", l.to);
    drape_i_arena_free(ctx, &arena);
    drape_i_images_destroy(ctx, &l.images);
    return status;
}

static drape_status open_layer(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    drape_status status = drape_i_recording_open(ctx, path, what, state);
    if (!status) ((drape_i_recording *)*state)->keeps_extras = true;
    return status;
}

static drape_status close_layer(drape_context *ctx, void *state) {
    return drape_i_recording_close(ctx, state, write_layer, state);
}

const drape_i_format drape_i_format_usda = {EXTENSION, "a layer of Universal Scene Description, as text", open_layer,
                                            drape_i_recording_frame, close_layer};
