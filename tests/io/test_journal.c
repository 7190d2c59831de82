/* Journals: a run that is cut off at any moment goes on as if it had not been; frames that are not what was written
 * are never handed out. */
#include "sparse/counting_allocator.h"
#include "support/folder.h"

#include "drape/io.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RESOLUTION = 3, INTERVAL = 3, FRAMES = 8, STEPS = 2, MOST_NUMBERS = 3 * RESOLUTION * RESOLUTION };

/* In memory where that can be had: frames wait for the disk, and there are hundreds of them here. */
static char folder[] = "/dev/shm/drape-journal-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder)) return 0;
    strcpy(folder, "/tmp/drape-journal-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    test_folder_entries(folder, true);
    return rmdir(folder);
}

static const char *path_of(const char *name) { return test_path_in(folder, name); }

static bool is_there(const char *name) { return access(path_of(name), F_OK) == 0; }

typedef struct subject {
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_scene *scene;
    drape_sim *sim;
    drape_journal *journal;
} subject;

static subject make(double stiffer) {
    subject s = {.ctx = test_context(1)};
    ASSERT_OK(s.ctx, drape_scene_builtin(s.ctx, "drooping", RESOLUTION, &s.loaded));
    s.scene = drape_loaded_scene_edit(s.loaded);
    s.scene->pieces[0].material.shear *= stiffer;
    ASSERT_OK(s.ctx, drape_sim_create(s.ctx, s.scene, &s.sim));
    return s;
}

static void end(subject *s) {
    drape_journal_close(s->journal);
    drape_sim_destroy(s->sim);
    drape_loaded_scene_destroy(s->loaded);
    assert_int_equal(drape_context_bytes(s->ctx), 0);
    drape_context_destroy(s->ctx);
}

static drape_status advance(subject *s, int32_t frames) {
    drape_status status = DRAPE_OK;
    for (int32_t f = 0; f < frames && !status; f++) {
        for (int32_t i = 0; i < STEPS; i++) ASSERT_OK(s->ctx, drape_sim_step(s->sim, NULL));
        status = drape_journal_frame(s->journal);
    }
    return status;
}

static double truth[2 * FRAMES][MOST_NUMBERS]; /* what the frames must be */
static drape_certificate_energy true_energy[2 * FRAMES];

/* A run that is cut off after so many frames. What it leaves lies in the folder. */
static void run_and_stop(int32_t frames) {
    subject s = make(1);
    test_folder_entries(folder, true);
    ASSERT_OK(s.ctx, drape_journal_begin(s.ctx, path_of("a.ckpt"), s.sim, INTERVAL, &s.journal));
    for (int32_t f = 0; f <= frames; f++) {
        if (f > 0) ASSERT_OK(s.ctx, advance(&s, 1));
        memcpy(truth[f], drape_sim_positions(s.sim), sizeof truth[f]);
        ASSERT_OK(s.ctx, drape_sim_energy(s.sim, &true_energy[f]));
        assert_int_equal(drape_journal_frames(s.journal), f + 1);
    }
    end(&s);
}

static void assert_frames_are_true(subject *s) {
    double x[MOST_NUMBERS];
    int64_t frames = drape_journal_frames(s->journal);
    assert_in_range(frames, 1, FRAMES + 1);
    for (int64_t f = 0; f < frames; f++) {
        ASSERT_OK(s->ctx, drape_journal_read(s->journal, f, x));
        assert_memory_equal(x, truth[f], sizeof x);
        drape_certificate_energy e, want = true_energy[f];
        want.force_count = 0, want.force = NULL;
        ASSERT_OK(s->ctx, drape_journal_read_energy(s->journal, f, &e));
        assert_memory_equal(&e, &want, sizeof e);
    }
    drape_certificate_energy now;
    ASSERT_OK(s->ctx, drape_sim_energy(s->sim, &now));
    now.force = true_energy[frames - 1].force;
    assert_memory_equal(&now, &true_energy[frames - 1], sizeof now);
    assert_int_equal(drape_journal_read_energy(s->journal, frames, &now), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_journal_read_energy(s->journal, 0, NULL), DRAPE_ERROR_ARGUMENT);
    assert_memory_equal(drape_sim_positions(s->sim), truth[frames - 1], sizeof x);
    assert_int_equal(drape_sim_steps(s->sim), (frames - 1) * STEPS);
}

