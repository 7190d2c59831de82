/* scene_reader.h: what the files that read a scene share. docs/scenes.md lists the keys. */
#ifndef DRAPE_IO_SCENE_READER_H
#define DRAPE_IO_SCENE_READER_H

#include "cloth/grid.h"
#include "drape/io.h"
#include "io/appearance.h"
#include "io/mesh_part.h"
#include "io/quantity.h"
#include "io/yaml.h"

enum { DRAPE_I_MOST_NAMES = 32 };                                      /* of a table of names */
enum { DRAPE_I_LEAST_RESOLUTION = 2, DRAPE_I_MOST_RESOLUTION = 8192 }; /* of a grid, vertices along a side */
enum { DRAPE_I_MOST_VERTICES = 1 << 26 };                              /* of all grids: one of 8192 by 8192 */

/* ---- A part of a scene ----
 *
 * Of grids only windows may be read. The vertices that are there have consecutive numbers, in their order.
 * Everything else that the scene holds is as large as it would be; pins and loads hold those vertices only. Pieces
 * that need all of their vertices are read as they are: panels, meshes that are refined, sewn or have buttons or
 * bands, and mesh files with anything odd (mesh_part.h). So are pieces with a pin
 * or load that names the nearest vertices, moves with frames or turns about its own middle. So is everything in
 * scenes with `start`, `stitches` or `attach`. */

/* One per piece; those of other pieces do not matter. Pieces beyond the last get an empty window. */
typedef struct drape_i_windows {
    const drape_i_window *window;
    int32_t count;
    drape_i_irregular_plan *plan;      /* likewise one per piece, */
    const drape_i_mesh_choice *choice; /*   of which one has a window and the other has this */
    /* drape_i_irregular_window and drape_i_mesh_read_part, which only programs that read parts are linked with.
     * mesh NULL: meshes are read as they are. */
    drape_status (*irregular)(drape_context *ctx, uint64_t seed, bool tube, drape_i_irregular_plan *plan,
                              drape_i_grid *grid);
    drape_status (*mesh)(drape_context *ctx, drape_i_arena *arena, const char *path,
                         const drape_i_mesh_choice *choice, drape_i_mesh_part **part, drape_i_mesh *out);
    bool *divides; /* becomes true where it is called; NULL without */
} drape_i_windows;

/* A piece in the numbers of the whole scene. */
typedef struct drape_i_whole_piece {
    int32_t first, vertices;
    const drape_i_grid *grid;      /* a window of it was read, */
    const drape_i_mesh_part *mesh; /*   or a part of a mesh; both NULL: the piece is here as it is */
    bool tube;
} drape_i_whole_piece;

/* What a pin or a load picked. Whether it is nothing in the whole scene, parts do not know. */
typedef struct drape_i_pick {
    const drape_i_node *node;
    int32_t count;
    const struct drape_i_pick *before;
} drape_i_pick;

typedef struct drape_i_scene_parts {
    int32_t vertices;           /* of the whole scene */
    drape_i_whole_piece *piece; /* one per piece */
    int32_t *number;            /* of each vertex that was read: its number in the whole scene. NULL: the same */
    const drape_i_pick *last_pick;
    int32_t picks;
} drape_i_scene_parts;

/* A scene and the memory of everything in it. */
struct drape_loaded_scene {
    drape_context *ctx;
    drape_scene scene;
    drape_i_arena arena;
    const drape_i_node **piece_node, **collider_node; /* where each is, for findings about it */
    const drape_i_node *stitch_node, *attach_node;    /* the first entry of each list; NULL: there is none */
    const char **file;                                /* that were read */
    int32_t files;
    drape_i_scene_parts parts; /* what there is beside what was read */
};

/* What a piece was made from, for pins and loads that name places. */
typedef struct drape_i_shape {
    int32_t first_vertex, vertices;
    int32_t all; /* vertices of the piece; more than `vertices` where a window was read */
    bool tube;
    const drape_i_window *window;    /* NULL: all of the piece */
    drape_i_irregular_plan *plan;    /* NULL with an empty window */
    const double *position;          /* placed, 3 per vertex; NULL: something was wrong with it */
    const drape_i_grid *grid;        /* NULL: a mesh file */
    const struct drape_i_mesh *mesh; /* NULL: a grid */
    const drape_i_mesh_part *part;   /* of the mesh; NULL: all of it */
    const char *file;                /* of the mesh; NULL: a grid */
    double uv_unit;                  /* m: what 1 of its pattern, as the grid or the file has it, is in the piece */
} drape_i_shape;

