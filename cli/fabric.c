/* fabric.c: drape fabric fit: turns what a laboratory measured into a material block of a scene.
 *
 * A file of comma-separated lines `test,direction,x,y`; # begins a comment:
 *     weight                          x g/m^2
 *     cantilever, warp|weft|bias      x mm, the bending length (half the overhang at 41.5 degrees)
 *     tensile, warp|weft              x %, elongation; y N/m, force per width
 *     shear                           x degrees, angle; y N/m, force per length
 * Several lines of a weight or cantilever are readings, whose mean is taken. Several of tensile or shear are points
 * of a curve. The result is the line through the origin that is nearest to them; or two stiffnesses and a knee, where
 * four or more of them bend upwards (fabric_curve.c).
 *
 *     bend     B = w g c^3 with the weight w per area and the bending length c (ASTM D1388)
 *     twist    1/B_twist = 2/B_bias - (1/B_warp + 1/B_weft)/2   (docs/models.md)
 *     stretch  F = s(e), the tension at an elongation e
 *     shear    F = s(sin a) cos a: the energy is a function of sin a per area */
#include "cli.h"
#include "fabric_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double GRAVITY = 9.81, PI = 3.14159265358979323846;

enum { WARP, WEFT, BIAS, DIRECTIONS };
enum { MOST_LINE = 512 };

/* Sums over the readings of a test in a direction: of their values and squares. */
typedef struct sums {
    int32_t count;
    double x, xx;
} sums;

typedef struct measurements {
    sums weight, cantilever[DIRECTIONS];
    curve_points tensile[2], shear;
} measurements;

/* A number of the material and how well the measurements agree on it. */
typedef struct fitted {
    double value, residual; /* relative */
    int32_t count;          /* lines; 0: not measured */
} fitted;

/* ---- reading ---- */

static char *trim(char *text) {
    while (*text == ' ' || *text == '\t') text++;
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1])) text[--length] = 0;
    return text;
}

/* Cuts a line at its commas; absent fields are empty. False: more than four. */
static bool split(char *line, char *field[4]) {
    int32_t count = 0;
    for (char *at = line; at; count++) {
        char *comma = strchr(at, ',');
        if (comma) *comma = 0;
        if (count < 4) field[count] = trim(at);
        else if (*trim(at)) return false;
        at = comma ? comma + 1 : NULL;
    }
    while (count < 4) field[count++] = line + strlen(line);
    return true;
}

static bool read_positive(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == 0 && isfinite(*out) && *out > 0;
}

static int32_t find_direction(const char *name) {
    static const char *const names[DIRECTIONS] = {"warp", "weft", "bias"};
    for (int32_t i = 0; i < DIRECTIONS; i++)
        if (strcmp(name, names[i]) == 0) return i;
    return -1;
}

static void add_reading(sums *s, double x) { s->count++, s->x += x, s->xx += x * x; }

static const char *add_point(curve_points *to, double strain, double lever, double force) {
    if (to->count == MOST_POINTS) return "the test has more than 1000 points";
    to->point[to->count++] = (curve_point){strain, lever, force};
    return NULL;
}

/* One line; what is wrong with it, or NULL. */
static const char *read_line(char *const field[4], measurements *m) {
    const bool curve = strcmp(field[0], "tensile") == 0 || strcmp(field[0], "shear") == 0;
    const bool directed = strcmp(field[0], "tensile") == 0 || strcmp(field[0], "cantilever") == 0;
    const int32_t direction = find_direction(field[1]);
    double x, y = 0;
    if (!curve && !directed && strcmp(field[0], "weight") != 0)
        return "the test is none of weight, cantilever, tensile and shear";
    if (directed && direction < 0) return "the direction is none of warp, weft and bias";
    if (!directed && *field[1]) return "this test has no direction: leave the field empty";
    if (!read_positive(field[2], &x)) return "x is not a number above 0";
    if (curve && !read_positive(field[3], &y)) return "y is not a number above 0";
    if (!curve && *field[3]) return "this test has no y: leave the field empty";
    if (strcmp(field[0], "weight") == 0) add_reading(&m->weight, 1e-3 * x);
    else if (strcmp(field[0], "cantilever") == 0) add_reading(&m->cantilever[direction], 1e-3 * x);
    else if (strcmp(field[0], "shear") == 0) {
        if (x >= 45) return "the angle is 45 degrees or more";
        const double angle = x * PI / 180;
        return add_point(&m->shear, sin(angle), cos(angle), y);
    } else if (direction == BIAS) return "tensile tests go along warp or weft; on the bias, cloth shears";
    else return add_point(&m->tensile[direction], x / 100, 1, y);
    return NULL;
}

