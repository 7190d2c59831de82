// Everything in drape/drape.hpp once: results as in C, errors thrown with their message, moves that leave nothing
// twice.
#include <drape/drape.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define REQUIRE(condition)                                                                                           \
    do                                                                                                               \
        if (!(condition)) {                                                                                          \
            std::printf("line %d: %s\n", __LINE__, #condition);                                                      \
            std::exit(1);                                                                                            \
        }                                                                                                            \
    while (0)

template <typename F> static void throws(drape_status status, const char *fragment, F call) {
    try {
        call();
    } catch (const drape::error &e) {
        if (e.status() == status && std::strstr(e.what(), fragment)) return;
        std::printf("status %d, '%s'; wanted %d, '%s'\n", e.status(), e.what(), status, fragment);
        std::exit(1);
    }
    std::printf("nothing was thrown: %s\n", fragment);
    std::exit(1);
}

// The block tridiagonal matrix -1, 3, -1.
static drape::matrix chain(const drape::context &ctx, int32_t rows) {
    std::vector<int32_t> nodes;
    for (int32_t i = 0; i + 1 < rows; i++) nodes.push_back(i), nodes.push_back(i + 1);
    const drape_elements set = {2, rows - 1, nodes.data()};
    drape::matrix m(ctx, rows, {set});
    const drape_bsr3 A = m.view();
    for (int32_t i = 0; i < rows; i++)
        for (int64_t k = A.rowptr[i]; k < A.rowptr[i + 1]; k++)
            for (int d = 0; d < 9; d += 4) A.val[9 * k + d] = A.col[k] == i ? 3 : -1;
    return m;
}

static void solves(const drape::context &ctx) {
    enum { ROWS = 20, N = 3 * ROWS };
    drape::matrix m = chain(ctx, ROWS), moved = std::move(m), copy(ctx, moved.view());
    REQUIRE(!m && moved && copy);
    const drape_bsr3 A = copy.view();
    std::vector<double> want(2 * N), b(2 * N), x(2 * N), z(N);
    for (int i = 0; i < 2 * N; i++) want[i] = std::sqrt(i + 1.0);
    for (int k = 0; k < 2; k++) drape::multiply(ctx, A, want.data() + N * k, b.data() + N * k);
    drape_solve_settings settings = drape_solve_settings(); // zeros are the defaults
    settings.tol = 1e-12;
    drape::solver solver(ctx, settings), other = std::move(solver);
    drape_problem problem = drape_problem();
    problem.A = &A;
    std::vector<drape_solve_result> results = other.solve_many(problem, 2, b.data(), x.data());
    REQUIRE(results.size() == 2 && results[1].reason == DRAPE_CONVERGED);
    for (int i = 0; i < 2 * N; i++) REQUIRE(std::fabs(x[i] - want[i]) < 1e-9);
    drape::constraints held(ctx, ROWS);
    drape_constraint first = drape_constraint();
    first.directions = 3;
    first.z[1] = 7;
    held.set({first});
    REQUIRE(held.count() == 1);
    problem.b = b.data();
    problem.constraints = held.get();
    other.forget();
    REQUIRE(other.solve(problem, x.data()).reason == DRAPE_CONVERGED);
    REQUIRE(x[0] == 0 && x[1] == 7 && x[2] == 0);
    drape::precond P(ctx, "block_diagonal", A);
    problem.constraints = nullptr;
    P.refresh(problem);
    P.apply(b.data(), z.data());
    for (int i = 0; i < N; i++) REQUIRE(std::fabs(z[i] - b[i] / 3) < 1e-12 * std::fabs(b[i]));
    throws(DRAPE_ERROR_ARGUMENT, "known: none", [&] { drape::precond(ctx, "magic", A); });
    throws(DRAPE_ERROR_ARGUMENT, "b is missing", [&] { problem.b = nullptr, other.solve(problem, x.data()); });
    settings.method = "magic";
    throws(DRAPE_ERROR_ARGUMENT, "known: auto", [&] { drape::solver(ctx, settings); });
    throws(DRAPE_ERROR_ARGUMENT, "vertex 20", [&] { first.vertex = ROWS, held.set({first}); });
}

static void builds(const drape::context &ctx) {
    const int32_t start[] = {0, 1, 3, 5, 7}, index[] = {0, 0, 1, 1, 2, 2, 3};
    double val[] = {4, -1, 4, -1, 4, -1, 4};
    drape::builder b(ctx, 4);
    for (int i = 0; i < 4; i++)
        for (int k = start[i]; k < start[i + 1]; k++) {
            b.add(i, index[k], val[k]);
            if (index[k] != i) b.add(index[k], i, val[k]);
        }
    drape::matrix want = b.finish();
    drape_csr csr = drape_csr();
    csr.rows = 4, csr.start32 = start, csr.index32 = index, csr.val = val;
    throws(DRAPE_ERROR_ARGUMENT, "one triangle only", [&] { drape::csr_matrix(ctx, csr); });
    csr.stored = DRAPE_CSR_MIRROR;
    for (int columns = 0; columns < 2; columns++) {
        drape::csr_matrix made(ctx, csr,
                               columns ? drape::csr_matrix::order::columns : drape::csr_matrix::order::rows);
        const drape_bsr3 A = made.view(), B = want.view();
        REQUIRE(A.rows == 2 && A.rowptr[2] == B.rowptr[2]);
        for (int k = 0; k < 9 * A.rowptr[2]; k++) REQUIRE(A.val[k] == B.val[k]);
        made.refresh(val);
        for (int k = 0; k < 9 * A.rowptr[2]; k++) REQUIRE(A.val[k] == B.val[k]);
        drape::csr_matrix moved = std::move(made);
        REQUIRE(moved.view().rows == 2);
    }
    throws(DRAPE_ERROR_ARGUMENT, "outside", [&] { b.add(4, 0, 1); });
}

int main() {
    drape_context_settings settings = drape_context_defaults();
    settings.threads = 2;
    drape::context first(settings), ctx = std::move(first);
    REQUIRE(!first && ctx && ctx.threads() == 2);
    const int64_t before = drape_context_bytes(ctx.get());
    solves(ctx);
    builds(ctx);
    REQUIRE(drape_context_bytes(ctx.get()) == before);
    settings.threads = -1;
    throws(DRAPE_ERROR_ARGUMENT, "", [&] { drape::context(settings).get(); });
    std::printf("all is well\n");
    return 0;
}
