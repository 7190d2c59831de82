/* pin_motion.c: where the motion of a pin leads a vertex: its displacement d(t) from the anchor p.
 *
 *   turn     sin a (n x r) + (1 - cos a) n x (n x r), with r from the centre to p
 *   poses    centre + offset + R (scale * (p - centre)) - p
 *   frames   F(t) - p; or F(t) - F(0), where vertices keep their offset
 *
 * For turns and poses a vertex that is at x when its pin takes hold has the anchor that the motion leads to x. */
#include "base/elementary.h"
#include "contact/pose.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

static const double TWO_PI = 6.28318530717958647692;

static double along_keys(const drape_motion *m, double t, int32_t k) {
    int32_t i;
    double share = drape_i_find_time(&m->key->time, sizeof *m->key / sizeof(double), m->key_count, t, &i);
    const drape_motion_key *key = m->key + i;
    return share > 0 ? drape_i_between_keys(key[0].offset[k], key[1].offset[k], share) : key[0].offset[k];
}

static double scripted(const drape_motion *m, double t, int32_t k) {
    switch (m->kind) {
    case DRAPE_MOTION_LINEAR: return m->velocity[k] * t;
    case DRAPE_MOTION_SINE:
        return m->amplitude[k] *
               (drape_i_sin(TWO_PI * m->frequency * t + TWO_PI * m->phase) - drape_i_sin(TWO_PI * m->phase));
    case DRAPE_MOTION_KEYS: return along_keys(m, t, k);
    default: return 0;
    }
}

static void turned(const drape_motion *m, double t, const double p[3], double d[3]) {
    const double *w = m->velocity;
    double speed = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), n[3], r[3], across[3];
    for (int32_t k = 0; k < 3; k++) {
        n[k] = speed > 0 ? w[k] / speed : 0;
        r[k] = p[k] - m->centre[k];
    }
    double sine = drape_i_sin(speed * t), rest = 1 - drape_i_cos(speed * t);
    for (int32_t k = 0; k < 3; k++) across[k] = n[(k + 1) % 3] * r[(k + 2) % 3] - n[(k + 2) % 3] * r[(k + 1) % 3];
    for (int32_t k = 0; k < 3; k++)
        d[k] =
            sine * across[k] + rest * (n[(k + 1) % 3] * across[(k + 2) % 3] - n[(k + 2) % 3] * across[(k + 1) % 3]);
}

/* ---- Poses ---- */

static drape_motion_pose pose_at(const drape_motion_path *path, double t) {
    int32_t i;
    double share = drape_i_find_time(&path->pose->time, sizeof *path->pose / sizeof(double), path->poses, t, &i);
    drape_motion_pose at = path->pose[i];
    for (int32_t k = 0; k < 3 && share > 0; k++) {
        const drape_motion_pose *next = &path->pose[i + 1];
        at.offset[k] = drape_i_between_keys(at.offset[k], next->offset[k], share);
        at.rotation[k] = drape_i_between_keys(at.rotation[k], next->rotation[k], share);
        at.scale[k] = drape_i_between_keys(at.scale[k], next->scale[k], share);
    }
    return at;
}

static void posed(const drape_motion_path *path, double t, const double p[3], double d[3]) {
    drape_motion_pose at = pose_at(path, t);
    drape_i_turn turn = drape_i_turn_of(vec3_at(at.rotation));
    double r[3];
    for (int32_t k = 0; k < 3; k++) r[k] = at.scale[k] * (p[k] - path->centre[k]);
    vec3 to = drape_i_turn_point(&turn, 1, vec3_at(r));
    d[0] = (to.x - (p[0] - path->centre[0])) + at.offset[0];
    d[1] = (to.y - (p[1] - path->centre[1])) + at.offset[1];
    d[2] = (to.z - (p[2] - path->centre[2])) + at.offset[2];
}

static void posed_back(const drape_motion_path *path, double t, const double x[3], double p[3]) {
    drape_motion_pose at = pose_at(path, t);
    drape_i_turn turn = drape_i_turn_of(vec3_at(at.rotation));
    double r[3];
    for (int32_t k = 0; k < 3; k++) r[k] = (x[k] - path->centre[k]) - at.offset[k];
    vec3 from = drape_i_turn_point(&turn, -1, vec3_at(r));
    p[0] = path->centre[0] + from.x / at.scale[0];
    p[1] = path->centre[1] + from.y / at.scale[1];
    p[2] = path->centre[2] + from.z / at.scale[2];
}

/* ---- Frames ---- */

