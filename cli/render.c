/* render.c: drape render: the frames of a run, or of a scene that is simulated first, as a picture or a film. */
#include "render.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OWN_OPTIONS = 12, MOST_PALETTE_FRAMES = 5 };

static const double MOST_GIF_FPS = 50;

typedef struct render {
    scene_arguments scene;
    frame_source source;
    picture_output output;
    drape_render_settings look;
    drape_renderer *renderer;
    const char *size, *view, *background, *range; /* as they were given */
    int32_t number;                               /* of --frame; -1: not given */
    double fps;                                   /* of --fps; 0: not given */
    int64_t from, to;                             /* numbers of the frames to be drawn */
    int32_t every;                                /* of them: 1, or more where a .gif cannot be so fast */
    int32_t first, last;                          /* frames of the source, counted from 0 */
    uint8_t *rgb;
    bool quiet;
} render;

/* ---- Signals ---- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number) {
    interrupted = 1;
    signal(signal_number, SIG_DFL); /* a second one ends the program at once */
}

static bool was_interrupted(void) { return interrupted != 0; }

static void watch_signals(void) {
    interrupted = 0;
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    signal(SIGPIPE, SIG_IGN); /* ffmpeg may end before us */
}

/* ---- Options ---- */

/* Two whole numbers with a sign between them: "960x540". */
static bool parse_size(render *r) {
    int width, height, used = 0;
    if (!r->size) return true;
    if (sscanf(r->size, "%5dx%5d%n", &width, &height, &used) == 2 && !r->size[used] && width > 0 && height > 0) {
        r->look.width = width;
        r->look.height = height;
        return true;
    }
    complain("--size %s: expected WIDTHxHEIGHT in pixels, such as 960x540", r->size);
    return false;
}

static bool parse_view(render *r) {
    char *end = NULL;
    if (!r->view) return true;
    r->look.azimuth = strtod(r->view, &end);
    bool good = end != r->view && *end == ',';
    const char *second = good ? end + 1 : r->view;
    if (good) r->look.elevation = strtod(second, &end);
    if (good && end != second && !*end && isfinite(r->look.azimuth) && fabs(r->look.elevation) <= 90) return true;
    complain("--view %s: expected AZIMUTH,ELEVATION in degrees, such as -58,24, with an elevation of -90 to 90",
             r->view);
    return false;
}

/* "f3f1ee", also with # before it; what follows, in *end. */
static bool parse_color(const char *text, double out[3], const char **end) {
    if (*text == '#') text++;
    for (int k = 0; k < 3; k++, text += 2) {
        char pair[3] = {text[0], text[0] ? text[1] : '\0', '\0'};
        char *behind;
        if (strspn(pair, "0123456789abcdefABCDEF") != 2) return false;
        out[k] = (double)strtol(pair, &behind, 16) / 255;
    }
    *end = text;
    return true;
}

static bool parse_background(render *r) {
    const char *at = r->background;
    if (!at) return true;
    bool good = parse_color(at, r->look.background[0], &at);
    memcpy(r->look.background[1], r->look.background[0], sizeof r->look.background[1]);
    if (good && *at == ',') good = parse_color(at + 1, r->look.background[1], &at);
    if (good && !*at) return true;
    complain("--background %s: expected a color RRGGBB, or two, for top and bottom, such as f3f1ee,d9d4cd",
             r->background);
    return false;
}

/* "A:B", both may be left out. */
static bool parse_range(render *r) {
    r->from = 0, r->to = INT64_MAX;
    if (r->number >= 0 && r->range) {
        complain("--frame and --frames: give only one of them");
        return false;
    }
    if (r->number >= 0) r->from = r->to = r->number;
    if (!r->range) return true;
    char *end;
    const char *colon = strchr(r->range, ':');
    errno = 0;
    bool good = colon != NULL;
    if (good && colon != r->range) r->from = strtoll(r->range, &end, 10), good = end == colon;
    if (good && colon[1]) r->to = strtoll(colon + 1, &end, 10), good = !*end;
    if (good && !errno && r->from >= 0 && r->from <= r->to) return true;
    complain("--frames %s: expected FIRST:LAST, one of which may be left out", r->range);
    return false;
}

static bool parse_look(render *r) {
    if (!parse_size(r) || !parse_view(r) || !parse_background(r) || !parse_range(r)) return false;
    if (r->fps < 0 || r->fps > 1000 || (r->fps > 0 && r->fps < 0.01)) {
        complain("--fps %g: it must be 0.01 to 1000 frames per second", r->fps);
        return false;
    }
    r->output.width = r->look.width;
    r->output.height = r->look.height;
    r->output.series = r->range != NULL;
    return true;
}

