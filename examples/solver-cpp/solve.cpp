// solve.cpp: a chain of particles as a scalar CSR matrix, as C++ libraries keep it, solved by libdrape-solve.
#include <drape/drape.hpp>

#include <cstdio>

int main() try {
    const int particles = 100, n = 3 * particles;
    const double mass = 0.01, spring = 0.05; // kg; h^2 times N/m

    // Springs tie neighbours in each direction: the upper triangle of m I + h^2 K, row by row.
    std::vector<int32_t> start(1, 0), index;
    std::vector<double> values, b(n, 0.0), x(n);
    for (int i = 0; i < n; i++) {
        const int ties = (i >= 3) + (i + 3 < n);
        index.push_back(i), values.push_back(mass + ties * spring);
        if (i + 3 < n) index.push_back(i + 3), values.push_back(-spring);
        start.push_back(static_cast<int32_t>(index.size()));
        if (i % 3 == 2) b[i] = -9.81 * mass * 0.01;
    }
    drape_csr csr = drape_csr();
    csr.rows = n, csr.start32 = start.data(), csr.index32 = index.data(), csr.val = values.data();
    csr.stored = DRAPE_CSR_MIRROR;

    drape::context ctx;
    drape::csr_matrix A(ctx, csr);
    drape::constraints held(ctx, particles);
    drape_constraint first = drape_constraint();
    first.directions = 3; // the first particle moves sideways with 0.5 m/s
    first.z[0] = 0.5;
    held.set({first});

    const drape_bsr3 view = A.view();
    drape_problem problem = drape_problem();
    problem.A = &view, problem.b = b.data(), problem.constraints = held.get();
    drape::solver solver(ctx);
    for (int step = 0; step < 3; step++) {
        const drape_solve_result result = solver.solve(problem, x.data());
        std::printf("%s after %d iterations by %s with %s, last %g m/s\n", drape_reason_name(result.reason),
                    result.iterations, result.method, result.precond, x[n - 1]);
        if (result.reason != DRAPE_CONVERGED) return 1;
        for (double &value : values) value *= 1.01; // another step, other values
        A.refresh(values.data());
    }
    return 0;
} catch (const drape::error &e) {
    std::fprintf(stderr, "solve: %s\n", e.what());
    return 1;
}