/* `count`: vertices of the pin. */
static void frame_at(const drape_motion_path *path, int32_t count, int32_t index, double t, double x[3]) {
    int32_t f;
    double share = drape_i_find_time(path->frame_time, 1, path->frames, t, &f);
    const double *from = path->frame + 3 * ((int64_t)f * count + index), *to = from + 3 * (int64_t)count;
    for (int32_t k = 0; k < 3; k++) x[k] = share > 0 ? drape_i_between_keys(from[k], to[k], share) : from[k];
}

static void framed(const drape_pin *pin, int32_t index, double t, const double p[3], double d[3]) {
    const drape_motion_path *path = pin->motion.path;
    bool keep = path->keep_offset || pin->from > 0;
    double at[3], from[3];
    frame_at(path, pin->count, index, t, at);
    if (keep) frame_at(path, pin->count, index, 0, from);
    for (int32_t k = 0; k < 3; k++) d[k] = at[k] - (keep ? from[k] : p[k]);
}

/* ---- All ---- */

void drape_i_motion_at(const drape_pin *pin, int32_t index, double t, const double p[3], double d[3]) {
    const drape_motion *m = &pin->motion;
    DRAPE_ASSERT(m->kind != DRAPE_MOTION_CALLBACK);
    if (m->kind == DRAPE_MOTION_TURN) turned(m, t, p, d);
    else if (m->kind == DRAPE_MOTION_POSES) posed(m->path, t, p, d);
    else if (m->kind == DRAPE_MOTION_FRAMES) framed(pin, index, t, p, d);
    else
        for (int32_t k = 0; k < 3; k++) d[k] = scripted(m, t, k);
}

bool drape_i_motion_back(const drape_motion *m, double t, const double x[3], double p[3]) {
    double d[3];
    if (m->kind == DRAPE_MOTION_POSES) posed_back(m->path, t, x, p);
    if (m->kind == DRAPE_MOTION_TURN) {
        turned(m, -t, x, d);
        for (int32_t k = 0; k < 3; k++) p[k] = x[k] + d[k];
    }
    return m->kind == DRAPE_MOTION_POSES || m->kind == DRAPE_MOTION_TURN;
}

/* ---- Checks and copies ---- */

static bool all_finite(const double *x, int64_t count) {
    bool good = true;
    for (int64_t i = 0; i < count && good; i++) good = isfinite(x[i]);
    return good;
}

static bool is_finite(const drape_motion *m, int32_t vertices) {
    bool good = isfinite(m->frequency) && isfinite(m->phase) && all_finite(m->velocity, 3) &&
                all_finite(m->amplitude, 3) && all_finite(m->centre, 3);
    for (int32_t i = 0; m->kind == DRAPE_MOTION_KEYS && i < m->key_count; i++)
        good = good && isfinite(m->key[i].time) && all_finite(m->key[i].offset, 3);
    for (int32_t i = 0; m->kind == DRAPE_MOTION_POSES && i < m->path->poses; i++)
        good = good && isfinite(m->path->pose[i].time) && all_finite(m->path->pose[i].offset, 3) &&
               all_finite(m->path->pose[i].rotation, 3) && all_finite(m->path->pose[i].scale, 3);
    if (m->kind == DRAPE_MOTION_POSES) good = good && all_finite(m->path->centre, 3);
    if (m->kind == DRAPE_MOTION_FRAMES)
        good = good && all_finite(m->path->frame_time, m->path->frames) &&
               all_finite(m->path->frame, 3 * (int64_t)m->path->frames * vertices);
    return good;
}

static drape_status check_times(drape_context *ctx, int32_t p, const char *what, const double *time, size_t stride,
                                int32_t count) {
    for (int32_t i = 1; i < count; i++)
        if (!(time[(size_t)i * stride] > time[(size_t)(i - 1) * stride]))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: the time of %s %d, %g s, is not after %g s", p,
                                what, i, time[(size_t)i * stride], time[(size_t)(i - 1) * stride]);
    return DRAPE_OK;
}

static drape_status check_path(drape_context *ctx, int32_t p, const drape_motion *m) {
    const drape_motion_path *path = m->path;
    if (!path)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: a motion by poses or frames without a path", p);
    if (m->kind == DRAPE_MOTION_POSES && (path->poses < 1 || !path->pose))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: a motion by poses without a pose", p);
    if (m->kind == DRAPE_MOTION_FRAMES && (path->frames < 1 || !path->frame_time || !path->frame))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: a motion by frames without a frame", p);
    for (int32_t i = 0; m->kind == DRAPE_MOTION_POSES && i < path->poses; i++)
        for (int32_t k = 0; k < 3; k++)
            if (path->pose[i].scale[k] <= 0)
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                    "pin %d: the scale of pose %d is %g; it must be above 0", p, i,
                                    path->pose[i].scale[k]);
    return drape_i_check_reserved(ctx, "drape_motion_path", path->reserved, 8);
}

