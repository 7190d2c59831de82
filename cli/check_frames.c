/* check_frames.c: drape check-frames: counts what crosses in every frame of a sequence.
 *
 *   frame      edges  triangles    touches
 *      12          3          5          0   edge 40-41 through triangle 77, edge 12-40 through triangle 77, ...
 *   101 frames of 441 vertices and 800 triangles: crossings in 1 frame (12)
 *
 * The cloth is all of a file, or with --scene as many vertices as the scene has. The scene's colliders, at the time
 * of each frame, are other bodies, which are not tested against each other. So are the meshes after the cloth in the
 * file, unless they are these colliders. Planes are no bodies: vertices below them are counted. */
#include "cli.h"
#include "drape/crossings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_CROSSINGS = 1, FIRST_NAMED = 3 };

static const double BELOW = 1e-7; /* m: less than this is rounding in files of 32-bit floats */

/* A body beside the cloth: its triangles count vertices from its own first one. */
typedef struct other_body {
    const char *name;
    drape_crossings_mesh mesh;
    int32_t *triangle; /* to be freed; NULL: someone else's */
    int32_t vertex;    /* its first one in the file */
    int32_t collider;  /* of the scene; -1: it is in the file */
} other_body;

typedef struct totals {
    drape_crossing_counts self, others;
    int64_t below; /* vertices of the cloth below planes */
    int64_t frames, bad_frames, touched_frames;
    int64_t first, last; /* numbers of frames with crossings */
} totals;

typedef struct check {
    const char *file;
    bool json, all;
    drape_context *ctx;
    drape_loaded_scene *scene;
    drape_reader *reader;
    cloth_mesh cloth;
    other_body *other;
    int32_t other_count;
    drape_crossings *search;
    drape_collider_meshes *colliders; /* of the scene; NULL: none */
    int32_t planes;                   /* how many of them */
    double *x;                        /* all of the file's vertices */
    const double **others;            /* of each other body, within x or of its collider */
    int64_t below;                    /* vertices below planes in the present frame */
    totals total;
    int32_t printed;      /* frames */
    drape_crossing *kept; /* what is left of a result without stitched triangles */
    int64_t kept_room;
} check;

static bool no_memory(void) {
    complain("out of memory");
    return false;
}

static bool say_message(const check *c) {
    complain("%s", drape_message(c->ctx));
    return false;
}

/* ---- What is tested ---- */

static const drape_collider *collider(const check *c, int32_t i) {
    return drape_loaded_scene_data(c->scene)->colliders + i;
}

/* Every collider is a body, except for planes. */
static bool take_colliders(check *c) {
    int32_t count = drape_loaded_scene_data(c->scene)->collider_count;
    if (drape_collider_meshes_create(c->ctx, drape_loaded_scene_data(c->scene), &c->colliders)) return say_message(c);
    const drape_frame_mesh *mesh = drape_collider_meshes_at(c->colliders, 0);
    c->other = calloc((size_t)count + 1, sizeof *c->other); /* and one for the rest of the file */
    if (!c->other) return no_memory();
    for (int32_t i = 0; i < count; i++) {
        if (collider(c, i)->shape == DRAPE_COLLIDER_PLANE) c->planes++;
        else
            c->other[c->other_count++] = (other_body){
                .name = mesh[i].name,
                .mesh = {.vertices = mesh[i].vertices, .triangles = mesh[i].triangles, .triangle = mesh[i].triangle},
                .collider = i};
    }
    return true;
}

/* Whether these numbers of vertices and triangles are those of all colliders, as `drape run` writes them. */
static bool are_colliders(const check *c, int32_t vertices, int32_t triangles) {
    const drape_frame_mesh *mesh = drape_collider_meshes_at(c->colliders, 0);
    for (int32_t i = 0; i < drape_collider_meshes_count(c->colliders); i++) {
        vertices -= mesh[i].vertices;
        triangles -= mesh[i].triangles;
    }
    return vertices == 0 && triangles == 0;
}

