/* render.h: the parts of drape render: where frames come from, and where pictures go. */
#ifndef DRAPE_CLI_RENDER_H
#define DRAPE_CLI_RENDER_H

#include "cli.h"

/* ---- render_source.c: frames, of files or of a scene that is simulated first ---- */

typedef struct frame_source {
    const char *name;       /* what was asked for: a file of frames or a scene */
    const char *mesh_file;  /* with the triangles; NULL: not named */
    scene_arguments *scene; /* its name is NULL if there is none */
    bool no_colliders;
    drape_context *ctx;
    drape_reader *reader; /* NULL: a scene is simulated */
    drape_loaded_scene *loaded;
    drape_collider_meshes *colliders;
    drape_frame_mesh *shown; /* those of the last frame that are drawn as they are, and how they look */
    const drape_appearance **shown_look;
    bool has_floor; /* one of them, a horizontal plane at rest, is the floor */
    double floor;   /* m, its height */
    drape_sim *sim;
    FILE *kept; /* positions of the frames that were simulated, one after the other */
    cloth_mesh cloth;
    int32_t *piece_triangles; /* of a scene; NULL: not known */
    double (*piece_color)[3]; /* likewise; red -1: none was named */
    int32_t piece_count;
    int32_t vertices; /* of each frame, including those after the cloth */
    int32_t frames;   /* those of the file, or as many as the scene has */
    double fps;       /* of the run; 25 if unknown */
    double *x;        /* of the frame that was taken last */
} frame_source;

/* Whether this is a scene, not frames. */
bool source_is_scene(const char *name);
/* Reads what there is, and simulates nothing. False after a complaint, as are the next two. */
bool source_open(frame_source *s);
/* If the source is a scene: simulates up to this frame. */
bool source_simulate(frame_source *s, int32_t last, bool (*stop)(void));
/* A frame with colliders, counted from 0; valid until the next one is taken. */
bool source_take(frame_source *s, int32_t frame, drape_frame *out);
/* The number that a frame has within its run. */
int64_t source_number(const frame_source *s, int32_t frame);
void source_close(frame_source *s);

/* ---- render_output.c: pictures and films ---- */

typedef enum output_kind { OUTPUT_PNG, OUTPUT_GIF, OUTPUT_MP4, OUTPUT_KINDS } output_kind;

typedef struct picture_output {
    drape_context *ctx;
    const char *path;
    output_kind kind;
    bool series; /* of .png: a file per frame, NAME_0012.png */
    int32_t width, height;
    double fps;
    int64_t files; /* that are in their places */
    drape_gif *gif;
    output_file file; /* that the other program writes for us */
    FILE *pipe;       /* to it */
    long child;       /* its process; 0: none */
} picture_output;

/* Whether pictures can go there, before there are any: kind, size, folder, other programs. False after a complaint,
 * as are all of these. */
bool output_check(picture_output *o);
bool output_open(picture_output *o);
/* A picture that will be in it, before the first frame: for the palette of a .gif. */
bool output_sample(picture_output *o, const uint8_t *rgb);
bool output_frame(picture_output *o, int64_t number, const uint8_t *rgb);
/* Puts the file in its place; with `keep` false it is removed. */
bool output_close(picture_output *o, bool keep);

#endif