/* The file of an image. */
typedef struct drape_i_image_read {
    const char *name; /* in the scene */
    drape_i_image kind;
    const void *data;
    int64_t bytes;
    struct drape_i_image_read *before;
} drape_i_image_read;

/* Gets more of a scene than whether it is good: used by the doctor. */
typedef struct drape_i_scene_listener {
    void *user;
    /* After reading, in the order of the file; NULL with how many more there are than are kept. */
    void (*problem)(void *user, const drape_i_problem *problem, int32_t more);
    /* Problems of a mesh file, as many as there are; place: its name in the scene. */
    void (*mesh_problem)(void *user, const drape_i_node *place, const char *mesh, int64_t line, const char *code,
                         const char *what);
    /* A piece in its place, also where its mesh file has problems; mesh: the file, or NULL for a grid. */
    void (*piece)(void *user, const drape_i_node *place, const char *mesh, const drape_piece *piece);
} drape_i_scene_listener;

/* drape_scene_load with a listener, which may be NULL. With one, a mesh file's problems and vertices without a
 * triangle are only reported, and *out may be a scene that no simulation accepts. */
drape_status drape_i_scene_load(drape_context *ctx, const char *name, const drape_scene_options *options,
                                const drape_i_scene_listener *listener, drape_loaded_scene **out);
/* drape_scene_load of a part; (*out)->parts tells which. */
drape_status drape_i_scene_load_part(drape_context *ctx, const char *name, const drape_scene_options *options,
                                     const drape_i_windows *windows, drape_loaded_scene **out);

/* Stitches of the seams of a piece. */
typedef struct drape_i_seam_stitches {
    drape_stitch *stitch;
    int32_t count;
    struct drape_i_seam_stitches *before;
} drape_i_seam_stitches;

typedef struct drape_i_scene_reader {
    drape_context *ctx;
    const drape_i_scene_listener *listener; /* or NULL */
    drape_loaded_scene *out;
    drape_i_problems problems;
    const drape_scene_options *options;
    const char *path;               /* of the scene file; mesh files are looked for beside it */
    drape_i_shape *shapes;          /* one per piece */
    int32_t vertices;               /* of all pieces so far */
    const drape_i_windows *windows; /* NULL: everything is read */
    bool y_up;
    bool *picked;            /* scratch of scene_pins.c, one per vertex, all false between its uses */
    int32_t *picked_list;    /* as many */
    int64_t visits, entries; /* vertices that pins and loads looked at, and that they hold */
    struct drape_i_file_read {
        const char *path;
        struct drape_i_file_read *before;
    } * last_file; /* read so far */
    int32_t files;
    struct drape_i_frames_read *frames_read; /* that pins follow, the last one first */
    drape_i_image_read *images;              /* that pieces show, likewise */
    int64_t image_bytes;                     /* of all of them */
    drape_i_seam_stitches *seam_stitches;    /* of seams that are drawn together, those of the last piece first */
} drape_i_scene_reader;

typedef drape_i_scene_reader reader_t;

#define DRAPE_I_SCENE_FRICTION 0.3 /* of pieces and colliders that give none: cotton on wood */

/* ---- scene_fields.c: values of keys, each checked; problems are noted and reading continues ---- */

typedef struct drape_i_range {
    double low, high;
    bool above; /* low itself is not allowed */
} drape_i_range;

#define DRAPE_I_ANY          ((drape_i_range){-1e12, 1e12, false})
#define DRAPE_I_NOT_NEGATIVE ((drape_i_range){0, 1e12, false})
#define DRAPE_I_POSITIVE     ((drape_i_range){0, 1e12, true})

/* A map all of whose keys are in the list (NULL at its end); false with a problem where node is no map. */
bool drape_i_read_map(reader_t *r, const drape_i_node *node, const char *const *keys);
/* These leave *out alone and give false where the key is absent or wrong (then there is a problem too). */
bool drape_i_read_number(reader_t *r, const drape_i_node *map, const char *key, drape_i_dimension dimension,
                         drape_i_range range, double *out);
bool drape_i_read_whole(reader_t *r, const drape_i_node *map, const char *key, int32_t low, int32_t high,
                        int32_t *out);
