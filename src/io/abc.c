/* abc.c: Alembic archives (alembic.io) in the Ogawa container, which Houdini, Maya and Blender read.
 *
 * Each mesh is an Xform with a PolyMesh whose name ends in "Shape". It has triangles, P, .selfBnds and N sampled at
 * the times of the frames, texture coordinates, and attributes of the frames. Then follow the meshes beside the
 * cloth, without normals. Metres, +y up: (x, y, z) of the cloth becomes (x, z, -y). The corners of a face go
 * clockwise seen from outside, as Alembic's readers expect; texture coordinates are those of corners, from the bottom
 * left.
 *
 * A mesh beside the cloth that moves as a whole keeps its P, and its Xform moves it. From the first frame on in which
 * it changes its form, the Xform stays and P moves, so that what lies between two frames can be interpolated. */
#include "base/text.h"
#include "base/vec3.h"
#include "io/abc_archive.h"

#include <float.h>
#include <string.h>

static const char XFORM_OBJECT[] = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform";
static const char MESH_OBJECT[] =
    "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=AbcGeom_PolyMesh_v1:.geom";
static const char XFORM[] = "schema=AbcGeom_Xform_v3";
static const char MESH[] = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1";
static const char POSITIONS[] = "geoScope=vtx;interpretation=point";
static const char BOX[] = "interpretation=box";
static const char VECTOR[] = "interpretation=vector";
static const char NORMALS[] =
    "arrayExtent=1;geoScope=vtx;interpretation=normal;isGeomParam=true;podExtent=3;podName=float32_t";
static const char TEXTURE[] =
    "arrayExtent=1;geoScope=fvr;interpretation=vector;isGeomParam=true;podExtent=2;podName=float32_t";
static const char ATTRIBUTE[] = "arrayExtent=1;geoScope=%s;isGeomParam=true;podExtent=%d;podName=float32_t";

static const char VELOCITY[] = "velocity"; /* the attribute that is Alembic's .velocities */
static const unsigned char MATRIX_OPERATION = 3 << 4;

enum { MATRIX_BYTES = 16 * 8, BOX_BYTES = 6 * 8, ATTRIBUTE_ROOM = 128, SUFFIX_ROOM = 6 };

typedef struct box {
    double low[3], high[3];
} box;

/* A mesh of the file. */
typedef struct mesh {
    drape_i_abc_property *positions, *bounds, *normals, *counts, *corners, *texture, *texture_corners;
    drape_i_abc_property **attribute; /* of pieces: one per attribute of a frame */
    drape_i_abc_property *inherits;   /* of its Xform */

    /* Of those beside the cloth. */
    drape_i_abc_property *matrix, *operations, *moves, *animated; /* of its Xform, too */
    double *base;                                                 /* vertices in the first frame */
    drape_i_rigid pose;                                           /* where the Xform put them last */
    bool changes_form;
} mesh;

typedef struct alembic {
    const drape_cloth *cloth;
    const drape_piece *pieces; /* or NULL */
    char *metadata;            /* of the archive; in its arena, as all below */
    mesh *mesh;                /* the pieces, then those beside the cloth */
    drape_i_abc_property *bounds;
    double *normal;
    unsigned char *bytes; /* of a sample; as many as the largest takes */
    drape_i_abc_archive archive;
} alembic;

/* ---- opening ---- */

/* Control characters, and ; and =, which separate the words of metadata, become spaces; bytes that are no UTF-8
 * become U+FFFD. */
static void append_title(char *to, const char *title) {
    for (const unsigned char *c = (const unsigned char *)title; *c;) {
        size_t bytes = drape_i_letter_bytes(c), put = bytes ? bytes : 3;
        bool plain = *c >= ' ' && *c != 0x7f && *c != ';' && *c != '=';
        memcpy(to, bytes == 0 ? (const void *)"\xef\xbf\xbd" : plain ? (const void *)c : " ", put);
        to += put;
        c += bytes ? bytes : 1;
    }
}