/* What follows the cloth in the file is one more body. */
static bool take_rest_of_file(check *c) {
    const drape_reader_info *file = drape_reader_describe(c->reader);
    int32_t triangles = file->triangles - c->cloth.triangles;
    if (file->vertices == c->cloth.vertices || triangles <= 0) return true;
    if (are_colliders(c, file->vertices - c->cloth.vertices, triangles)) return true;
    int32_t *triangle = malloc((size_t)triangles * 3 * sizeof *triangle);
    if (!triangle) return no_memory();
    other_body *rest = &c->other[c->other_count++];
    *rest =
        (other_body){.name = "the other meshes", .triangle = triangle, .vertex = c->cloth.vertices, .collider = -1};
    for (int64_t i = 0; i < 3 * (int64_t)triangles; i++) {
        triangle[i] = file->triangle[3 * (int64_t)c->cloth.triangles + i] - c->cloth.vertices;
        if (triangle[i] < 0) {
            complain("%s: triangle %lld belongs neither to the cloth alone nor to the meshes after it", c->file,
                     (long long)(c->cloth.triangles + i / 3));
            return false;
        }
    }
    rest->mesh = (drape_crossings_mesh){
        .vertices = file->vertices - c->cloth.vertices, .triangles = triangles, .triangle = triangle};
    return true;
}

static bool take_cloth(check *c, const scene_arguments *scene) {
    const drape_reader_info *file = drape_reader_describe(c->reader);
    c->cloth = (cloth_mesh){.vertices = file->vertices, .triangles = file->triangles, .triangle = file->triangle};
    if (scene->name) {
        drape_scene_options how = scene_options(scene);
        if (drape_scene_load(c->ctx, scene->name, &how, &c->scene)) return say_message(c);
        if (!join_pieces(drape_loaded_scene_data(c->scene), &c->cloth) ||
            !frames_fit_scene(c->file, file, scene->name, &c->cloth) || !take_colliders(c))
            return false;
        if (file->triangles > 0 && !take_rest_of_file(c)) return false;
    }
    if (c->cloth.triangles > 0) return true;
    complain("%s holds only positions; name the scene (--scene) or a mesh file (--mesh) for the triangles", c->file);
    return false;
}

static bool start_search(check *c) {
    drape_crossings_mesh *meshes = calloc((size_t)c->other_count + 1, sizeof *meshes);
    c->others = calloc((size_t)c->other_count + 1, sizeof *c->others);
    c->x = malloc((size_t)drape_reader_describe(c->reader)->vertices * 3 * sizeof *c->x);
    if (!meshes || !c->others || !c->x) {
        free(meshes);
        return no_memory();
    }
    for (int32_t k = 0; k < c->other_count; k++) {
        meshes[k] = c->other[k].mesh;
        if (c->other[k].collider < 0) c->others[k] = c->x + 3 * (int64_t)c->other[k].vertex;
    }
    const drape_crossings_bodies bodies = {
        .cloth = {.vertices = c->cloth.vertices, .triangles = c->cloth.triangles, .triangle = c->cloth.triangle},
        .others = meshes,
        .other_count = c->other_count};
    drape_status status = drape_crossings_create(c->ctx, &bodies, &c->search);
    free(meshes);
    return status ? say_message(c) : true;
}

/* ---- In words ---- */

static const char *behind(const check *c, int32_t body) { return body == 0 ? NULL : c->other[body - 1].name; }

static void print_part(const char *what, const char *of) { tell("%s%s%s", what, of ? " of " : "", of ? of : ""); }

static void print_crossing(const check *c, const drape_crossing *x) {
    char first[64], second[64];
    snprintf(second, sizeof second, "triangle %d", x->triangle[1]);
    if (x->kind == DRAPE_CROSSING_TRIANGLES) snprintf(first, sizeof first, "triangle %d", x->triangle[0]);
    else snprintf(first, sizeof first, "edge %d-%d", x->edge[0], x->edge[1]);
    print_part(first, behind(c, x->body[0]));
    printf(x->kind == DRAPE_CROSSING_TOUCH ? " on " : " through ");
    print_part(second, behind(c, x->body[1]));
}

static int64_t crossings(const drape_crossing_counts *n) { return n->edges + n->triangles; }

static bool is_bad(const check *c, const drape_crossings_result *r) {
    return crossings(&r->self) + crossings(&r->others) + c->below > 0;
}