/* A warning to the log, with the place of the node: something that is allowed, and hardly meant. */
void drape_i_warn_at(const reader_t *r, const drape_i_node *node, const char *format, ...) DRAPE_PRINTF(3, 4);
/* The `name` of an entry of a list. A name that one of the `count` entries before it has is a problem; without a name
 * it is the usual one, or that with a number: "cloth-2". */
const char *drape_i_read_unique_name(reader_t *r, const drape_i_node *entry, const char *usual,
                                     const char *const *before, int32_t count);
bool drape_i_read_truth(reader_t *r, const drape_i_node *map, const char *key, bool *out);
bool drape_i_read_text(reader_t *r, const drape_i_node *map, const char *key, const char **out);
bool drape_i_read_vector(reader_t *r, const drape_i_node *map, const char *key, drape_i_dimension dimension,
                         drape_i_range range, double out[3]);
/* The same of a node that was found already. */
bool drape_i_node_number(reader_t *r, const drape_i_node *node, drape_i_dimension dimension, drape_i_range range,
                         double *out);
bool drape_i_node_whole(reader_t *r, const drape_i_node *node, int32_t low, int32_t high, int32_t *out);
bool drape_i_node_vector(reader_t *r, const drape_i_node *node, drape_i_dimension dimension, drape_i_range range,
                         double out[3]);
/* The key `up` of a map: y or z. */
void drape_i_read_up(reader_t *r, const drape_i_node *map, bool *y_up);
/* Positions, velocities and directions of a scene with `up: y` are turned so that z is up. */
void drape_i_turn_up(const reader_t *r, double v[3]);
/* The entry of a list (NULL at its end) that is most similar to a word, or NULL. */
const char *drape_i_nearest(const char *word, const char *const *list);
/* "a, b, c" of such a list, cut to size. */
void drape_i_join(const char *const *list, char *out, size_t size);
void *drape_i_scene_get(reader_t *r, int64_t count, size_t size); /* memory; NULL is noted */
/* Notes the context's message as a problem at node (lack of memory without a place); always false. */
bool drape_i_scene_failed(reader_t *r, const drape_i_node *node, drape_status status);
/* The same for a file that the scene names: the problem also says what to do about it. */
bool drape_i_scene_file_failed(reader_t *r, const drape_i_node *node, drape_status status);

/* Names of files in a scene. */

/* Whether a name starts at the root or has ".." in it. */
bool drape_i_path_climbs(const char *path);
/* Whether there is a file of this name, and it lies elsewhere than in the scene's folder or below, by way of a link.
 */
bool drape_i_path_leads_out(reader_t *r, const char *path);
/* Whether there is a folder for an output of this name, and it is neither the present one nor below that, by way of a
 * link. */
bool drape_i_output_leads_out(reader_t *r, const char *path);
/* Remembers a file that is read, for drape_loaded_scene_file. */
void drape_i_note_file(reader_t *r, const char *path);

/* ---- scene_cloth.c: what colliders have in common with pieces ---- */

typedef struct drape_i_placement {
    double scale, rotate[3], translate[3]; /* -, deg about x, then y, then z, m */
} drape_i_placement;

drape_i_placement drape_i_read_place(reader_t *r, const drape_i_node *piece); /* its key `place` */
/* The same without turning `up: y` to z. */
void drape_i_move_points(const drape_i_placement *p, int64_t count, double *points);
void drape_i_place_points(const reader_t *r, const drape_i_placement *p, int64_t count, double *points);
/* The path of a file that a scene names: relative to the scene file. Unless the caller trusts the scene, its name may
 * not lead out of the folder with ".." or by a link, nor start at the root. NULL after a problem. */
const char *drape_i_path_beside(reader_t *r, const drape_i_node *node);
void drape_i_read_unit(reader_t *r, const drape_i_node *map, double *out); /* its key `unit` */
/* From the file's axes to the scene's: one of the two has y up, the other z. */
void drape_i_turn_axes(bool file_y_up, int64_t count, double *points);

/* ---- scene_frames.c: positions from frame to frame ---- */

typedef struct drape_i_frame_source {
    const drape_i_node *file, *mesh; /* their names in the scene; mesh may be NULL */
    double unit;
    bool y_up;
    double start, fps; /* s, 1/s */
} drape_i_frame_source;