/* No date: the same run gives the same bytes. */
static drape_status make_metadata(drape_context *ctx, alembic *f, double fps, const char *title) {
    static const int64_t ROOM = 256;
    drape_i_c_locale locale;
    f->metadata = drape_i_arena_get(ctx, &f->archive.arena, ROOM + 3 * (int64_t)strlen(title), 1);
    if (!f->metadata) return DRAPE_ERROR_MEMORY;
    drape_status status = drape_i_c_locale_enter(ctx, &locale);
    if (status) return status;
    snprintf(f->metadata, (size_t)ROOM, "_ai_Application=drape %s;_ai_DCC_FPS=%.10g%s", drape_version(), fps,
             *title ? ";_ai_Description=" : "");
    drape_i_c_locale_leave(&locale);
    append_title(f->metadata + strlen(f->metadata), title);
    return DRAPE_OK;
}

static drape_status destroy(drape_context *ctx, alembic *f, drape_status status) {
    drape_i_abc_destroy(ctx, &f->archive);
    DRAPE_FREE(ctx, f, 1);
    return status;
}

static drape_status open_abc(drape_context *ctx, const char *path, const drape_i_animation *what, void **state) {
    alembic *f;
    *state = NULL;
    if (!DRAPE_NEW(ctx, f, 1)) return DRAPE_ERROR_MEMORY;
    f->cloth = what->cloth;
    f->pieces = what->pieces;
    drape_status status = drape_i_abc_create(ctx, path, what->fps, &f->archive);
    if (!status) status = make_metadata(ctx, f, what->fps, what->title);
    if (status) return destroy(ctx, f, status);
    *state = f;
    return DRAPE_OK;
}

/* ---- the objects and their properties, known with the first frame ---- */

/* Adds properties until one fails. */
typedef struct builder {
    drape_context *ctx;
    alembic *f;
    drape_status status;
} builder;

static drape_i_abc_property *add(builder *b, drape_i_abc_property *parent, drape_i_abc_property what) {
    if (b->status) return NULL;
    drape_i_abc_property *p = drape_i_abc_add_property(b->ctx, &b->f->archive, parent, &what);
    if (!p) b->status = DRAPE_ERROR_MEMORY;
    return p;
}

static drape_i_abc_property *add_compound(builder *b, drape_i_abc_property *parent, const char *name,
                                          const char *metadata) {
    return add(b, parent, (drape_i_abc_property){.name = name, .metadata = metadata, .kind = DRAPE_I_ABC_COMPOUND});
}

/* One that has samples in all frames. */
static drape_i_abc_property *add_timed(builder *b, drape_i_abc_property *parent, const char *name,
                                       const char *metadata, drape_i_abc_kind kind, drape_i_abc_number number,
                                       int32_t extent) {
    return add(b, parent, (drape_i_abc_property){name, metadata, kind, number, extent, .timed = true});
}

static drape_i_abc_property *add_floats(builder *b, drape_i_abc_property *parent, const char *name,
                                        const char *metadata, int32_t extent) {
    return add_timed(b, parent, name, metadata, DRAPE_I_ABC_ARRAY, DRAPE_I_ABC_FLOAT32, extent);
}

static drape_i_abc_property *add_box(builder *b, drape_i_abc_property *parent, const char *name) {
    return add_timed(b, parent, name, BOX, DRAPE_I_ABC_SCALAR, DRAPE_I_ABC_FLOAT64, 6);
}

static drape_i_abc_object *add_object(builder *b, drape_i_abc_object *parent, const char *name,
                                      const char *metadata) {
    if (b->status) return NULL;
    drape_i_abc_object *o = drape_i_abc_add_object(b->ctx, &b->f->archive, parent, name, metadata);
    if (!o) b->status = DRAPE_ERROR_MEMORY;
    return o;
}

static void *get(builder *b, int64_t count, size_t size) {
    if (b->status) return NULL;
    void *memory = drape_i_arena_get(b->ctx, &b->f->archive.arena, count, size);
    if (!memory) b->status = DRAPE_ERROR_MEMORY;
    return memory;
}