/* Edges through triangles come first in the list; where there are none, pairs of triangles do. */
static void print_frame(const check *c, int64_t number, const drape_crossings_result *r) {
    bool bad = is_bad(c, r);
    if (!bad && !(c->all && r->count > 0)) return;
    if (c->printed == 0) {
        printf("%8s %10s %10s %10s", "frame", "edges", "triangles", "touches");
        printf("%s%s\n", c->other_count ? "   with other meshes: edges, triangles, touches" : "",
               c->planes ? "   below planes" : "");
    }
    printf("%8lld %10lld %10lld %10lld", (long long)number, (long long)r->self.edges, (long long)r->self.triangles,
           (long long)r->self.touches);
    if (c->other_count)
        printf(" %12lld %10lld %10lld", (long long)r->others.edges, (long long)r->others.triangles,
               (long long)r->others.touches);
    if (c->planes) printf(" %12lld", (long long)c->below);
    int64_t named = c->all ? r->count : r->count < FIRST_NAMED ? r->count : FIRST_NAMED;
    for (int64_t i = 0; i < named; i++) {
        if (!c->all && r->crossings[i].kind == DRAPE_CROSSING_TOUCH) break;
        printf(c->all ? "\n%12s" : i ? ", " : "   ", "");
        print_crossing(c, r->crossings + i);
    }
    printf(!c->all && crossings(&r->self) + crossings(&r->others) > named ? ", ...\n" : "\n");
}

static void print_number(int64_t n, const char *one, const char *many) {
    printf("%lld %s", (long long)n, n == 1 ? one : many);
}

static void print_counts(const char *before, const drape_crossing_counts *n) {
    printf("%s", before);
    print_number(n->edges, "edge through a triangle, ", "edges through triangles, ");
    print_number(n->triangles, "pair of triangles, ", "pairs of triangles, ");
    print_number(n->touches, "touch", "touches");
}

static void print_totals(const check *c) {
    const totals *t = &c->total;
    print_number(t->frames, "frame", "frames");
    printf(" of %d vertices and %d triangles: ", c->cloth.vertices, c->cloth.triangles);
    if (t->bad_frames == 0) printf("no crossings");
    else printf("crossings in %lld of them, the first in frame %lld", (long long)t->bad_frames, (long long)t->first);
    if (t->touched_frames > 0) printf("; touches in %lld", (long long)t->touched_frames);
    putchar('\n');
    if (t->bad_frames == 0 && t->touched_frames == 0) return;
    print_counts("in all: ", &t->self);
    if (c->other_count) print_counts("; with other meshes: ", &t->others);
    if (c->planes) {
        printf("; ");
        print_number(t->below, "vertex below planes", "vertices below planes");
    }
    putchar('\n');
}

/* ---- As JSON; docs/crossings.md lists the keys ---- */

static void json_counts(const char *key, const drape_crossing_counts *n) {
    printf("\"%s\": {\"edges\": %lld, \"triangles\": %lld, \"touches\": %lld}", key, (long long)n->edges,
           (long long)n->triangles, (long long)n->touches);
}

static void json_body(const char *before, const char *name, int32_t vertices, int32_t triangles) {
    printf("%s{\"name\": ", before);
    print_json_text(name);
    printf(", \"vertices\": %d, \"triangles\": %d}", vertices, triangles);
}

static void json_begin(const check *c) {
    printf("{\"file\": ");
    print_json_text(c->file);
    json_body(",\n\"bodies\": [", "the cloth", c->cloth.vertices, c->cloth.triangles);
    for (int32_t k = 0; k < c->other_count; k++)
        json_body(", ", c->other[k].name, c->other[k].mesh.vertices, c->other[k].mesh.triangles);
    printf("],\n\"frames\": [");
}

static void json_frame(const check *c, int64_t number, const drape_crossings_result *r) {
    printf("%s\n  {\"frame\": %lld, ", c->printed ? "," : "", (long long)number);
    json_counts("self", &r->self);
    printf(", ");
    json_counts("others", &r->others);
    printf(", \"below\": %lld, \"crossings\": [", (long long)c->below);
    for (int64_t i = 0; i < r->count; i++) {
        const drape_crossing *x = r->crossings + i;
        printf("%s\n    {\"kind\": \"%s\", \"body\": [%d, %d], ", i ? "," : "", drape_crossing_kind_name(x->kind),
               x->body[0], x->body[1]);
        if (x->kind == DRAPE_CROSSING_TRIANGLES) printf("\"edge\": null, ");
        else printf("\"edge\": [%d, %d], ", x->edge[0], x->edge[1]);
        printf("\"triangle\": [%d, %d]}", x->triangle[0], x->triangle[1]);
    }
    printf("]}");
}