/* Any of: DRAPE_OK, and then with true frames and so many of them; or a refusal. */
static drape_status resume(subject *s) {
    drape_status status = drape_journal_resume(s->ctx, path_of("a.ckpt"), s->sim, &s->journal);
    if (!status) assert_frames_are_true(s);
    else assert_null(s->journal);
    return status;
}

/* ---- Files as bytes ---- */

typedef struct bytes {
    unsigned char data[4096];
    size_t size;
} bytes;

static bytes read_file(const char *name) {
    bytes b;
    FILE *file = fopen(path_of(name), "rb");
    assert_non_null(file);
    b.size = fread(b.data, 1, sizeof b.data, file);
    assert_true(b.size < sizeof b.data);
    fclose(file);
    return b;
}

static void write_file(const char *name, const bytes *b, size_t size) {
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(b->data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void spoil(const char *name) {
    bytes b = read_file(name);
    b.data[b.size / 2] ^= 1;
    write_file(name, &b, b.size);
}

/* ---- Going on ---- */

static void a_run_goes_on_from_wherever_it_was_cut_off(void **state) {
    double last[MOST_NUMBERS];
    (void)state;
    run_and_stop(FRAMES);
    memcpy(last, truth[FRAMES], sizeof last);
    for (int32_t stop = 0; stop < FRAMES; stop++) {
        run_and_stop(stop);
        subject s = make(1);
        ASSERT_OK(s.ctx, resume(&s));
        assert_string_equal(drape_journal_note(s.journal), "");
        assert_int_equal(drape_journal_interval(s.journal), INTERVAL);
        assert_int_equal(drape_journal_frames(s.journal), stop / INTERVAL * INTERVAL + 1);
        ASSERT_OK(s.ctx, advance(&s, FRAMES - stop / INTERVAL * INTERVAL));
        assert_memory_equal(drape_sim_positions(s.sim), last, sizeof last);
        end(&s);
    }
}

static void it_can_be_cut_off_again_and_again(void **state) {
    (void)state;
    run_and_stop(FRAMES);
    double last[MOST_NUMBERS];
    memcpy(last, truth[FRAMES], sizeof last);
    run_and_stop(1);
    for (int32_t done = 0; done < FRAMES; done += INTERVAL) {
        subject s = make(1);
        ASSERT_OK(s.ctx, drape_journal_resume(s.ctx, path_of("a.ckpt"), s.sim, &s.journal));
        assert_int_equal(drape_journal_frames(s.journal), done + 1);
        int32_t frames = done + INTERVAL + 1 < FRAMES ? INTERVAL + 1 : FRAMES - done;
        ASSERT_OK(s.ctx, advance(&s, frames));
        if (done + frames == FRAMES) assert_memory_equal(drape_sim_positions(s.sim), last, sizeof last);
        end(&s);
    }
}

static void finishing_removes_the_files_and_closing_keeps_them(void **state) {
    (void)state;
    run_and_stop(INTERVAL);
    assert_true(is_there("a.ckpt") && is_there("a.ckpt.1") && is_there("a.ckpt.frames"));
    assert_int_equal(test_folder_entries(folder, false), 3);
    subject s = make(1);
    ASSERT_OK(s.ctx, resume(&s));
    drape_journal_finish(s.journal);
    s.journal = NULL;
    assert_int_equal(test_folder_entries(folder, false), 0);
    assert_int_equal(resume(&s), DRAPE_ERROR_IO);
    assert_non_null(strstr(drape_message(s.ctx), "no checkpoint"));
    end(&s);
}

/* ---- What is refused ---- */

static void an_unfinished_run_is_not_written_over(void **state) {
    (void)state;
    run_and_stop(INTERVAL);
    subject s = make(1);
    for (int32_t k = 0; k < 2; k++) {
        assert_int_equal(drape_journal_begin(s.ctx, path_of("a.ckpt"), s.sim, INTERVAL, &s.journal),
                         DRAPE_ERROR_ARGUMENT);
        assert_non_null(strstr(drape_message(s.ctx), "did not finish"));
        if (k == 0) assert_int_equal(unlink(path_of("a.ckpt")), 0); /* the one before is one too */
    }
    ASSERT_OK(s.ctx, resume(&s));
    assert_non_null(strstr(drape_journal_note(s.journal), "a.ckpt: cannot open"));
    end(&s);
}

static void the_one_before_serves_where_the_newest_does_not(void **state) {
    (void)state;
    run_and_stop(FRAMES);
    spoil("a.ckpt");
    subject s = make(1);
    ASSERT_OK(s.ctx, resume(&s));
    assert_int_equal(drape_journal_frames(s.journal), INTERVAL + 1);
    assert_non_null(strstr(drape_journal_note(s.journal), "a.ckpt: the checkpoint is damaged"));
    assert_false(is_there("a.ckpt.1")); /* it is the newest now: the damaged one is no reserve */
    end(&s);
    subject again = make(1);
    ASSERT_OK(again.ctx, resume(&again));
    assert_string_equal(drape_journal_note(again.journal), "");
    end(&again);
}

static void where_none_is_whole_both_are_named(void **state) {
    (void)state;
    run_and_stop(FRAMES);
    spoil("a.ckpt");
    spoil("a.ckpt.1");
    subject s = make(1);
    assert_int_equal(resume(&s), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(s.ctx), "a.ckpt: the checkpoint is damaged"));
    assert_non_null(strstr(drape_message(s.ctx), "a.ckpt.1: the checkpoint is damaged"));
    end(&s);
}

static void another_scene_is_refused(void **state) {
    (void)state;
    run_and_stop(1);
    subject s = make(2);
    assert_int_equal(resume(&s), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(s.ctx), "another scene"));
    end(&s);
}