/* Where it never moves, the Xform has no operations. */
static void add_matrix(builder *b, drape_i_abc_property *xform, mesh *m) {
    m->matrix = add_timed(b, xform, ".vals", "", DRAPE_I_ABC_SCALAR, DRAPE_I_ABC_FLOAT64, 16);
    if (b->status) return;
    m->matrix->goes_with = m->matrix;
    drape_i_abc_property one = {".ops", "", DRAPE_I_ABC_SCALAR, DRAPE_I_ABC_UINT8, 1, .goes_with = m->matrix};
    m->operations = add(b, xform, one);
    one.name = "isNotConstantIdentity";
    one.number = DRAPE_I_ABC_BOOL;
    m->moves = add(b, xform, one);
    one.name = ".animChans";
    one.kind = DRAPE_I_ABC_ARRAY;
    one.number = DRAPE_I_ABC_UINT32;
    one.timed = true;
    m->animated = add(b, xform, one);
}

static bool is_velocity(const drape_frame_attribute *a) {
    return a->place == DRAPE_PER_VERTEX && a->components == 3 && strcmp(a->name, VELOCITY) == 0;
}

static void add_attribute(builder *b, drape_i_abc_property *geom, drape_i_abc_property **others,
                          const drape_frame_attribute *a, drape_i_abc_property **out) {
    if (is_velocity(a)) {
        *out = add_floats(b, geom, ".velocities", VECTOR, 3);
        return;
    }
    char *metadata = get(b, ATTRIBUTE_ROOM, 1);
    if (!*others) *others = add_compound(b, geom, ".arbGeomParams", "");
    if (b->status) return;
    snprintf(metadata, ATTRIBUTE_ROOM, ATTRIBUTE, a->place == DRAPE_PER_VERTEX ? "vtx" : "uni", a->components);
    *out = add_floats(b, *others, a->name, metadata, a->components);
}

static void add_piece_properties(builder *b, drape_i_abc_property *geom, mesh *m, int32_t piece,
                                 const drape_frame *shape) {
    drape_i_abc_property *others = NULL;
    m->normals = add_floats(b, geom, "N", NORMALS, 3);
    if (drape_i_texture_of(b->f->pieces, piece).uv) {
        drape_i_abc_property *uv = add_compound(b, geom, "uv", TEXTURE);
        m->texture = add_floats(b, uv, ".vals", TEXTURE, 2);
        m->texture_corners = add_timed(b, uv, ".indices", "", DRAPE_I_ABC_ARRAY, DRAPE_I_ABC_UINT32, 1);
    }
    m->attribute = get(b, shape->attribute_count, sizeof(drape_i_abc_property *));
    for (int32_t i = 0; i < shape->attribute_count && !b->status; i++)
        add_attribute(b, geom, &others, &shape->attributes[i], &m->attribute[i]);
}

static char *shape_name(builder *b, const char *name) {
    size_t length = strlen(name);
    char *out = get(b, (int64_t)length + SUFFIX_ROOM, 1);
    if (!out) return NULL;
    memcpy(out, name, length);
    memcpy(out + length, "Shape", SUFFIX_ROOM);
    return out;
}

