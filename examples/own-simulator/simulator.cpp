// simulator.cpp: a small cloth simulator with a matrix of its own, whose linear systems libdrape-solve solves.
//
// A sheet of springs hangs from two corners; one of them moves. Every time step assembles
//     (M + h^2 K) dv = h (f - h K v)
// in compressed sparse rows, as C++ libraries store them, and hands the arrays to drape.
#include <drape/drape.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

const double MASS = 1e-4, STIFFNESS = 200, STEP = 0.01, GRAVITY = -9.81; // kg, N/m, s, m/s^2

// ---- The simulator's own data: nothing here knows of drape ----

struct spring {
    int a, b;
    double length;
};

struct sheet {
    int side;
    std::vector<double> x, v; // 3 doubles per vertex
    std::vector<spring> springs;

    // Scalar compressed rows. Vertex i has the rows 3i to 3i+2; slot[i] lists its neighbours, itself included.
    std::vector<std::vector<int>> slot;
    std::vector<int32_t> start, index;
    std::vector<double> value, b;

    explicit sheet(int n);
    void assemble();

  private:
    void connect(int i, int j);
    void make_pattern();
    double &entry(int i, int j, int r, int c);
};

sheet::sheet(int n) : side(n), x(3 * n * n), v(3 * n * n), slot(n * n), b(3 * n * n) {
    for (int k = 0; k < n * n; k++) {
        x[3 * k] = 0.02 * (k % n);
        x[3 * k + 1] = 0.02 * (k / n);
        slot[k].push_back(k);
    }
    for (int k = 0; k < n * n; k++) {
        const bool right = k % n + 1 < n, above = k / n + 1 < n;
        if (right) connect(k, k + 1);
        if (above) connect(k, k + n);
        if (right && above) connect(k, k + n + 1), connect(k + 1, k + n);
    }
    make_pattern();
}

void sheet::connect(int i, int j) {
    springs.push_back({i, j, std::hypot(x[3 * j] - x[3 * i], x[3 * j + 1] - x[3 * i + 1])});
    slot[i].push_back(j);
    slot[j].push_back(i);
}

void sheet::make_pattern() {
    start.push_back(0);
    for (const std::vector<int> &neighbours : slot)
        for (int r = 0; r < 3; r++) {
            for (int j : neighbours)
                for (int c = 0; c < 3; c++) index.push_back(3 * j + c);
            start.push_back(static_cast<int32_t>(index.size()));
        }
    value.resize(index.size());
}

double &sheet::entry(int i, int j, int r, int c) {
    std::size_t k = 0;
    while (slot[i][k] != j) k++;
    return value[start[3 * i + r] + 3 * k + c];
}

// The matrix M + h^2 K and the right-hand side h (f - h K v).
void sheet::assemble() {
    std::fill(value.begin(), value.end(), 0.0);
    for (int i = 0; i < side * side; i++)
        for (int r = 0; r < 3; r++) {
            entry(i, i, r, r) = MASS;
            b[3 * i + r] = r == 2 ? STEP * MASS * GRAVITY : 0;
        }
    for (const spring &s : springs) {
        double n[3], l = 0, speed = 0;
        for (int r = 0; r < 3; r++) n[r] = x[3 * s.b + r] - x[3 * s.a + r], l += n[r] * n[r];
        l = std::sqrt(l);
        for (int r = 0; r < 3; r++) n[r] /= l, speed += n[r] * (v[3 * s.b + r] - v[3 * s.a + r]);
        const double tension = STIFFNESS * (l - s.length), pull = tension + STEP * STIFFNESS * speed;
        for (int r = 0; r < 3; r++) {
            b[3 * s.a + r] += STEP * pull * n[r];
            b[3 * s.b + r] -= STEP * pull * n[r];
            for (int c = 0; c < 3; c++) { // along the spring only: the matrix stays positive definite
                const double k = STEP * STEP * STIFFNESS * n[r] * n[c];
                entry(s.a, s.a, r, c) += k, entry(s.b, s.b, r, c) += k;
                entry(s.a, s.b, r, c) -= k, entry(s.b, s.a, r, c) -= k;
            }
        }
    }
}