static parse_result parse(render *r, int argc, char **argv) {
    const char *words[2] = {NULL, NULL};
    option options[OWN_OPTIONS + SCENE_OPTIONS + 1] = {
        {"--scene", NULL, "SCENE", "the scene of the run that wrote FRAMES; draws its colliders too", OPTION_TEXT,
         &r->scene.name, 0, 0},
        {"--no-colliders", NULL, NULL, "leave the scene's colliders out", OPTION_FLAG, &r->source.no_colliders, 0, 0},
        {"--mesh", NULL, "MESH", "a mesh file with the triangles, if FRAMES holds only positions", OPTION_TEXT,
         &r->source.mesh_file, 0, 0},
        {"--size", NULL, "WxH", "pixels; default: 960x540", OPTION_TEXT, &r->size, 0, 0},
        {"--frame", NULL, "N", "draw this frame; default for .png: the last", OPTION_NUMBER, &r->number, 0,
         INT32_MAX},
        {"--frames", NULL, "A:B", "draw frames A to B, either may be left out; .png: one file each, OUT_0012.png",
         OPTION_TEXT, &r->range, 0, 0},
        {"--fps", NULL, "F", "frames per second; default: those of the run, or 25; fewer give slow motion",
         OPTION_REAL, &r->fps, 0, 0},
        {"--view", NULL, "A,E", "azimuth and elevation of the camera in degrees; default: -58,24", OPTION_TEXT,
         &r->view, 0, 0},
        {"--samples", NULL, "N", "per pixel: 1, 4, 9, 16, 25, 36, 49 or 64; default: 9", OPTION_NUMBER,
         &r->look.samples, 1, 64},
        {"--background", NULL, "COLOR", "RRGGBB, or two, TOP,BOTTOM; default: f3f1ee,dad5ce", OPTION_TEXT,
         &r->background, 0, 0},
        {"--no-floor", NULL, NULL, "no floor, and no shadow on it", OPTION_FLAG, &r->look.no_floor, 0, 0},
        {"--quiet", NULL, NULL, "print nothing", OPTION_FLAG, &r->quiet, 0, 0}};
    scene_option_table(&r->scene, options + OWN_OPTIONS);
    command_line line = {
        .usage = "drape render FRAMES|SCENE OUT.png|OUT.gif|OUT.mp4 [options]",
        .about =
            "Draws FRAMES, an output of a run (.obj, .ply, .pc2, .mdd or .ckpt.frames), or simulates SCENE and draws "
            "it: a picture\nof the last frame (.png), or a film of all (.gif, or .mp4 through ffmpeg). Needs no "
            "window and no graphics card.\nThe options from --set on apply to the scene; use those of the run.",
        .options = options,
        .positional = words,
        .positional_count = 2,
        .names = WORDS_SCENES};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed != PARSE_GOOD) return parsed;
    if (!words[1]) {
        complain("%s (usage: %s)", words[0] ? "no output given" : "no frames and no output given", line.usage);
        return PARSE_BAD;
    }
    r->source.name = words[0];
    r->output.path = words[1];
    return parse_look(r) ? PARSE_GOOD : PARSE_BAD;
}

/* ---- Which frames ---- */

/* Finds first and last; a .png without a choice is of the last frame. False after a complaint. */
static bool choose_frames(render *r) {
    const frame_source *s = &r->source;
    r->first = s->frames, r->last = -1;
    for (int32_t f = 0; f < s->frames; f++) {
        int64_t number = source_number(s, f);
        if (number < r->from || number > r->to) continue;
        if (r->first > f) r->first = f;
        r->last = f;
    }
    if (r->last < 0) {
        char one[24];
        snprintf(one, sizeof one, "%lld", (long long)r->from);
        complain("%s has frames %lld to %lld; there is nothing to draw for %s %s", s->name,
                 (long long)source_number(s, 0), (long long)source_number(s, s->frames - 1),
                 r->range ? "--frames" : "--frame", r->range ? r->range : one);
        return false;
    }
    if (r->output.kind == OUTPUT_PNG && !r->range) r->first = r->last;
    return true;
}

/* A .gif has at most 50 frames per second: where there are more, it takes each second, third, ... */
static void choose_rate(render *r) {
    double fps = r->fps > 0 ? r->fps : r->source.fps;
    r->every = r->output.kind == OUTPUT_GIF && fps > MOST_GIF_FPS ? (int32_t)ceil(fps / MOST_GIF_FPS) : 1;
    r->output.fps = fmax(fps / r->every, 0.01);
}

/* ---- Drawing ---- */

static bool say_message(const render *r) {
    complain("%s", *drape_message(r->source.ctx) ? drape_message(r->source.ctx) : "out of memory");
    return false;
}

static void show_progress(const render *r, const char *what, int32_t frame, int32_t frames) {
    if (r->quiet || !isatty(STDOUT_FILENO)) return;
    printf("\r%s frame %d of %d\x1b[K", what, frame, frames);
    fflush(stdout);
}

