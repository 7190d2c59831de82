/* run_names.c: the files of a run must not eat each other: all that it writes are held against each other and against
 * all that it reads, before anything starts. And what a run that was killed left of the same names goes. */
#define _DEFAULT_SOURCE /* realpath, flock */
#include "run.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OF_OUTPUT = 5, MOST_WRITTEN = MOST_OF_OUTPUT * MOST_OUTPUTS + 8 };

/* A file that the run writes or reads. */
typedef struct run_file {
    const char *role; /* "--report": for messages */
    const char *name; /* as it was given, or made from that */
    char *place;      /* its folder, without links, and its name */
    char *target;     /* where a link of that name leads; NULL: nothing is there */
} run_file;

typedef struct name_list {
    run_file written[MOST_WRITTEN];
    int32_t count;
    char *made[MOST_OF_OUTPUT * MOST_OUTPUTS + 4]; /* names that were put together */
    int32_t made_count;
    bool bad;
} name_list;

/* The name in its folder, with the folder's links resolved; NULL: there is no such folder, or no memory. */
static char *place_of(const char *name) {
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    char *folder = slash ? strndup(name, (size_t)(slash - name) + 1) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL;
    size_t room = real ? strlen(real) + strlen(last) + 2 : 0;
    char *place = real ? malloc(room) : NULL;
    if (place) snprintf(place, room, "%s/%s", real, last);
    free(folder);
    free(real);
    return place;
}

static run_file look_at(const char *role, const char *name) {
    return (run_file){.role = role, .name = name, .place = place_of(name), .target = realpath(name, NULL)};
}

static void forget(run_file *f) {
    free(f->place);
    free(f->target);
}

/* Whether `name` is `pattern`, whose last `*`, if any, stands for the digits of a number. */
static bool matches(const char *pattern, bool numbered, const char *name) {
    const char *star = numbered ? strrchr(pattern, '*') : NULL;
    if (!star) return strcmp(pattern, name) == 0;
    size_t before = (size_t)(star - pattern);
    if (strncmp(pattern, name, before) != 0 || !isdigit((unsigned char)name[before])) return false;
    for (name += before; isdigit((unsigned char)*name);) name++;
    return strcmp(star + 1, name) == 0;
}

static bool same(const char *a, bool a_numbered, const char *b, bool b_numbered) {
    if (!a || !b) return false;
    return matches(a, a_numbered, b) || matches(b, b_numbered, a) || strcmp(a, b) == 0;
}

static const char OUTPUT[] = "output", BESIDE[] = "the mesh beside an output",
                  LOOKS[] = "colors or images of an output";

/* Whether a `*` in its name stands for a number. */
static bool is_numbered(const run_file *f) { return f->role == OUTPUT || f->role == LOOKS; }

/* By their names, or by where links lead. */
static bool same_file(const run_file *a, const run_file *b) {
    bool an = is_numbered(a), bn = is_numbered(b);
    return same(a->place, an, b->place, bn) || same(a->place, an, b->target, false) ||
           same(a->target, false, b->place, bn) || same(a->target, false, b->target, false);
}

/* False after a complaint. The meshes beside two caches are the same, and so are the images of two outputs. */
static bool apart(const run_file *written, const run_file *other, const char *does) {
    bool alike = written->role == other->role && (written->role == BESIDE || written->role == LOOKS);
    if (alike || !same_file(written, other)) return true;
    complain("%s (%s) is also the file that %s (%s) %s; choose another name", written->name, written->role,
             other->name, other->role, does);
    return false;
}

/* One more file that is written; NULL: none. */
static void add(name_list *l, const char *role, const char *name) {
    if (!name || l->bad) return;
    run_file f = look_at(role, name);
    for (int32_t i = 0; i < l->count && !l->bad; i++) l->bad = !apart(&f, &l->written[i], "writes");
    l->written[l->count++] = f;
}

static char *make_name(name_list *l, size_t room) {
    char *name = malloc(room);
    if (name) l->made[l->made_count++] = name;
    else complain("out of memory");
    l->bad = l->bad || !name;
    return name;
}

static void add_output(name_list *l, const drape_scene *scene, const char *output) {
    size_t length;
    for (int32_t k = 0; (length = drape_writer_makes(output, k, NULL, 0)) > 0 && !l->bad; k++) {
        char *name = make_name(l, length + 1);
        if (name) drape_writer_makes(output, k, name, length + 1);
        add(l, k == 0 ? OUTPUT : BESIDE, name);
    }
    for (int32_t k = 0; (length = drape_writer_makes_besides(output, scene, k, NULL, 0)) > 0 && !l->bad; k++) {
        char *name = make_name(l, length + 1);
        if (name) drape_writer_makes_besides(output, scene, k, name, length + 1);
        add(l, LOOKS, name);
    }
}

char *run_page_name(const char *scene) {
    const char *slash = strrchr(scene, '/'), *name = slash ? slash + 1 : scene, *dot = strrchr(name, '.');
    int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    if (strcmp(scene, "-") == 0) name = "scene", length = (int)strlen(name);
    size_t room = (size_t)length + sizeof ".html";
    char *page = malloc(room);
    if (page) snprintf(page, room, "%.*s.html", length, name);
    return page;
}

/* "a_0000.obj to a_0012.obj", or the name as it is. */
static void tell_numbered(const char *pattern, bool numbered, int32_t last) {
    const char *star = numbered ? strrchr(pattern, '*') : NULL;
    int before = star ? (int)(star - pattern) : 0;
    if (!star) tell("%s", pattern);
    else tell("%.*s%04d%s", before, pattern, 0, star + 1);
    if (star && last > 0) tell(" to %.*s%04d%s", before, pattern, last, star + 1);
}