/* beside: it is none of the pieces. */
static void add_mesh(builder *b, const char *name, int32_t index, bool beside, const drape_frame *shape) {
    mesh *m = &b->f->mesh[index];
    const char *below = shape_name(b, name);
    drape_i_abc_object *node = add_object(b, &b->f->archive.top, name, XFORM_OBJECT);
    drape_i_abc_object *object = add_object(b, node, below, MESH_OBJECT);
    if (b->status) return;
    drape_i_abc_property *xform = add_compound(b, &node->properties, ".xform", XFORM);
    m->inherits = add_timed(b, xform, ".inherits", "", DRAPE_I_ABC_SCALAR, DRAPE_I_ABC_BOOL, 1);
    if (beside) add_matrix(b, xform, m);
    drape_i_abc_property *geom = add_compound(b, &object->properties, ".geom", MESH);
    m->bounds = add_box(b, geom, ".selfBnds");
    m->positions = add_floats(b, geom, "P", POSITIONS, 3);
    m->corners = add_timed(b, geom, ".faceIndices", "", DRAPE_I_ABC_ARRAY, DRAPE_I_ABC_INT32, 1);
    m->counts = add_timed(b, geom, ".faceCounts", "", DRAPE_I_ABC_ARRAY, DRAPE_I_ABC_INT32, 1);
    if (!beside) add_piece_properties(b, geom, m, index, shape);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Bytes of the largest sample. */
static int64_t largest_sample(const alembic *f, const drape_frame *shape) {
    int64_t vertices = drape_cloth_vertices(f->cloth), triangles = drape_cloth_triangles(f->cloth);
    for (int32_t i = 0; i < shape->mesh_count; i++) {
        vertices = larger(vertices, shape->meshes[i].vertices);
        triangles = larger(triangles, shape->meshes[i].triangles);
    }
    int64_t most = larger(MATRIX_BYTES, larger(16 * vertices, 16 * triangles)); /* attributes have up to 4 numbers */
    for (int32_t i = 0; i < drape_cloth_pieces(f->cloth); i++)
        most = larger(most, 8 * (int64_t)drape_i_texture_of(f->pieces, i).count);
    return most;
}

static drape_status build(drape_context *ctx, alembic *f, const drape_frame *shape) {
    builder b = {.ctx = ctx, .f = f};
    int32_t pieces = drape_cloth_pieces(f->cloth);
    const char *const *name = drape_i_mesh_names(ctx, &f->archive.arena, f->cloth, shape, NULL);
    if (!name) return DRAPE_ERROR_MEMORY;
    f->mesh = get(&b, pieces + shape->mesh_count, sizeof *f->mesh);
    f->normal = get(&b, 3 * (int64_t)drape_cloth_vertices(f->cloth), sizeof *f->normal);
    f->bytes = get(&b, largest_sample(f, shape), 1);
    f->bounds = add_box(&b, &f->archive.top.properties, ".childBnds");
    for (int32_t i = 0; i < pieces + shape->mesh_count && !b.status; i++) {
        add_mesh(&b, name[i], i, i >= pieces, shape);
        if (i >= pieces) f->mesh[i].base = get(&b, 3 * (int64_t)shape->meshes[i - pieces].vertices, sizeof(double));
    }
    return b.status;
}

/* ---- numbers as they are in the file ---- */

static void turn(const double p[3], double out[3]) {
    out[0] = p[0];
    out[1] = p[2];
    out[2] = -p[1];
}

static box empty_box(void) {
    return (box){{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}}; /* as Imath has it */
}

static void widen(box *b, const double p[3]) {
    for (int32_t k = 0; k < 3; k++) {
        b->low[k] = fmin(b->low[k], p[k]);
        b->high[k] = fmax(b->high[k], p[k]);
    }
}

/* Turns `count` vectors into f->bytes; returns what they reach. */
static box turn_vectors(alembic *f, int64_t count, const double *x) {
    box reach = empty_box();
    for (int64_t i = 0; i < count; i++) {
        double p[3];
        turn(x + 3 * i, p);
        for (int32_t k = 0; k < 3; k++) {
            p[k] = (double)(float)p[k];
            drape_i_little_f32(f->bytes + 12 * i + 4 * k, (float)p[k]);
        }
        widen(&reach, p);
    }
    return reach;
}

static void sample_vectors(alembic *f, drape_i_abc_property *p, int64_t count, const double *x) {
    turn_vectors(f, count, x);
    drape_i_abc_sample(&f->archive, p, f->bytes, 12 * count);
}

static void sample_box(alembic *f, drape_i_abc_property *p, const box *b) {
    unsigned char bytes[BOX_BYTES];
    for (int32_t k = 0; k < 3; k++) {
        drape_i_little_f64(bytes + 8 * k, b->low[k]);
        drape_i_little_f64(bytes + 24 + 8 * k, b->high[k]);
    }
    drape_i_abc_sample(&f->archive, p, bytes, sizeof bytes);
}

static box sample_positions(alembic *f, mesh *m, int64_t count, const double *x) {
    box reach = turn_vectors(f, count, x);
    drape_i_abc_sample(&f->archive, m->positions, f->bytes, 12 * count);
    sample_box(f, m->bounds, &reach);
    return reach;
}

/* ---- what does not move, in the first frame ---- */

/* 3 per triangle, in the other direction round. */
static void sample_corners(alembic *f, drape_i_abc_property *p, int64_t triangles, const int32_t *corner,
                           int32_t subtract) {
    for (int64_t t = 0; t < triangles; t++)
        for (int32_t k = 0; k < 3; k++)
            drape_i_little_u32(f->bytes + 12 * t + 4 * k, (uint32_t)(corner[3 * t + 2 - k] - subtract));
    drape_i_abc_sample(&f->archive, p, f->bytes, 12 * triangles);
}

static void sample_topology(alembic *f, mesh *m, int64_t triangles, const int32_t *corner, int32_t first_vertex) {
    static const unsigned char yes = 1;
    drape_i_abc_sample(&f->archive, m->inherits, &yes, 1);
    sample_corners(f, m->corners, triangles, corner, first_vertex);
    for (int64_t t = 0; t < triangles; t++) drape_i_little_u32(f->bytes + 4 * t, 3);
    drape_i_abc_sample(&f->archive, m->counts, f->bytes, 4 * triangles);
}

static void sample_texture(alembic *f, mesh *m, int32_t piece, int64_t triangles) {
    drape_i_texture t = drape_i_texture_of(f->pieces, piece);
    for (int64_t i = 0; i < 2 * (int64_t)t.count; i++) drape_i_little_f32(f->bytes + 4 * i, (float)t.uv[i]);
    drape_i_abc_sample(&f->archive, m->texture, f->bytes, 8 * (int64_t)t.count);
    sample_corners(f, m->texture_corners, triangles, t.corner, 0);
}

static void begin_piece(alembic *f, int32_t piece) {
    const drape_piece_range *r = drape_cloth_piece(f->cloth, piece);
    const int32_t *corner = drape_cloth_triangle(f->cloth) + 3 * (int64_t)r->first_triangle;
    mesh *m = &f->mesh[piece];
    sample_topology(f, m, r->triangles, corner, r->first_vertex);
    if (m->texture) sample_texture(f, m, piece, r->triangles);
}

static void begin_beside(alembic *f, mesh *m, const drape_frame_mesh *given) {
    static const unsigned char yes = 1, channel[12] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14};
    unsigned char bytes[4 * sizeof channel];
    sample_topology(f, m, given->triangles, given->triangle, 0);
    drape_i_abc_sample(&f->archive, m->operations, &MATRIX_OPERATION, 1);
    drape_i_abc_sample(&f->archive, m->moves, &yes, 1);
    for (size_t i = 0; i < sizeof channel; i++) drape_i_little_u32(bytes + 4 * i, channel[i]);
    drape_i_abc_sample(&f->archive, m->animated, bytes, sizeof bytes);
    if (given->vertices > 0) memcpy(m->base, given->positions, 3 * (size_t)given->vertices * sizeof *m->base);
    m->pose = (drape_i_rigid){.q = {0, 0, 0, 1}};
    sample_positions(f, m, given->vertices, given->positions);
}

