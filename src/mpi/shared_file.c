/* shared_file.c: one file of many processes. They read it by offsets, or write it by offsets under a temporary name,
 * which the first process makes and renames in the end. */
#include "mpi/mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUFFIX = 48 };

static drape_status refuse(drape_i_shared_file *f, const char *doing, int error) {
    int rank;
    MPI_Comm_rank(f->comm, &rank);
    return drape_i_fail(f->ctx, DRAPE_ERROR_IO, "%s: process %d cannot %s it: %s%s", f->path, rank, doing,
                        strerror(error),
                        error == ENOENT && rank > 0 ? "; all processes must see the same folder" : "");
}

static drape_status start(drape_context *ctx, MPI_Comm comm, const char *path, drape_i_shared_file *f) {
    *f = (drape_i_shared_file){.ctx = ctx, .comm = comm, .descriptor = -1};
    if (!DRAPE_NEW(ctx, f->path, (int64_t)strlen(path) + 1)) return DRAPE_ERROR_MEMORY;
    strcpy(f->path, path);
    return DRAPE_OK;
}

static drape_status open_here(drape_i_shared_file *f) {
    struct stat info;
    f->descriptor = open(f->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (f->descriptor < 0 || fstat(f->descriptor, &info) != 0) return refuse(f, "open", errno);
    if (!S_ISREG(info.st_mode)) return drape_i_fail(f->ctx, DRAPE_ERROR_IO, "%s: not a regular file", f->path);
    f->size = info.st_size;
    return DRAPE_OK;
}

drape_status drape_i_shared_open(drape_context *ctx, MPI_Comm comm, const char *path, drape_i_shared_file *f) {
    int64_t sizes[2], most[2];
    drape_status status = start(ctx, comm, path, f);
    if (!status) status = open_here(f);
    status = drape_petsc_agree(ctx, comm, status);
    if (!status) {
        sizes[0] = f->size, sizes[1] = -f->size;
        MPI_Allreduce(sizes, most, 2, MPI_INT64_T, MPI_MAX, comm);
        if (most[0] != -most[1])
            status =
                drape_i_fail(ctx, DRAPE_ERROR_IO,
                             "%s: has %lld bytes for one process and %lld for another; all processes must see the "
                             "same folder",
                             path, (long long)-most[1], (long long)most[0]);
    }
    if (status) drape_i_shared_close(f);
    return status;
}

/* The first process makes the file, under a name that no other run has unless it is to be found again, and tells it
 * the others. */
static drape_status make_temporary(drape_i_shared_file *f, int rank, bool again) {
    const int64_t room = (int64_t)strlen(f->path) + SUFFIX;
    int how = f->stays ? again ? O_WRONLY : O_WRONLY | O_CREAT | O_TRUNC : O_WRONLY | O_CREAT | O_EXCL;
    if (!DRAPE_NEW(f->ctx, f->temporary, room)) return DRAPE_ERROR_MEMORY;
    if (rank > 0) return DRAPE_OK;
    if (f->stays) snprintf(f->temporary, (size_t)room, "%s.unfinished", f->path);
    else snprintf(f->temporary, (size_t)room, "%s.part-%ld", f->path, (long)getpid());
    f->descriptor = open(f->temporary, how | O_CLOEXEC, 0666);
    return f->descriptor < 0 ? refuse(f, "write", errno) : DRAPE_OK;
}

static drape_status begin(drape_context *ctx, MPI_Comm comm, const char *path, bool stays, bool again,
                          drape_i_shared_file *f) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    drape_status status = start(ctx, comm, path, f);
    f->stays = stays;
    if (!status) status = make_temporary(f, rank, again);
    status = drape_petsc_agree(ctx, comm, status);
    if (!status) {
        MPI_Bcast(f->temporary, (int)strlen(path) + SUFFIX, MPI_CHAR, 0, comm);
        if (rank > 0) f->descriptor = open(f->temporary, O_WRONLY | O_CLOEXEC);
        status = f->descriptor < 0 ? refuse(f, "write", errno) : DRAPE_OK;
        status = drape_petsc_agree(ctx, comm, status);
    }
    if (status) drape_i_shared_close(f);
    return status;
}

drape_status drape_i_shared_create(drape_context *ctx, MPI_Comm comm, const char *path, drape_i_shared_file *f) {
    return begin(ctx, comm, path, false, false, f);
}

drape_status drape_i_shared_continue(drape_context *ctx, MPI_Comm comm, const char *path, bool again,
                                     drape_i_shared_file *f) {
    return begin(ctx, comm, path, true, again, f);
}

drape_status drape_i_shared_read(drape_i_shared_file *f, int64_t at, void *data, int64_t bytes) {
    char *to = data;
    while (bytes > 0) {
        ssize_t got = pread(f->descriptor, to, (size_t)bytes, at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return refuse(f, "read", errno);
        if (got == 0)
            return drape_i_fail(f->ctx, DRAPE_ERROR_IO, "%s: ends before byte %lld", f->path, (long long)at);
        to += got;
        at += got;
        bytes -= got;
    }
    return DRAPE_OK;
}

void drape_i_shared_write(drape_i_shared_file *f, int64_t at, const void *data, int64_t bytes) {
    const char *from = data;
    while (bytes > 0 && !f->error) {
        ssize_t put = pwrite(f->descriptor, from, (size_t)bytes, at);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) f->error = errno;
        else from += put, at += put, bytes -= put;
    }
}

drape_status drape_i_shared_commit(drape_i_shared_file *f) {
    int rank;
    drape_context *ctx = f->ctx;
    MPI_Comm_rank(f->comm, &rank);
    if (!f->error && fsync(f->descriptor) != 0) f->error = errno;
    drape_status status = f->error ? refuse(f, "write", f->error) : DRAPE_OK;
    status = drape_petsc_agree(ctx, f->comm, status);
    if (!status && rank == 0 && rename(f->temporary, f->path) != 0) status = refuse(f, "write", errno);
    status = drape_petsc_agree(ctx, f->comm, status);
    if (!status && f->descriptor >= 0) { /* nothing is left to take away */
        close(f->descriptor);
        f->descriptor = -1;
    }
    drape_i_shared_close(f);
    return status;
}

void drape_i_shared_close(drape_i_shared_file *f) {
    int rank;
    if (!f || !f->path) return;
    MPI_Comm_rank(f->comm, &rank);
    if (f->temporary && f->descriptor >= 0 && rank == 0 && !f->stays) unlink(f->temporary);
    if (f->descriptor >= 0) close(f->descriptor);
    if (f->temporary) DRAPE_FREE(f->ctx, f->temporary, (int64_t)strlen(f->path) + SUFFIX);
    DRAPE_FREE(f->ctx, f->path, (int64_t)strlen(f->path) + 1);
    *f = (drape_i_shared_file){.descriptor = -1};
}