static void end_progress(const render *r) {
    if (!r->quiet && isatty(STDOUT_FILENO)) printf("\r\x1b[K");
}

/* Everything that is checked before the work begins; false after a complaint. */
static bool prepare(render *r) {
    frame_source *s = &r->source;
    if (!output_check(&r->output)) return false;
    s->scene = &r->scene;
    s->ctx = make_context(r->scene.threads, true);
    if (!s->ctx) return false;
    r->output.ctx = s->ctx;
    if (!source_open(s) || !choose_frames(r)) return false;
    choose_rate(r);
    drape_render_cloth cloth = {.vertices = s->cloth.vertices,
                                .triangles = s->cloth.triangles,
                                .triangle = s->cloth.triangle,
                                .piece_count = s->piece_count,
                                .piece_triangles = s->piece_triangles,
                                .piece_color = (const double(*)[3])s->piece_color};
    r->look.has_floor = s->has_floor;
    r->look.floor = s->floor;
    if (drape_renderer_create(s->ctx, &cloth, &r->look, &r->renderer)) return say_message(r);
    r->rgb = malloc(3 * (size_t)r->look.width * (size_t)r->look.height);
    if (!r->rgb) complain("out of memory");
    return r->rgb != NULL;
}

/* Lets the camera see every frame that will be drawn. */
static bool look_at_all(render *r) {
    drape_frame frame;
    for (int32_t f = r->first; f <= r->last && !interrupted; f++) {
        if (!source_take(&r->source, f, &frame)) return false;
        if (drape_renderer_include(r->renderer, &frame)) return say_message(r);
        show_progress(r, "reading", f - r->first + 1, r->last - r->first + 1);
    }
    return true;
}

static bool draw(render *r, int32_t f) {
    drape_frame frame;
    if (!source_take(&r->source, f, &frame)) return false;
    return drape_renderer_draw(r->renderer, &frame, r->rgb) ? say_message(r) : true;
}

/* A .gif has one palette: some frames from all over the film say what is in it. */
static bool draw_samples(render *r) {
    if (r->output.kind != OUTPUT_GIF) return true;
    for (int32_t k = 0; k < MOST_PALETTE_FRAMES && !interrupted; k++) {
        int32_t f = r->first + (int32_t)((int64_t)k * (r->last - r->first) / (MOST_PALETTE_FRAMES - 1));
        if (!draw(r, f) || !output_sample(&r->output, r->rgb)) return false;
    }
    return true;
}

static bool draw_all(render *r) {
    if (!draw_samples(r)) return false;
    for (int32_t f = r->first; f <= r->last && !interrupted; f += r->every) {
        if (!draw(r, f) || !output_frame(&r->output, source_number(&r->source, f), r->rgb)) return false;
        show_progress(r, "drawing", f - r->first + 1, r->last - r->first + 1);
    }
    return true;
}

static void say_what_was_made(const render *r, double seconds) {
    const picture_output *o = &r->output;
    int32_t count = (r->last - r->first) / r->every + 1;
    if (r->quiet) return;
    if (o->series)
        tell("wrote %lld pictures of %d x %d pixels, %.*s_%04lld.png and so on, in %.1f s\n", (long long)o->files,
             o->width, o->height, (int)(strlen(o->path) - 4), o->path, (long long)source_number(&r->source, r->first),
             seconds);
    else if (o->kind == OUTPUT_PNG)
        tell("wrote %s: frame %lld, %d x %d pixels, in %.1f s\n", o->path,
             (long long)source_number(&r->source, r->first), o->width, o->height, seconds);
    else
        tell("wrote %s: %d frames of %d x %d pixels, %.4g per second, in %.1f s\n", o->path, count, o->width,
             o->height, o->fps, seconds);
}

static int run(render *r) {
    double begin = seconds_now();
    watch_signals();
    if (!source_simulate(&r->source, r->last, was_interrupted))
        return interrupted ? EXIT_INTERRUPTED : EXIT_RUN_FAILED;
    if (!interrupted && !look_at_all(r)) return EXIT_BAD_INPUT;
    if (!interrupted && !output_open(&r->output)) return EXIT_BAD_INPUT;
    bool good = !interrupted && draw_all(r);
    end_progress(r);
    bool closed = output_close(&r->output, good && !interrupted);
    if (interrupted) {
        complain("interrupted");
        return EXIT_INTERRUPTED;
    }
    if (!good || !closed) return EXIT_RUN_FAILED;
    say_what_was_made(r, seconds_now() - begin);
    return EXIT_GOOD;
}

int command_render(int argc, char **argv) {
    render r = {.look = drape_render_defaults(), .number = -1};
    parse_result parsed = parse(&r, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    int code = prepare(&r) ? run(&r) : EXIT_BAD_INPUT;
    drape_renderer_destroy(r.renderer);
    source_close(&r.source);
    drape_context_destroy(r.source.ctx);
    free(r.rgb);
    return code;
}
