// eigen.cpp: see eigen.h. Both triangles, row-major: the form in which Eigen multiplies with all threads.
#include "eigen.h"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <ctime>
#include <vector>

typedef Eigen::SparseMatrix<double, Eigen::RowMajor, int> matrix;
typedef Eigen::Map<const Eigen::VectorXd> input;
enum { BOTH = Eigen::Lower | Eigen::Upper };

struct bench_eigen {
    matrix A;
    int32_t threads;
    explicit bench_eigen(const drape_bsr3 *from);
    virtual ~bench_eigen() {}
    virtual bool solve(const double *b, double tol, double *x, bench_eigen_result *result) = 0;
};

bench_eigen::bench_eigen(const drape_bsr3 *from) : A(3 * from->rows, 3 * from->rows) {
    std::vector<int> room(3 * (size_t)from->rows);
    for (size_t i = 0; i < room.size(); i++) room[i] = (int)(3 * (from->rowptr[i / 3 + 1] - from->rowptr[i / 3]));
    A.reserve(room);
    for (int i = 0; i < 3 * from->rows; i++)
        for (int64_t k = from->rowptr[i / 3]; k < from->rowptr[i / 3 + 1]; k++)
            for (int c = 0; c < 3; c++) {
                double value = from->val[9 * k + 3 * (i % 3) + c];
                if (value != 0) A.insert(i, 3 * from->col[k] + c) = value;
            }
    A.makeCompressed();
}

// With one thread processor time, as drape-bench has it.
static double now(int32_t threads) {
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

template <class precond> struct with : bench_eigen {
    Eigen::ConjugateGradient<matrix, BOTH, precond> cg;

    explicit with(const drape_bsr3 *from) : bench_eigen(from) {
        cg.setMaxIterations(100000);
        cg.analyzePattern(A);
    }

    bool solve(const double *b, double tol, double *x, bench_eigen_result *result) override {
        double begin = now(threads);
        cg.setTolerance(tol);
        cg.factorize(A);
        double ready = now(threads);
        Eigen::Map<Eigen::VectorXd>(x, A.rows()) = cg.solve(input(b, A.rows()));
        result->iterations = (int32_t)cg.iterations();
        result->setup_seconds = ready - begin;
        result->solve_seconds = now(threads) - ready;
        return cg.info() == Eigen::Success;
    }
};

typedef Eigen::DiagonalPreconditioner<double> diagonal;
typedef Eigen::IncompleteCholesky<double> ichol;
typedef Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::NaturalOrdering<int>> ichol_natural;

extern "C" bench_eigen *bench_eigen_create(const drape_bsr3 *A, bench_eigen_kind kind, int32_t threads) {
    bench_eigen *e = nullptr;
    if (kind == BENCH_EIGEN_DIAGONAL) e = new with<diagonal>(A);
    if (kind == BENCH_EIGEN_ICHOL) e = new with<ichol>(A);
    if (kind == BENCH_EIGEN_ICHOL_NATURAL) e = new with<ichol_natural>(A);
    if (e) e->threads = threads;
    return e;
}

extern "C" void bench_eigen_destroy(bench_eigen *e) { delete e; }

extern "C" int bench_eigen_solve(bench_eigen *e, const double *b, double tol, double *x, bench_eigen_result *result) {
    Eigen::setNbThreads(e->threads); // is global
    return e->solve(b, tol, x, result);
}