/* error: what kept it from going on, or NULL. */
static void json_end(const check *c, const char *error) {
    const totals *t = &c->total;
    printf("%s],\n\"frame_count\": %lld, \"frames_with_crossings\": %lld, \"frames_with_touches\": %lld,\n",
           c->printed ? "\n" : "", (long long)t->frames, (long long)t->bad_frames, (long long)t->touched_frames);
    json_counts("self", &t->self);
    printf(",\n");
    json_counts("others", &t->others);
    printf(",\n\"below\": %lld", (long long)t->below);
    printf(",\n\"error\": ");
    if (error) print_json_text(error);
    else printf("null");
    printf("}\n");
}

/* ---- Counting ---- */

static void add_counts(drape_crossing_counts *to, const drape_crossing_counts *more) {
    to->edges += more->edges;
    to->triangles += more->triangles;
    to->touches += more->touches;
}

static void add_frame(check *c, int64_t number, const drape_crossings_result *r) {
    totals *t = &c->total;
    bool bad = is_bad(c, r);
    t->below += c->below;
    if (bad && t->bad_frames == 0) t->first = number;
    t->frames++;
    t->bad_frames += bad;
    t->touched_frames += r->self.touches + r->others.touches > 0;
    add_counts(&t->self, &r->self);
    add_counts(&t->others, &r->others);
}