/* ---- frames: pieces ---- */

static void sample_attribute(alembic *f, drape_i_abc_property *p, const drape_frame_attribute *a,
                             const drape_piece_range *r) {
    bool at_vertices = a->place == DRAPE_PER_VERTEX;
    int64_t count = a->components * (int64_t)(at_vertices ? r->vertices : r->triangles);
    const double *value = a->values + a->components * (int64_t)(at_vertices ? r->first_vertex : r->first_triangle);
    if (is_velocity(a)) {
        sample_vectors(f, p, r->vertices, value);
        return;
    }
    for (int64_t i = 0; i < count; i++) drape_i_little_f32(f->bytes + 4 * i, (float)value[i]);
    drape_i_abc_sample(&f->archive, p, f->bytes, 4 * count);
}

static void sample_piece(alembic *f, int32_t piece, const drape_frame *frame, box *all) {
    const drape_piece_range *r = drape_cloth_piece(f->cloth, piece);
    mesh *m = &f->mesh[piece];
    int64_t first = 3 * (int64_t)r->first_vertex;
    box reach = sample_positions(f, m, r->vertices, frame->positions + first);
    drape_i_piece_normals(f->cloth, r, frame->positions, f->normal);
    sample_vectors(f, m->normals, r->vertices, f->normal + first);
    for (int32_t i = 0; i < frame->attribute_count; i++)
        sample_attribute(f, m->attribute[i], &frame->attributes[i], r);
    widen(all, reach.low);
    widen(all, reach.high);
}

/* ---- frames: meshes beside the cloth ---- */