void run_list_files(const run *r) {
    for (int32_t i = 0; i < r->output_count; i++) {
        size_t length;
        for (int32_t k = 0; (length = drape_writer_makes(r->outputs[i], k, NULL, 0)) > 0; k++) {
            char *name = malloc(length + 1);
            if (!name) continue;
            drape_writer_makes(r->outputs[i], k, name, length + 1);
            tell("%s", k == 0 ? "wrote " : " and ");
            tell_numbered(name, k == 0 && strcmp(name, r->outputs[i]) != 0, r->frames_done);
            free(name);
        }
        for (int32_t k = 0; (length = drape_writer_makes_besides(r->outputs[i], r->scene, k, NULL, 0)) > 0; k++) {
            char *name = malloc(length + 1);
            if (!name) continue;
            drape_writer_makes_besides(r->outputs[i], r->scene, k, name, length + 1);
            tell(" and %s", name);
            free(name);
        }
        tell("\n");
    }
}

static void add_checkpoints(name_list *l, const char *path) {
    static const char *const endings[] = {"", ".1", ".frames"};
    for (size_t i = 0; path && i < sizeof endings / sizeof *endings && !l->bad; i++) {
        size_t room = strlen(path) + strlen(endings[i]) + 1;
        char *name = make_name(l, room);
        if (name) snprintf(name, room, "%s%s", path, endings[i]);
        add(l, "checkpoint", name);
    }
}

static void hold_against(name_list *l, const char *role, const char *input) {
    run_file read = look_at(role, input);
    for (int32_t i = 0; i < l->count && !l->bad; i++) l->bad = !apart(&l->written[i], &read, "reads");
    forget(&read);
}

static void list_written(const run *r, name_list *l) {
    for (int32_t i = 0; i < r->output_count; i++) add_output(l, r->scene, r->outputs[i]);
    add(l, "--report", r->options.report);
    add(l, "--export-system", r->options.export_path);
    add_checkpoints(l, r->checkpoint_path);
}

static void forget_all(name_list *l) {
    for (int32_t i = 0; i < l->count; i++) forget(&l->written[i]);
    for (int32_t i = 0; i < l->made_count; i++) free(l->made[i]);
}

bool run_check_names(const run *r) {
    name_list l = {0};
    list_written(r, &l);
    if (!l.bad && access(r->options.scene.name, F_OK) == 0) hold_against(&l, "the scene", r->options.scene.name);
    for (int32_t i = 0; !l.bad && drape_loaded_scene_file(r->loaded, i); i++)
        hold_against(&l, "the scene", drape_loaded_scene_file(r->loaded, i));
    forget_all(&l);
    return !l.bad;
}

/* ---- What a run that was killed left behind ---- */

/* Whether the text consists of the numbers of a process and of an attempt. */
static bool is_suffix(const char *text) {
    size_t process = strspn(text, "0123456789"),
           attempt = strspn(text + process + (text[process] == '-'), "0123456789");
    return process > 0 && text[process] == '-' && attempt > 0 && !text[process + 1 + attempt];
}

/* A run at work keeps its files locked, wherever it runs; one that was killed does not. The name goes while the lock
 * is held, so that a run which has just made the file, and not locked it yet, sees that it is gone. */
static bool remove_abandoned(const char *place) {
    struct stat info;
    int descriptor = open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return false;
    bool ours = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid();
    bool removed = ours && flock(descriptor, LOCK_EX | LOCK_NB) == 0 && unlink(place) == 0;
    close(descriptor);
    return removed;
}

static bool remove_leftover(const name_list *l, char *place) {
    static const char mark[] = ".part-";
    char *last = NULL;
    for (char *at = place; (at = strstr(at, mark)); at++) last = at;
    bool known = false;
    if (!last || !is_suffix(last + strlen(mark))) return false;
    *last = 0;
    for (int32_t i = 0; i < l->count && !known; i++)
        known = l->written[i].place && same(l->written[i].place, is_numbered(&l->written[i]), place, false);
    *last = '.';
    return known && remove_abandoned(place);
}

/* Of one folder, named with a slash at its end. */
static int32_t sweep(const name_list *l, const char *folder, size_t length) {
    int32_t removed = 0;
    char *name = strndup(folder, length);
    DIR *all = name ? opendir(name) : NULL;
    for (struct dirent *entry; all && (entry = readdir(all));) {
        size_t room = length + strlen(entry->d_name) + 1;
        char *place = strstr(entry->d_name, ".part-") ? malloc(room) : NULL;
        if (!place) continue;
        snprintf(place, room, "%.*s%s", (int)length, folder, entry->d_name);
        removed += remove_leftover(l, place);
        free(place);
    }
    if (all) closedir(all);
    free(name);
    return removed;
}

int32_t run_remove_leftovers(const run *r) {
    name_list l = {0};
    int32_t removed = 0;
    list_written(r, &l);
    for (int32_t i = 0; i < l.count; i++) {
        const char *place = l.written[i].place, *slash = place ? strrchr(place, '/') : NULL;
        bool seen = false;
        for (int32_t k = 0; k < i && slash && !seen; k++) {
            const char *other = l.written[k].place, *end = other ? strrchr(other, '/') : NULL;
            seen = end && end - other == slash - place && strncmp(other, place, (size_t)(slash - place)) == 0;
        }
        if (slash && !seen) removed += sweep(&l, place, (size_t)(slash - place) + 1);
    }
    forget_all(&l);
    return removed;
}