drape_status drape_i_motion_check(drape_context *ctx, int32_t p, int32_t vertices, const drape_motion *m) {
    bool follows = m->kind == DRAPE_MOTION_POSES || m->kind == DRAPE_MOTION_FRAMES;
    const size_t size = sizeof(double);
    if ((unsigned)m->kind > DRAPE_MOTION_FRAMES)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: unknown kind of motion %d", p, (int)m->kind);
    if (m->kind == DRAPE_MOTION_CALLBACK && !m->function)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: a motion by callback without a function", p);
    if (m->kind == DRAPE_MOTION_KEYS && (m->key_count < 1 || !m->key))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: a motion by keys without a key", p);
    drape_status status = follows ? check_path(ctx, p, m) : DRAPE_OK;
    if (status) return status;
    if (!is_finite(m, vertices))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "pin %d: its motion has a number that is not finite", p);
    if (m->kind == DRAPE_MOTION_KEYS)
        return check_times(ctx, p, "key", &m->key->time, sizeof *m->key / size, m->key_count);
    if (m->kind == DRAPE_MOTION_POSES)
        return check_times(ctx, p, "pose", &m->path->pose->time, sizeof *m->path->pose / size, m->path->poses);
    if (m->kind == DRAPE_MOTION_FRAMES) return check_times(ctx, p, "frame", m->path->frame_time, 1, m->path->frames);
    return DRAPE_OK;
}

/* The path and its arrays. What motions of another kind have is ignored. */
static drape_status copy_path(drape_context *ctx, const drape_pin *pin, drape_motion *to) {
    const drape_motion_path *from = pin->motion.path;
    drape_motion_path *path;
    drape_motion_pose *pose;
    double *time, *frame;
    bool poses = to->kind == DRAPE_MOTION_POSES;
    int32_t keys = poses ? from->poses : 0, frames = poses ? 0 : from->frames;
    int64_t numbers = 3 * (int64_t)frames * pin->count;
    if (!DRAPE_NEW(ctx, path, 1)) return DRAPE_ERROR_MEMORY;
    *path = (drape_motion_path){.poses = keys, .frames = frames, .keep_offset = from->keep_offset};
    memcpy(path->centre, from->centre, sizeof path->centre);
    to->path = path;
    bool good = DRAPE_NEW(ctx, pose, keys);
    path->pose = pose;
    good = DRAPE_NEW(ctx, time, frames) && good;
    path->frame_time = time;
    good = DRAPE_NEW(ctx, frame, numbers) && good;
    path->frame = frame;
    if (!good) return DRAPE_ERROR_MEMORY;
    if (keys > 0) memcpy(pose, from->pose, (size_t)keys * sizeof *pose);
    if (frames > 0) memcpy(time, from->frame_time, (size_t)frames * sizeof *time);
    if (numbers > 0) memcpy(frame, from->frame, (size_t)numbers * sizeof *frame);
    return DRAPE_OK;
}

drape_status drape_i_motion_copy(drape_context *ctx, const drape_pin *pin, drape_motion *to) {
    drape_motion_key *keys;
    *to = pin->motion;
    to->key = NULL;
    to->path = NULL;
    if (to->kind == DRAPE_MOTION_KEYS) {
        if (!DRAPE_NEW(ctx, keys, to->key_count)) return DRAPE_ERROR_MEMORY;
        memcpy(keys, pin->motion.key, (size_t)to->key_count * sizeof *keys);
        to->key = keys;
    }
    return to->kind == DRAPE_MOTION_POSES || to->kind == DRAPE_MOTION_FRAMES ? copy_path(ctx, pin, to) : DRAPE_OK;
}

void drape_i_motion_free(drape_context *ctx, int32_t vertices, drape_motion *m) {
    drape_motion_key *keys = (drape_motion_key *)(uintptr_t)m->key; /* its own */
    drape_motion_path *path = (drape_motion_path *)(uintptr_t)m->path;
    if (keys) DRAPE_FREE(ctx, keys, m->key_count);
    m->key = NULL, m->path = NULL;
    if (!path) return;
    drape_motion_pose *pose = (drape_motion_pose *)(uintptr_t)path->pose;
    double *time = (double *)(uintptr_t)path->frame_time, *frame = (double *)(uintptr_t)path->frame;
    DRAPE_FREE(ctx, pose, path->poses);
    DRAPE_FREE(ctx, time, path->frames);
    DRAPE_FREE(ctx, frame, 3 * (int64_t)path->frames * vertices);
    DRAPE_FREE(ctx, path, 1);
}