static bool read_file(const char *path, measurements *m) {
    char line[MOST_LINE];
    FILE *file = fopen(path, "r");
    bool good = file != NULL;
    if (!file) complain("%s: cannot open the file", path);
    for (int32_t number = 1; good && fgets(line, sizeof line, file); number++) {
        char *field[4] = {0}, *comment = strchr(line, '#');
        const char *wrong = NULL;
        if (!strchr(line, '\n') && !feof(file)) wrong = "the line is too long";
        if (comment) *comment = 0;
        if (!wrong && !*trim(line)) continue;
        if (!wrong && !split(line, field)) wrong = "there are more than four fields";
        if (!wrong && number == 1 && strcmp(field[0], "test") == 0) continue;
        if (!wrong) wrong = read_line(field, m);
        if (wrong) complain("%s:%d: %s", path, number, wrong), good = false;
    }
    if (good && ferror(file)) complain("%s: cannot read the file", path), good = false;
    if (file) fclose(file);
    return good;
}

/* ---- fitting ---- */

/* The mean of readings, and their standard deviation over it. */
static fitted mean_of(const sums *s) {
    if (s->count == 0) return (fitted){0};
    const double mean = s->x / s->count, square = fmax(s->xx / s->count - mean * mean, 0);
    return (fitted){mean, sqrt(square * s->count / fmax(s->count - 1, 1)) / mean, s->count};
}

/* B = w g c^3; three times the spread of c is that of B. */
static fitted rigidity_of(const sums *s, double weight) {
    fitted c = mean_of(s);
    return (fitted){weight * GRAVITY * c.value * c.value * c.value, 3 * c.residual, c.count};
}

/* Whether the cantilevers tell all three rigidities; false after a complaint where they contradict each other. */
static bool find_twist(const char *path, const fitted B[DIRECTIONS], double *twist) {
    const double weft = B[WEFT].count ? B[WEFT].value : B[WARP].value;
    const double mean = 0.5 * (1 / B[WARP].value + 1 / weft);
    *twist = sqrt(B[WARP].value * weft);
    if (B[BIAS].count == 0) return true;
    const double left = 2 / B[BIAS].value - mean;
    if (left > 0) {
        *twist = 1 / left;
        return true;
    }
    complain("%s: the cantilever on the bias is too stiff for those of warp and weft: %.3g N m, where twisting alone "
             "allows less than %.3g N m",
             path, B[BIAS].value, 2 / mean);
    return false;
}

static bool is_complete(const char *path, const measurements *m) {
    const bool cantilever = m->cantilever[WARP].count || m->cantilever[WEFT].count || m->cantilever[BIAS].count;
    if (cantilever && m->weight.count == 0)
        complain("%s: a cantilever needs a weight: add a line `weight,,150` in g/m^2", path);
    else if (cantilever && m->cantilever[WARP].count == 0)
        complain("%s: cantilevers need one along the warp: add a line `cantilever,warp,19` in mm", path);
    else if (m->tensile[WEFT].count && m->tensile[WARP].count == 0)
        complain("%s: a tensile test of the weft needs one of the warp", path);
    else if (!cantilever && m->weight.count + m->tensile[WARP].count + m->shear.count == 0)
        complain("%s: there is no measurement in the file", path);
    else return true;
    return false;
}

/* ---- telling ---- */

static void print_fit(FILE *to, const char *what, const fitted *f, const char *unit) {
    fprintf(to, "  # %s: %.4g %s, %d %s, ", what, f->value, unit, f->count, f->count == 1 ? "line" : "lines");
    if (f->count == 1) fprintf(to, "no residual\n");
    else fprintf(to, "residual %.2g %%\n", 100 * f->residual);
}

static void print_bend(FILE *to, const fitted B[DIRECTIONS], double twist) {
    static const char *const names[DIRECTIONS] = {"bend, warp", "bend, weft", "bend, bias"};
    for (int32_t i = 0; i < DIRECTIONS; i++)
        if (B[i].count) print_fit(to, names[i], &B[i], "N m");
    if (!B[WEFT].count && !B[BIAS].count) {
        fprintf(to, "  bend: %.4g N m\n", B[WARP].value);
        return;
    }
    if (!B[BIAS].count) fprintf(to, "  # twist: estimate, the geometric mean of warp and weft\n");
    fprintf(to, "  bend: [%.4g, %.4g, %.4g]   # N m: warp, weft, twist; with `bending: patch`\n", B[WARP].value,
            B[WEFT].count ? B[WEFT].value : B[WARP].value, twist);
}

static void print_curve_fit(FILE *to, const char *what, const fitted_curve *f) {
    print_fit(to, what, &(fitted){f->soft, f->residual, f->count}, "N/m");
}