typedef struct drape_i_frames {
    int32_t vertices, triangles, frames; /* triangles 0: the file holds positions only */
    const int32_t *triangle;             /* 3 per triangle */
    double *time;                        /* s, one per frame */
    double *x;                           /* m, 3 doubles per vertex and frame, in the axes of the scene file */
} drape_i_frames;

/* The frames of a file. */
typedef struct drape_i_frames_read {
    const char *name; /* in the scene */
    drape_i_frames frames;
    struct drape_i_frames_read *before;
} drape_i_frames_read;

/* Whether a node is a word, after a problem if it is not: "mesh: expected the name of ...". */
bool drape_i_is_file_name(reader_t *r, const drape_i_node *node, const char *wanted);
/* The defaults, and the keys unit and up of the map. */
void drape_i_frame_source_begin(reader_t *r, const drape_i_node *map, drape_i_frame_source *out);
/* Its keys file, fps and start; false after a problem with the file. */
bool drape_i_read_frame_source(reader_t *r, const drape_i_node *map, drape_i_frame_source *out);
/* From units and axes of the file to metres and the axes of the scene file. */
void drape_i_frame_source_scale(const reader_t *r, const drape_i_frame_source *from, int64_t count, double *points);
/* `count` frames from `first` on, or as many as there are; 0: all. False after a problem. */
bool drape_i_read_frames(reader_t *r, const drape_i_frame_source *from, int32_t first, int32_t count,
                         drape_i_frames *out);
/* `frames` of a pin's `move`; after its vertices are there. */
void drape_i_read_followed_frames(reader_t *r, const drape_i_node *map, int32_t piece, drape_pin *pin);
/* `start` of a scene; after the pieces, before the pins. */
void drape_i_read_start(reader_t *r, const drape_i_node *root);

/* ---- scene_pins.c ---- */

/* Whether a pin or a load of the piece depends on vertices that it does not hold. */
bool drape_i_picks_need_piece(const drape_i_node *piece);
/* False, after a problem, where this many more vertices are more than a scene may go through. */
bool drape_i_may_visit(reader_t *r, const drape_i_node *node, int64_t vertices);
#define DRAPE_I_PICK_KEYS "where", "at", "vertices", "box", "group", "nearest"
/* Vertices (numbered over all pieces) that the keys of the map pick, each once. */
int32_t drape_i_pick_vertices(reader_t *r, const drape_i_node *map, int32_t piece, const int32_t **out);
/* One to three; 3 where node is NULL. */
void drape_i_read_directions(reader_t *r, const drape_i_node *node, int32_t *directions, double direction[3][3]);

/* ---- scene_appearance.c ---- */

/* The keys color and texture of a piece that is in its place; those with a problem are left out. */
void drape_i_read_piece_appearance(reader_t *r, const drape_i_node *node, const drape_i_shape *shape,
                                   drape_piece *piece);
void drape_i_read_collider_appearance(reader_t *r, const drape_i_node *node, drape_collider *collider);

/* ---- scene_load.c ---- */

/* A word that must be in a table of names; false where it is not, after a problem. */
bool drape_i_read_name(reader_t *r, const drape_i_node *map, const char *key, const char *(*name)(int32_t),
                       const char **out);
/* The same, for what is known by its index in the table; it stays where there is no such key. */
bool drape_i_read_index(reader_t *r, const drape_i_node *map, const char *key, const char *(*name)(int32_t),
                        int32_t *out);

/* ---- the parts of a scene ---- */

void drape_i_read_pieces(reader_t *r, const drape_i_node *root);                        /* scene_cloth.c */
bool drape_i_read_material(reader_t *r, const drape_i_node *node, drape_material *out); /* scene_material.c */
void drape_i_read_colliders(reader_t *r, const drape_i_node *root);                     /* scene_colliders.c */
void drape_i_read_integrator(reader_t *r, const drape_i_node *root);                    /* scene_integrator.c */
void drape_i_read_pins(reader_t *r, const drape_i_node *cloth);       /* scene_pins.c; after all pieces are there */
void drape_i_read_loads(reader_t *r, const drape_i_node *cloth);      /* scene_pins.c */
void drape_i_read_stitches(reader_t *r, const drape_i_node *root);    /* scene_stitches.c; after pieces and start */
void drape_i_read_attachments(reader_t *r, const drape_i_node *root); /* scene_stitches.c; after colliders */

#endif