/* Damaged after the older checkpoint the run goes on from that; before it there is nothing to be done. */
static void no_wrong_frame_is_handed_out(void **state) {
    int refused = 0, older = 0;
    (void)state;
    run_and_stop(FRAMES);
    bytes newest = read_file("a.ckpt"), before = read_file("a.ckpt.1"), frames = read_file("a.ckpt.frames");
    for (size_t at = 0; at < frames.size; at++) {
        bytes wrong = frames;
        wrong.data[at] ^= 0x10;
        write_file("a.ckpt", &newest, newest.size);
        write_file("a.ckpt.1", &before, before.size);
        write_file("a.ckpt.frames", &wrong, wrong.size);
        subject s = make(1);
        if (resume(&s)) refused++;
        else if (*drape_journal_note(s.journal)) older++;
        end(&s);
    }
    assert_in_range(refused, (INTERVAL + 1) * frames.size / (FRAMES + 1), frames.size);
    assert_in_range(older, INTERVAL * frames.size / (FRAMES + 2), frames.size);
}

static void frames_that_are_cut_short_are_noticed(void **state) {
    int refused = 0;
    (void)state;
    run_and_stop(FRAMES);
    bytes newest = read_file("a.ckpt"), before = read_file("a.ckpt.1"), frames = read_file("a.ckpt.frames");
    for (size_t size = 0; size < frames.size; size++) {
        write_file("a.ckpt", &newest, newest.size);
        write_file("a.ckpt.1", &before, before.size);
        write_file("a.ckpt.frames", &frames, size);
        subject s = make(1);
        if (resume(&s)) refused++;
        end(&s);
    }
    assert_in_range(refused, INTERVAL * frames.size / (FRAMES + 1), frames.size / 2);
}