/* Two numbers where the weft was measured too. */
static void print_threads(FILE *to, const char *key, double warp, double weft, bool both, const char *unit) {
    if (both) fprintf(to, "  %s: [%.4g%s, %.4g%s]\n", key, warp, unit, weft, unit);
    else fprintf(to, "  %s: %.4g%s\n", key, warp, unit);
}

static void print_stretch(FILE *to, const fitted_curve k[2]) {
    const bool both = k[WEFT].count > 0;
    print_curve_fit(to, "stretch, warp", &k[WARP]);
    if (both) print_curve_fit(to, "stretch, weft", &k[WEFT]);
    print_threads(to, "stretch", k[WARP].soft, k[WEFT].soft, both, " N/m");
    if (!(k[WARP].stiff > 0) && !(k[WEFT].stiff > 0)) return;
    print_threads(to, "stretch_stiff", k[WARP].stiff, k[WEFT].stiff, both, " N/m");
    print_threads(to, "stretch_knee", 100 * k[WARP].knee, 100 * k[WEFT].knee, both, " %");
}

static void print_shear(FILE *to, const fitted_curve *G) {
    print_curve_fit(to, "shear", G);
    fprintf(to, "  shear: %.4g N/m\n", G->soft);
    if (!(G->stiff > 0)) return;
    fprintf(to, "  shear_stiff: %.4g N/m\n  shear_knee: %.4g   # the sine of %.3g degrees\n", G->stiff, G->knee,
            asin(fmin(G->knee, 1)) * 180 / PI);
}

static void print_material(FILE *to, const measurements *m, const fitted B[DIRECTIONS], double twist,
                           const char *base) {
    const fitted weight = mean_of(&m->weight);
    const fitted_curve shear = fit_curve(&m->shear);
    const fitted_curve k[2] = {fit_curve(&m->tensile[WARP]), fit_curve(&m->tensile[WEFT])};
    fprintf(to, "material:\n  fabric: %s   # for what was not measured:%s%s%s%s damping\n", base,
            weight.count ? "" : " density,", k[WARP].count ? "" : " stretch,", shear.count ? "" : " shear,",
            B[WARP].count ? "" : " bend,");
    if (weight.count)
        print_fit(to, "density", &weight, "kg/m^2"), fprintf(to, "  density: %.4g kg/m^2\n", weight.value);
    if (k[WARP].count) print_stretch(to, k);
    if (shear.count) print_shear(to, &shear);
    if (B[WARP].count) print_bend(to, B, twist);
}

static int fit(const char *path, const char *base, const char *output) {
    static measurements m;
    fitted B[DIRECTIONS];
    double twist = 0;
    if (!can_write(output) || !read_file(path, &m) || !is_complete(path, &m)) return EXIT_BAD_INPUT;
    for (int32_t i = 0; i < DIRECTIONS; i++) B[i] = rigidity_of(&m.cantilever[i], mean_of(&m.weight).value);
    if (B[WARP].count && !find_twist(path, B, &twist)) return EXIT_BAD_INPUT;
    if (!output) {
        print_material(stdout, &m, B, twist, base);
        return EXIT_GOOD;
    }
    output_file file;
    if (!output_begin(&file, output)) return EXIT_RUN_FAILED;
    print_material(file.stream, &m, B, twist, base);
    return output_end(&file) ? EXIT_GOOD : EXIT_RUN_FAILED;
}

int command_fabric(int argc, char **argv) {
    const char *words[2] = {NULL, NULL}, *base = "cotton", *output = NULL;
    word_choice fabric = {.value = &base, .kind = WORDS_FABRICS};
    const option options[] = {{"--fabric", NULL, "NAME",
                               "the fabric that supplies what was not measured; default: cotton", OPTION_WORD,
                               &fabric, 0, 0},
                              {"--output", "-o", "FILE", "write the block to a file instead of standard output",
                               OPTION_TEXT, &output, 0, 0},
                              {0}};
    command_line line = {
        .usage = "drape fabric fit MEASUREMENTS.csv [options]",
        .about = "Turns measurements into a material block for a scene, with the residual of each fit. Lines of the "
                 "file are\n`test,direction,x,y`: weight (x in g/m^2), cantilever (warp, weft or bias; x the bending "
                 "length in mm),\ntensile (warp or weft; x the elongation in %, y N/m), shear (x the angle in "
                 "degrees, y N/m). docs/fabrics.md describes the file.",
        .options = options,
        .positional = words,
        .positional_count = 2};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (words[0] && strcmp(words[0], "fit") == 0 && words[1]) return fit(words[1], base, output);
    if (words[0] && strcmp(words[0], "fit") != 0) complain("drape fabric %s: unknown; there is `fit`", words[0]);
    else complain("no measurements given (usage: %s)", line.usage);
    return EXIT_BAD_INPUT;
}
