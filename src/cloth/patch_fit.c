/* patch_fit.c: the quadratic function nearest to values at the vertices of a patch.
 *
 * In the coordinates y = (X - X_0)/h, h the root mean square distance, the values f_k are fitted by
 *     a + b.y + c_1 y_1^2/2 + c_2 y_2^2/2 + c_3 y_1 y_2/sqrt 2
 * in the sense of least squares. Let Q be an orthonormal basis of the linear functions on the points, P = I - QQ',
 * and V the three quadratic ones. Then c = (P V)^+ f: linear functions have c = 0, quadratic ones their own. The
 * pseudoinverse leaves out singular values below CUT, so c is the shortest where the points do not determine it: at
 * the border of a mesh, the curvature across it. The length of c is that of the matrix of second derivatives,
 * whatever the axes. What is left of f is R f, with the orthogonal projection R = I - QQ' - UU', U the left singular
 * vectors that were kept.
 */
#include "cloth/patch.h"

#include <math.h>
#include <string.h>

static const double CUT = 0.05, HALF_ROOT = 0.70710678118654752; /* sqrt(1/2) */

/* Orthonormal columns Q[0..2] (n each) that span 1, y_1, y_2; a column that depends on those before it becomes 0. */
static void linear_basis(int32_t n, const double *y, double h, double *Q) {
    const double least = 1e-8;
    for (int32_t c = 0; c < 3; c++) {
        double *q = Q + (int64_t)c * n, before = 0, after = 0;
        for (int32_t k = 0; k < n; k++) q[k] = c == 0 ? 1 : (y[2 * k + c - 1] - y[c - 1]) / h;
        for (int32_t k = 0; k < n; k++) before += q[k] * q[k];
        for (int32_t again = 0; again < 2; again++) /* twice is enough: Kahan and Parlett */
            for (int32_t b = 0; b < c; b++) {
                const double *p = Q + (int64_t)b * n;
                double along = 0;
                for (int32_t k = 0; k < n; k++) along += p[k] * q[k];
                for (int32_t k = 0; k < n; k++) q[k] -= along * p[k];
            }
        for (int32_t k = 0; k < n; k++) after += q[k] * q[k];
        double unit = after > least * least * before ? 1 / sqrt(after) : 0;
        for (int32_t k = 0; k < n; k++) q[k] *= unit;
    }
}

/* V -> P V, twice as above. */
static void remove_linear(int32_t n, const double *Q, double *V) {
    for (int32_t c = 0; c < 3; c++)
        for (int32_t again = 0; again < 2; again++)
            for (int32_t b = 0; b < 3; b++) {
                const double *q = Q + (int64_t)b * n;
                double *v = V + (int64_t)c * n, along = 0;
                for (int32_t k = 0; k < n; k++) along += q[k] * v[k];
                for (int32_t k = 0; k < n; k++) v[k] -= along * q[k];
            }
}

/* One rotation of Jacobi's method: zeroes A[p][q] of the symmetric A, and turns the columns of E with it. */
static void rotate(double A[3][3], double E[3][3], int32_t p, int32_t q) {
    if (A[p][q] == 0) return;
    double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int32_t k = 0; k < 3; k++) {
        double a = A[k][p], b = A[k][q];
        A[k][p] = c * a - s * b, A[k][q] = s * a + c * b;
    }
    for (int32_t k = 0; k < 3; k++) {
        double a = A[p][k], b = A[q][k];
        A[p][k] = c * a - s * b, A[q][k] = s * a + c * b;
    }
    for (int32_t k = 0; k < 3; k++) {
        double a = E[k][p], b = E[k][q];
        E[k][p] = c * a - s * b, E[k][q] = s * a + c * b;
    }
}

/* Eigenvalues of A on its diagonal, eigenvectors in the columns of E. */
static void eigen3(double A[3][3], double E[3][3]) {
    enum { SWEEPS = 12 };
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++) E[i][j] = i == j;
    for (int32_t sweep = 0; sweep < SWEEPS; sweep++) {
        rotate(A, E, 0, 1);
        rotate(A, E, 0, 2);
        rotate(A, E, 1, 2);
    }
}

static double scale_of(int32_t n, const double *y) {
    double sum = 0;
    for (int32_t k = 1; k < n; k++) {
        double a = y[2 * k] - y[0], b = y[2 * k + 1] - y[1];
        sum += a * a + b * b;
    }
    return n > 1 && sum > 0 ? sqrt(sum / (n - 1)) : 1;
}

double drape_i_patch_fit(int32_t n, const double *y, double *C, double *residual, double *scale, double *work) {
    double *Q = work, *V = work + 3 * (int64_t)n, *U = work + 6 * (int64_t)n;
    double A[3][3], E[3][3], h = scale_of(n, y), smallest = INFINITY;
    linear_basis(n, y, h, Q);
    for (int32_t k = 0; k < n; k++) {
        double a = (y[2 * k] - y[0]) / h, b = (y[2 * k + 1] - y[1]) / h;
        V[k] = a * a / 2, V[n + k] = b * b / 2, V[2 * n + k] = a * b * HALF_ROOT;
    }
    remove_linear(n, Q, V);
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++) {
            A[i][j] = 0;
            for (int32_t k = 0; k < n; k++) A[i][j] += V[(int64_t)i * n + k] * V[(int64_t)j * n + k];
        }
    eigen3(A, E);
    memset(C, 0, 3 * (size_t)n * sizeof *C);
    memset(U, 0, 3 * (size_t)n * sizeof *U);
    for (int32_t m = 0; m < 3; m++) {
        double s = sqrt(fmax(A[m][m], 0));
        smallest = fmin(smallest, s);
        if (s < CUT) continue;
        for (int32_t k = 0; k < n; k++) {
            double u = (E[0][m] * V[k] + E[1][m] * V[n + k] + E[2][m] * V[2 * n + k]) / s;
            U[(int64_t)m * n + k] = u;
            for (int32_t c = 0; c < 3; c++) C[(int64_t)c * n + k] += E[c][m] * u / (s * h * h);
        }
    }
    for (int32_t k = 0; k < n; k++) C[2 * (int64_t)n + k] *= HALF_ROOT;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            double sum = a == b;
            for (int32_t c = 0; c < 3; c++)
                sum -= Q[(int64_t)c * n + a] * Q[(int64_t)c * n + b] + U[(int64_t)c * n + a] * U[(int64_t)c * n + b];
            residual[(int64_t)a * n + b] = sum;
        }
    *scale = h;
    return smallest;
}
