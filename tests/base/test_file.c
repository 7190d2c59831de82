/* Files that are complete or absent: commit, abandon, and every way a write can fail. */
#include "support/testing.h"

#include "base/file.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char target[128];

static int make_folder(void **state) {
    *state = test_context(1);
    strcpy(folder, "/tmp/drape-file-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(target, sizeof target, "%s/out.bin", folder);
    return 0;
}

static int remove_folder(void **state) {
    drape_context *ctx = *state;
    int64_t left = drape_context_bytes(ctx);
    drape_context_destroy(ctx);
    remove(target);
    return rmdir(folder) == 0 && left == 0 ? 0 : -1;
}

static int entries(const char *path) {
    DIR *directory = opendir(path);
    assert_non_null(directory);
    int count = 0;
    for (struct dirent *e; (e = readdir(directory));) count += e->d_name[0] != '.';
    closedir(directory);
    return count;
}

static void put(drape_context *ctx, const char *path, const char *text) {
    drape_i_file file;
    ASSERT_OK(ctx, drape_i_file_create(ctx, path, &file));
    drape_i_file_write(&file, text, strlen(text));
    ASSERT_OK(ctx, drape_i_file_commit(ctx, &file));
}

static void assert_holds(drape_context *ctx, const char *path, const char *text) {
    char *data;
    int64_t size;
    ASSERT_OK(ctx, drape_i_file_read(ctx, path, &data, &size));
    assert_int_equal(size, strlen(text));
    assert_memory_equal(data, text, strlen(text) + 1);
    drape_i_free(ctx, data, size + 1, 1);
}

static void test_commit_makes_the_file_appear(void **state) {
    drape_context *ctx = *state;
    drape_i_file file;
    ASSERT_OK(ctx, drape_i_file_create(ctx, target, &file));
    drape_i_file_write(&file, "one ", 4);
    drape_i_file_write(&file, NULL, 0);
    fprintf(file.stream, "and %s", "two");
    assert_int_not_equal(access(target, F_OK), 0);
    assert_int_equal(entries(folder), 1);
    ASSERT_OK(ctx, drape_i_file_commit(ctx, &file));
    assert_null(file.stream);
    assert_holds(ctx, target, "one and two");
    assert_int_equal(entries(folder), 1);
    put(ctx, target, "three");
    assert_holds(ctx, target, "three");
    assert_int_equal(entries(folder), 1);
}

static void test_abandon_leaves_the_old_file(void **state) {
    drape_context *ctx = *state;
    put(ctx, target, "old");
    drape_i_file file;
    ASSERT_OK(ctx, drape_i_file_create(ctx, target, &file));
    drape_i_file_write(&file, "new", 3);
    assert_int_equal(entries(folder), 2);
    drape_i_file_abandon(ctx, &file);
    drape_i_file_abandon(ctx, &file); /* twice does no harm */
    assert_holds(ctx, target, "old");
    assert_int_equal(entries(folder), 1);
}

static void test_two_writers_of_one_name_do_not_mix(void **state) {
    drape_context *ctx = *state;
    drape_i_file a, b;
    ASSERT_OK(ctx, drape_i_file_create(ctx, target, &a));
    ASSERT_OK(ctx, drape_i_file_create(ctx, target, &b));
    drape_i_file_write(&a, "first", 5);
    drape_i_file_write(&b, "second", 6);
    ASSERT_OK(ctx, drape_i_file_commit(ctx, &a));
    assert_holds(ctx, target, "first");
    ASSERT_OK(ctx, drape_i_file_commit(ctx, &b));
    assert_holds(ctx, target, "second");
    assert_int_equal(entries(folder), 1);
}

static void test_mode_follows_the_umask(void **state) {
    drape_context *ctx = *state;
    struct stat info;
    mode_t before = umask(027);
    put(ctx, target, "x");
    umask(before);
    assert_int_equal(stat(target, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
}

static void assert_not_created(drape_context *ctx, const char *path) {
    drape_i_file file;
    assert_int_equal(drape_i_file_create(ctx, path, &file), DRAPE_ERROR_IO);
    assert_null(file.stream);
    assert_non_null(strstr(drape_message(ctx), path));
    drape_i_file_abandon(ctx, &file);
}

static void test_folders_that_take_no_file(void **state) {
    drape_context *ctx = *state;
    char path[256];
    snprintf(path, sizeof path, "%s/missing/out.bin", folder);
    assert_not_created(ctx, path);
    put(ctx, target, "a file");
    snprintf(path, sizeof path, "%s/out.bin", target); /* a file is no folder */
    assert_not_created(ctx, path);
    if (geteuid() == 0) { /* nothing in a usual folder is unwritable to root */
        assert_not_created(ctx, "/proc/drape-out.bin");
        return;
    }
    snprintf(path, sizeof path, "%s/new.bin", folder);
    assert_int_equal(chmod(folder, 0555), 0);
    assert_not_created(ctx, path);
    assert_int_equal(chmod(folder, 0755), 0);
}

static void test_commit_onto_a_folder_fails(void **state) {
    drape_context *ctx = *state;
    assert_int_equal(mkdir(target, 0777), 0);
    drape_i_file file;
    ASSERT_OK(ctx, drape_i_file_create(ctx, target, &file));
    drape_i_file_write(&file, "new", 3);
    assert_int_equal(drape_i_file_commit(ctx, &file), DRAPE_ERROR_IO);
    assert_non_null(strstr(drape_message(ctx), target));
    assert_int_equal(entries(folder), 1);
    assert_int_equal(entries(target), 0);
}

/* A file size limit stands in for a full disk. No assertion may print while it holds. */
static drape_status write_under_limit(drape_context *ctx, rlim_t limit, size_t piece, int pieces) {
    struct rlimit before, low;
    char *data = test_calloc(piece, 1);
    drape_i_file file;
    ASSERT_OK(ctx, drape_i_file_create(ctx, target, &file));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    low = before;
    low.rlim_cur = limit;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    int limited = setrlimit(RLIMIT_FSIZE, &low);
    for (int i = 0; i < pieces; i++) drape_i_file_write(&file, data, piece);
    drape_status status = drape_i_file_commit(ctx, &file);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    test_free(data);
    assert_int_equal(limited, 0);
    return status;
}

static void test_full_disk_leaves_the_old_file(void **state) {
    drape_context *ctx = *state;
    put(ctx, target, "old");
    static const struct {
        rlim_t limit;
        size_t piece;
        int pieces;
    } ways[] = {{8192, 100000, 1}, {8192, 100, 1000}, {1000, 2000, 1} /* only the last flush meets it */};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_int_equal(write_under_limit(ctx, ways[i].limit, ways[i].piece, ways[i].pieces), DRAPE_ERROR_IO);
        assert_non_null(strstr(drape_message(ctx), target));
        assert_non_null(strstr(drape_message(ctx), "too large")); /* the reason, not whatever errno holds later */
        assert_holds(ctx, target, "old");
        assert_int_equal(entries(folder), 1);
    }
}

static void assert_not_read(drape_context *ctx, const char *path) {
    char *data = target;
    int64_t size = 1;
    assert_int_equal(drape_i_file_read(ctx, path, &data, &size), DRAPE_ERROR_IO);
    assert_null(data);
    assert_int_equal(size, 0);
    assert_non_null(strstr(drape_message(ctx), path));
}

static void test_read(void **state) {
    drape_context *ctx = *state;
    assert_not_read(ctx, target);
    assert_not_read(ctx, folder);
    put(ctx, target, "");
    assert_holds(ctx, target, "");
    put(ctx, target, "text\nof two lines");
    assert_holds(ctx, target, "text\nof two lines");
}

static void test_large_binary_content(void **state) {
    drape_context *ctx = *state;
    enum { BYTES = 1 << 20 };
    char *data = test_malloc(BYTES), *back;
    int64_t size;
    test_random r = {1};
    for (int i = 0; i < BYTES; i++) data[i] = (char)test_random_bits(&r);
    drape_i_file file;
    ASSERT_OK(ctx, drape_i_file_create(ctx, target, &file));
    for (int done = 0, piece; done < BYTES; done += piece) {
        piece = 1 + test_random_below(&r, 20000);
        if (piece > BYTES - done) piece = BYTES - done;
        drape_i_file_write(&file, data + done, (size_t)piece);
    }
    ASSERT_OK(ctx, drape_i_file_commit(ctx, &file));
    ASSERT_OK(ctx, drape_i_file_read(ctx, target, &back, &size));
    assert_int_equal(size, BYTES);
    assert_memory_equal(back, data, BYTES);
    assert_int_equal(back[BYTES], 0);
    drape_i_free(ctx, back, size + 1, 1);
    test_free(data);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(test_commit_makes_the_file_appear),
        IN_A_FOLDER(test_abandon_leaves_the_old_file),
        IN_A_FOLDER(test_two_writers_of_one_name_do_not_mix),
        IN_A_FOLDER(test_mode_follows_the_umask),
        IN_A_FOLDER(test_folders_that_take_no_file),
        IN_A_FOLDER(test_commit_onto_a_folder_fails),
        IN_A_FOLDER(test_full_disk_leaves_the_old_file),
        IN_A_FOLDER(test_read),
        IN_A_FOLDER(test_large_binary_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