// ---- The memory of the host program: here malloc with a counter ----

struct memory {
    long calls = 0;
    std::size_t bytes = 0, most = 0;
};

void *allocate(void *user, std::size_t bytes) {
    memory *m = static_cast<memory *>(user);
    m->calls++;
    m->bytes += bytes;
    m->most = std::max(m->most, m->bytes);
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}

void release(void *user, void *block, std::size_t bytes) {
    static_cast<memory *>(user)->bytes -= bytes;
    std::free(block);
}

void print(void *, drape_log_level level, const char *message) {
    std::fprintf(stderr, "%s: %s\n", drape_log_level_name(level), message);
}

} // namespace

int main() try {
    const int n = 41, steps = 100;
    sheet cloth(n);
    memory used;

    // 1. A context: memory, threads and log of everything that follows.
    drape_context_settings host = drape_context_defaults();
    host.allocator = {allocate, release, &used};
    host.threads = 2;
    host.log = print;
    drape::context ctx(host);

    // 2. The matrix: the arrays are described once, with their pattern.
    drape_csr csr = drape_csr();
    csr.rows = 3 * n * n;
    csr.start32 = cloth.start.data();
    csr.index32 = cloth.index.data();
    csr.val = cloth.value.data();
    drape::csr_matrix A(ctx, csr);

    // 3. What is held: one corner rests, the other moves to the left with 0.2 m/s. z is the prescribed change of the
    // unknown, here of the velocity, so it is set again in every step.
    drape::constraints held(ctx, n * n);
    std::vector<drape_constraint> corners(2);
    corners[0] = corners[1] = drape_constraint();
    corners[0].vertex = 0;
    corners[1].vertex = n - 1;
    corners[0].directions = corners[1].directions = 3;

    // 4. One solver for the whole animation: it keeps its memory, and learns which preconditioner is the fastest.
    drape_solve_settings settings = drape_solve_defaults();
    settings.tol = 1e-6;
    drape::solver solver(ctx, settings);

    // 5. The animation.
    std::vector<double> dv(3 * n * n);
    int iterations = 0;
    long calls_after_first = 0;
    for (int step = 0; step < steps; step++) {
        cloth.assemble();
        A.refresh(cloth.value.data());
        corners[1].z[0] = -0.2 - cloth.v[3 * (n - 1)];
        held.set(corners);

        const drape_bsr3 view = A.view();
        drape_problem problem = drape_problem();
        problem.A = &view;
        problem.b = cloth.b.data();
        problem.constraints = held.get();
        problem.guess = dv.data();          // the last step's answer
        problem.positions = cloth.x.data(); // for multigrid
        const drape_solve_result result = solver.solve(problem, dv.data());
        if (result.reason != DRAPE_CONVERGED) {
            std::fprintf(stderr, "step %d: %s %s\n", step, drape_reason_name(result.reason),
                         result.detail ? result.detail : "");
            return 1;
        }
        for (int i = 0; i < 3 * n * n; i++) cloth.v[i] += dv[i], cloth.x[i] += STEP * cloth.v[i];
        iterations += result.iterations;
        if (step == 0) calls_after_first = used.calls;
        if ((step + 1) % 25 == 0)
            std::printf("t = %.2f s  %s after %2d iterations by %s with %s, lowest corner z = %.3f m\n",
                        (step + 1) * STEP, drape_reason_name(result.reason), result.iterations, result.method,
                        result.precond, cloth.x[3 * (n * n - 1) + 2]);
    }
    std::printf("%d vertices, %.1f iterations per step, at most %.1f MB; %ld allocations up to the first step, %ld "
                "after it\n",
                n * n, static_cast<double>(iterations) / steps, used.most / 1e6, calls_after_first,
                used.calls - calls_after_first);
    return 0;
} catch (const drape::error &e) {
    std::fprintf(stderr, "simulator: %s\n", e.what());
    return 1;
}