static void rotation_of(const double q[4], double m[3][3]) {
    double s = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int32_t i = 0; i < 3; i++) {
        int32_t j = (i + 1) % 3, k = (i + 2) % 3;
        m[i][i] = 1 - s * (q[j] * q[j] + q[k] * q[k]);
        m[i][j] = s * (q[i] * q[j] - q[k] * q[3]);
        m[i][k] = s * (q[i] * q[k] + q[j] * q[3]);
    }
}

/* Alembic multiplies a row by the matrix: the images of the axes are its rows, the last one is where 0 goes. */
static void sample_matrix(alembic *f, mesh *m) {
    static const double axis[3][3] = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}; /* the file's, in the cloth's axes */
    double r[3][3], row[4][4] = {{0}}, image[3];
    rotation_of(m->pose.q, r);
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t k = 0; k < 3; k++) image[k] = r[k][0] * axis[i][0] + r[k][1] * axis[i][1] + r[k][2] * axis[i][2];
        turn(image, row[i]);
    }
    turn(m->pose.t, row[3]);
    row[3][3] = 1;
    for (int32_t i = 0; i < 16; i++) drape_i_little_f64(f->bytes + 8 * i, row[i / 4][i % 4]);
    drape_i_abc_sample(&f->archive, m->matrix, f->bytes, MATRIX_BYTES);
}

/* Positions of a mesh whose form changed, seen from its Xform; they go into m->base, which is no longer needed. */
static void sample_changed(alembic *f, mesh *m, int64_t count, const double *x) {
    double r[3][3];
    rotation_of(m->pose.q, r);
    for (int64_t i = 0; i < count; i++)
        for (int32_t k = 0; k < 3; k++) {
            m->base[3 * i + k] = 0;
            for (int32_t j = 0; j < 3; j++) m->base[3 * i + k] += r[j][k] * (x[3 * i + j] - m->pose.t[j]);
        }
    sample_positions(f, m, count, m->base);
}

static void sample_beside(alembic *f, mesh *m, const drape_frame_mesh *given, box *all) {
    drape_i_rigid pose;
    bool begins = f->archive.frames == 0;
    if (begins) begin_beside(f, m, given);
    if (!begins && !m->changes_form) {
        m->changes_form = !drape_i_rigid_fit(given->vertices, m->base, given->positions, &pose);
        if (!m->changes_form) m->pose = pose;
    }
    if (m->changes_form) sample_changed(f, m, given->vertices, given->positions);
    else sample_matrix(f, m);
    for (int64_t i = 0; i < given->vertices; i++) {
        double p[3];
        turn(given->positions + 3 * i, p);
        widen(all, p);
    }
}

/* ---- frames ---- */

static drape_status add_frame(drape_context *ctx, alembic *f, const drape_i_frame *frame) {
    const drape_frame *now = &frame->data;
    int32_t pieces = drape_cloth_pieces(f->cloth);
    box all = empty_box();
    if (f->archive.frames == INT32_MAX)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: more frames than the format can count",
                            f->archive.file.path);
    drape_status status =
        drape_i_check_floats(ctx, f->archive.file.path, now->number, drape_cloth_vertices(f->cloth), now->positions);
    if (!status && f->archive.frames == 0) status = build(ctx, f, frame->shape);
    if (status) return status;
    for (int32_t i = 0; i < pieces; i++) {
        if (f->archive.frames == 0) begin_piece(f, i);
        sample_piece(f, i, now, &all);
    }
    for (int32_t i = 0; i < now->mesh_count; i++) sample_beside(f, &f->mesh[pieces + i], &now->meshes[i], &all);
    sample_box(f, f->bounds, &all);
    return drape_i_abc_end_frame(ctx, &f->archive, (drape_i_stamp){now->number, now->time});
}

static drape_status write_frame(drape_context *ctx, void *state, const drape_i_frame *frame) {
    alembic *f = state;
    if (!f->archive.status) f->archive.status = add_frame(ctx, f, frame);
    return f->archive.status;
}

static drape_status close_abc(drape_context *ctx, void *state) {
    alembic *f = state;
    drape_status status = f->archive.status;
    if (f->archive.frames > 0) status = drape_i_abc_finish(ctx, &f->archive, f->metadata);
    return destroy(ctx, f, status);
}

const drape_i_format drape_i_format_abc = {".abc", "an Alembic archive, for Houdini, Maya and Blender", open_abc,
                                           write_frame, close_abc};