/* How many vertices of the cloth are below a square, whose corners go around it counter-clockwise seen from above. */
static int64_t count_below(const check *c, const double *square) {
    const double *a = square, *b = square + 3, *d = square + 9;
    double u[3], v[3], n[3], length = 0;
    int64_t count = 0;
    for (int32_t k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = d[k] - a[k];
    for (int32_t k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    for (int32_t k = 0; k < 3; k++) length += n[k] * n[k];
    length = sqrt(length);
    for (int32_t i = 0; i < c->cloth.vertices; i++) {
        const double *x = c->x + 3 * (int64_t)i;
        double height = n[0] * (x[0] - a[0]) + n[1] * (x[1] - a[1]) + n[2] * (x[2] - a[2]);
        count += height < -BELOW * length;
    }
    return count;
}

/* Brings the colliders to where they are in the frame of this number. */
static void place_colliders(check *c, int64_t number) {
    const drape_scene *scene = drape_loaded_scene_data(c->scene);
    c->below = 0;
    if (!scene) return;
    double time = (double)number * scene->steps_per_frame * scene->step;
    const drape_frame_mesh *mesh = drape_collider_meshes_at(c->colliders, time);
    for (int32_t k = 0; k < c->other_count; k++)
        if (c->other[k].collider >= 0) c->others[k] = mesh[c->other[k].collider].positions;
    for (int32_t i = 0; i < scene->collider_count; i++)
        if (scene->colliders[i].shape == DRAPE_COLLIDER_PLANE) c->below += count_below(c, mesh[i].positions);
}

/* ---- Stitches: triangles that they join are neighbours, as if they had a vertex in common ---- */

static bool has_vertex(const cloth_mesh *cloth, int32_t triangle, const drape_cloth_point *p) {
    for (int32_t k = 0; k < 3; k++)
        for (int32_t a = 0; a < p->count; a++)
            if (cloth->triangle[3 * (int64_t)triangle + k] == p->vertex[a]) return true;
    return false;
}

static bool are_stitched(const check *c, const drape_scene *scene, const drape_crossing *x) {
    const cloth_mesh *m = &c->cloth;
    if (x->body[0] != 0 || x->body[1] != 0) return false;
    for (int32_t i = 0; i < scene->stitch_count; i++) {
        const drape_stitch *s = &scene->stitches[i];
        for (int k = 0; k < 2; k++)
            if (has_vertex(m, x->triangle[k], &s->a) && has_vertex(m, x->triangle[1 - k], &s->b)) return true;
    }
    return false;
}

static bool leave_out_stitched(check *c, drape_crossings_result *r) {
    const drape_scene *scene = c->scene ? drape_loaded_scene_data(c->scene) : NULL;
    int64_t kept = 0;
    if (!scene || scene->stitch_count == 0) return true;
    if (r->count > c->kept_room) {
        free(c->kept);
        c->kept_room = r->count;
        c->kept = malloc((size_t)r->count * sizeof *c->kept);
        if (!c->kept) return no_memory();
    }
    for (int64_t i = 0; i < r->count; i++) {
        const drape_crossing *x = &r->crossings[i];
        if (!are_stitched(c, scene, x)) c->kept[kept++] = *x;
        else if (x->kind == DRAPE_CROSSING_EDGE) r->self.edges--;
        else if (x->kind == DRAPE_CROSSING_TRIANGLES) r->self.triangles--;
        else r->self.touches--;
    }
    r->count = kept;
    r->crossings = c->kept;
    return true;
}

/* False after a complaint: what could not be read or counted. */
static bool check_frame(check *c, int32_t frame) {
    int64_t number = drape_reader_number(c->reader, frame);
    drape_crossings_result found;
    if (drape_reader_frame(c->reader, frame, c->x)) {
        if (c->json) json_end(c, drape_message(c->ctx));
        return say_message(c);
    }
    place_colliders(c, number);
    if (drape_crossings_count(c->search, c->x, c->others, &found)) {
        char error[1200];
        snprintf(error, sizeof error, "%s: frame %lld: %s", c->file, (long long)number, drape_message(c->ctx));
        if (c->json) json_end(c, error);
        complain("%s", error);
        return false;
    }
    if (!leave_out_stitched(c, &found)) return false;
    if (c->json) json_frame(c, number, &found);
    else print_frame(c, number, &found);
    c->printed += c->json || is_bad(c, &found) || (c->all && found.count > 0);
    add_frame(c, number, &found);
    return true;
}

static int check_all_frames(check *c) {
    int32_t frames = drape_reader_describe(c->reader)->frames;
    if (c->json) json_begin(c);
    for (int32_t f = 0; f < frames; f++)
        if (!check_frame(c, f)) return EXIT_BAD_INPUT;
    if (c->json) json_end(c, NULL);
    else print_totals(c);
    return c->total.bad_frames > 0 ? EXIT_CROSSINGS : EXIT_GOOD;
}

static int run_check(check *c, const scene_arguments *scene, const char *mesh) {
    int code = EXIT_BAD_INPUT;
    c->ctx = make_context(scene->threads, false);
    if (!c->ctx) return code;
    if (drape_reader_open(c->ctx, c->file, &(drape_reader_options){.mesh = mesh}, &c->reader)) say_message(c);
    else if (take_cloth(c, scene) && start_search(c)) code = check_all_frames(c);
    for (int32_t k = 0; k < c->other_count; k++) free(c->other[k].triangle);
    free(c->other), free(c->others), free(c->x), free(c->cloth.owned), free(c->kept);
    drape_crossings_destroy(c->search);
    drape_reader_close(c->reader);
    drape_collider_meshes_destroy(c->colliders);
    drape_loaded_scene_destroy(c->scene);
    drape_context_destroy(c->ctx);
    return code;
}

int command_check_frames(int argc, char **argv) {
    scene_arguments scene = {0};
    check c = {0};
    const char *mesh = NULL;
    option options[4 + SCENE_OPTIONS + 1] = {
        {"--scene", NULL, "SCENE", "the scene of the run; tests its cloth, also against its colliders", OPTION_TEXT,
         &scene.name, 0, 0},
        {"--mesh", NULL, "MESH", "a mesh file with the triangles, if FILE holds only positions", OPTION_TEXT, &mesh,
         0, 0},
        {"--all", NULL, NULL, "name all crossings and touches, not only the first ones", OPTION_FLAG, &c.all, 0, 0},
        {"--json", NULL, NULL, "print one JSON object, with all crossings and touches", OPTION_FLAG, &c.json, 0, 0},
    };
    option of_scene[SCENE_OPTIONS];
    scene_option_table(&scene, of_scene);
    for (int32_t i = 0, to = 4; i < SCENE_OPTIONS; i++) /* how it is stepped does not matter here */
        if (strcmp(of_scene[i].name, "--integrator") != 0) options[to++] = of_scene[i];
    command_line line = {
        .usage = "drape check-frames FILE [options]",
        .about = "Counts crossings in every frame of FILE, an output of a run (.obj, .ply, .pc2, .mdd or "
                 ".ckpt.frames): edges that pass\nthrough triangles, and pairs of triangles that cross. Touches are "
                 "counted separately. The arithmetic is exact.\nThe options from --set on apply to SCENE; use those "
                 "of the run. Exit code 0: no crossings, 1: crossings, 2: bad input.",
        .options = options,
        .positional = &c.file,
        .positional_count = 1};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (!c.file) {
        complain("no frames given (usage: %s)", line.usage);
        return EXIT_BAD_INPUT;
    }
    return run_check(&c, &scene, mesh);
}