/* What a run leaves that was cut off in the middle of a frame. */
static void half_a_frame_at_the_end_does_no_harm(void **state) {
    (void)state;
    run_and_stop(INTERVAL + 1);
    bytes frames = read_file("a.ckpt.frames");
    write_file("a.ckpt.frames", &frames, frames.size - 40);
    subject s = make(1);
    ASSERT_OK(s.ctx, resume(&s));
    assert_int_equal(drape_journal_frames(s.journal), INTERVAL + 1);
    end(&s);
}

static void two_runs_do_not_share_a_journal(void **state) {
    int code = -1;
    (void)state;
    run_and_stop(1);
    subject s = make(1), other = make(1); /* one thread each, so a fork is harmless */
    ASSERT_OK(s.ctx, resume(&s));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        drape_status status = drape_journal_resume(other.ctx, path_of("a.ckpt"), other.sim, &other.journal);
        _exit(status == DRAPE_ERROR_ARGUMENT && strstr(drape_message(other.ctx), "another run") ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    end(&s);
    end(&other);
}

static void a_journal_that_cannot_begin_leaves_nothing(void **state) {
    (void)state;
    test_folder_entries(folder, true);
    subject s = make(1);
    assert_int_equal(drape_journal_begin(s.ctx, path_of("no/folder"), s.sim, 1, &s.journal), DRAPE_ERROR_IO);
    assert_int_equal(drape_journal_begin(s.ctx, path_of("a.ckpt"), s.sim, 0, &s.journal), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(mkdir(path_of("a.ckpt.frames"), 0700), 0);
    assert_int_equal(drape_journal_begin(s.ctx, path_of("a.ckpt"), s.sim, 1, &s.journal), DRAPE_ERROR_IO);
    assert_int_equal(rmdir(path_of("a.ckpt.frames")), 0);
    assert_null(s.journal);
    assert_int_equal(test_folder_entries(folder, false), 0);
    end(&s);
}

/* ---- Memory ---- */

/* Begins, or resumes, with so many requests granted; whether that was enough. */
static bool survives(int64_t requests, bool resuming) {
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_journal *journal;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", RESOLUTION, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    memory.left = requests;
    drape_status status = resuming ? drape_journal_resume(ctx, path_of("a.ckpt"), sim, &journal)
                                   : drape_journal_begin(ctx, path_of("a.ckpt"), sim, INTERVAL, &journal);
    assert_int_equal(status, memory.failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
    if (!resuming) assert_int_equal(test_folder_entries(folder, false), memory.failed ? 0 : 2);
    drape_journal_close(journal);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    return !memory.failed;
}

static void memory_may_run_out(void **state) {
    int64_t n = 0;
    (void)state;
    test_folder_entries(folder, true);
    while (!survives(n, false)) assert_true(++n < 100);
    assert_true(n > 5);
    for (n = 0; !survives(n, true);) assert_true(++n < 100);
    assert_true(n > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_goes_on_from_wherever_it_was_cut_off),
        cmocka_unit_test(it_can_be_cut_off_again_and_again),
        cmocka_unit_test(finishing_removes_the_files_and_closing_keeps_them),
        cmocka_unit_test(an_unfinished_run_is_not_written_over),
        cmocka_unit_test(the_one_before_serves_where_the_newest_does_not),
        cmocka_unit_test(where_none_is_whole_both_are_named),
        cmocka_unit_test(another_scene_is_refused),
        cmocka_unit_test(no_wrong_frame_is_handed_out),
        cmocka_unit_test(frames_that_are_cut_short_are_noticed),
        cmocka_unit_test(half_a_frame_at_the_end_does_no_harm),
        cmocka_unit_test(two_runs_do_not_share_a_journal),
        cmocka_unit_test(a_journal_that_cannot_begin_leaves_nothing),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
