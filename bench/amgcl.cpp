// amgcl.cpp: see amgcl.h. AMGCL's smoothed aggregation in 3x3 blocks of floats, in conjugate gradients in doubles.
//
// AMGCL's own CG stops by the 2-norm of the residual. The loop here is the textbook's, from AMGCL's own products, and
// stops by drape's rule. Columns are 32-bit numbers, and the preconditioner gets its residual in floats: both are
// faster than what AMGCL does by itself.
#include <amgcl/adapter/zero_copy.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/relaxation/damped_jacobi.hpp>
#include <amgcl/relaxation/gauss_seidel.hpp>
#include <amgcl/relaxation/ilu0.hpp>
#include <amgcl/value_type/static_matrix.hpp>

#include "amgcl.h"

#include <cmath>
#include <ctime>
#include <memory>
#include <omp.h>

typedef amgcl::backend::builtin<amgcl::static_matrix<float, 3, 3>, int32_t, int64_t> narrow;
typedef amgcl::backend::builtin<amgcl::static_matrix<double, 3, 3>, int32_t, int64_t> wide;
typedef wide::vector wide_vector;
typedef narrow::vector narrow_vector;

enum { MOST_ITERATIONS = 2000 };

struct bench_amgcl {
    int32_t threads = 1;
    std::unique_ptr<wide_vector> r, p, q, x;
    std::unique_ptr<narrow_vector> r_narrow, z_narrow;
    virtual ~bench_amgcl() {}
    virtual void prepare(const bench_amgcl_system *system, bench_amgcl_reuse reuse) = 0;
    virtual void apply() = 0;
    double now() const;
    void make_vectors(size_t rows);
    int iterate(const wide::matrix &A, const double *rhs, double tol);
};

// With one thread processor time, as drape-bench has it.
double bench_amgcl::now() const {
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

template <template <class> class relax> struct with : bench_amgcl {
    typedef amgcl::amg<narrow, amgcl::coarsening::smoothed_aggregation, relax> levels;
    typename levels::params settings;
    std::unique_ptr<levels> made;

    void prepare(const bench_amgcl_system *s, bench_amgcl_reuse reuse) override {
        if (made && reuse == BENCH_AMGCL_KEEP) return;
        auto A = amgcl::adapter::zero_copy_direct((size_t)s->rows, s->rowptr, s->col,
                                                  (const amgcl::static_matrix<double, 3, 3> *)s->val);
        auto copy = std::make_shared<typename levels::build_matrix>(*A);
        if (made && reuse == BENCH_AMGCL_REBUILD) made->rebuild(copy);
        else made.reset(new levels(copy, settings));
    }
    void apply() override { made->apply(*r_narrow, *z_narrow); }
};

void bench_amgcl::make_vectors(size_t rows) {
    if (r && r->size() == rows) return;
    r.reset(new wide_vector(rows)), p.reset(new wide_vector(rows)), q.reset(new wide_vector(rows));
    x.reset(new wide_vector(rows));
    r_narrow.reset(new narrow_vector(rows)), z_narrow.reset(new narrow_vector(rows));
}

// Returns the iterations; more than MOST_ITERATIONS: it did not converge.
int bench_amgcl::iterate(const wide::matrix &A, const double *rhs, double tol) {
    namespace backend = amgcl::backend;
    const ptrdiff_t n = (ptrdiff_t)r->size();
    double rz = 0, first = 0, before = 0;
#pragma omp parallel for
    for (ptrdiff_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) (*r)[i](k) = rhs[3 * i + k];
    backend::clear(*x), backend::clear(*p);
    for (int count = 0; count <= MOST_ITERATIONS; count++) {
#pragma omp parallel for
        for (ptrdiff_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) (*r_narrow)[i](k) = (float)(*r)[i](k);
        apply();
        rz = 0;
#pragma omp parallel for reduction(+ : rz)
        for (ptrdiff_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) rz += (*r)[i](k) * (*z_narrow)[i](k);
        if (!(rz >= 0)) break;
        if (count == 0) first = rz;
        if (rz <= tol * tol * first) return count;
        const double beta = count > 0 ? rz / before : 0;
#pragma omp parallel for
        for (ptrdiff_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) (*p)[i](k) = (*z_narrow)[i](k) + beta * (*p)[i](k);
        before = rz;
        backend::spmv(1.0, A, *p, 0.0, *q);
        const double alpha = rz / backend::inner_product(*p, *q);
        backend::axpby(alpha, *p, 1.0, *x);
        backend::axpby(-alpha, *q, 1.0, *r);
    }
    return MOST_ITERATIONS + 1;
}

// The best of each smoother that were tried; peers_amgcl.c has their names and what came out.
static bench_amgcl *make(int32_t way) {
    if (way == 0) return new with<amgcl::relaxation::damped_jacobi>;
    if (way == 1) {
        auto a = new with<amgcl::relaxation::gauss_seidel>;
        a->settings.coarse_enough = 100;
        return a;
    }
    if (way == 2) return new with<amgcl::relaxation::ilu0>;
    return nullptr;
}

static bench_amgcl *create(int32_t way, int32_t threads) {
    bench_amgcl *a = make(way);
    if (a) a->threads = threads;
    return a;
}

static void destroy(bench_amgcl *a) { delete a; }

static int solve(bench_amgcl *a, const bench_amgcl_system *s, bench_amgcl_reuse reuse, double tol, double *x,
                 bench_amgcl_result *result) try {
    omp_set_num_threads(a->threads);
    auto A = amgcl::adapter::zero_copy_direct((size_t)s->rows, s->rowptr, s->col,
                                              (const amgcl::static_matrix<double, 3, 3> *)s->val);
    const double begin = a->now();
    a->make_vectors((size_t)s->rows);
    a->prepare(s, reuse);
    const double ready = a->now();
    result->iterations = a->iterate(*A, s->rhs, tol);
    result->solve_seconds = a->now() - ready;
    result->setup_seconds = ready - begin;
    result->converged = result->iterations <= MOST_ITERATIONS;
    for (ptrdiff_t i = 0; i < s->rows; i++)
        for (int k = 0; k < 3; k++) x[3 * i + k] = (*a->x)[i](k);
    return 1;
} catch (...) {
    return 0;
}

extern "C" const bench_amgcl_table bench_amgcl_functions;
const bench_amgcl_table bench_amgcl_functions = {create, destroy, solve};
