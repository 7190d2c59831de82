// eigen.cpp: a matrix of Eigen, solved by libdrape-solve and by Eigen itself.
#include <drape/drape.hpp>

#include <Eigen/Sparse>
#include <cstdio>

using matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

// Eigen's compressed rows are the arrays that drape reads. A column-major matrix, Eigen's default, works likewise
// with drape::csr_matrix::order::columns.
static drape_csr view_of(const matrix &A) {
    drape_csr view = drape_csr();
    view.rows = A.rows();
    view.start32 = A.outerIndexPtr();
    view.index32 = A.innerIndexPtr();
    view.val = A.valuePtr();
    return view;
}

int main() try {
    const int n = 3 * 2000; // a chain of 2000 vertices, three numbers each
    std::vector<Eigen::Triplet<double>> entries;
    for (int i = 0; i < n; i++) {
        entries.emplace_back(i, i, 2.01);
        if (i + 3 < n) entries.emplace_back(i, i + 3, -1), entries.emplace_back(i + 3, i, -1);
    }
    matrix A(n, n);
    A.setFromTriplets(entries.begin(), entries.end());
    A.makeCompressed();
    const Eigen::VectorXd b = Eigen::VectorXd::Ones(n);

    drape::context ctx;
    drape::csr_matrix mine(ctx, view_of(A));
    const drape_bsr3 blocks = mine.view();
    drape_problem problem = drape_problem();
    problem.A = &blocks;
    problem.b = b.data();
    drape_solve_settings settings = drape_solve_defaults();
    settings.tol = 1e-10;
    Eigen::VectorXd x(n);
    const drape_solve_result result = drape::solver(ctx, settings).solve(problem, x.data());

    Eigen::ConjugateGradient<matrix, Eigen::Lower | Eigen::Upper> theirs(A);
    theirs.setTolerance(1e-10);
    const double difference = (theirs.solve(b) - x).norm() / x.norm();
    std::printf("%s after %d iterations; relative difference from Eigen %s\n", drape_reason_name(result.reason),
                result.iterations, difference < 1e-7 ? "below 1e-7" : "too large");
    return difference < 1e-7 ? 0 : 1;
} catch (const drape::error &e) {
    std::fprintf(stderr, "eigen: %s\n", e.what());
    return 1;
}
