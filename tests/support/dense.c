#include "support/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *dense_new(int64_t count) {
    double *memory = calloc((size_t)count + 1, sizeof *memory);
    if (!memory) abort();
    return memory;
}

void dense_from_bsr3(const drape_bsr3 *A, double *out) {
    int64_t n = 3 * (int64_t)A->rows;
    memset(out, 0, (size_t)(n * n) * sizeof *out);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            for (int32_t e = 0; e < 9; e++)
                out[(3 * i + e / 3) * n + 3 * (int64_t)A->col[k] + e % 3] = A->val[9 * k + e];
}

void dense_multiply(int32_t m, int32_t k, int32_t n, const double *A, const double *B, double *C) {
    memset(C, 0, (size_t)m * (size_t)n * sizeof *C);
    for (int64_t i = 0; i < m; i++)
        for (int64_t l = 0; l < k; l++)
            for (int64_t j = 0; j < n; j++) C[i * n + j] += A[i * k + l] * B[l * n + j];
}

void dense_multiply_transposed(int32_t m, int32_t k, int32_t n, const double *A, const double *B, double *C) {
    memset(C, 0, (size_t)m * (size_t)n * sizeof *C);
    for (int64_t l = 0; l < k; l++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) C[i * n + j] += A[l * m + i] * B[l * n + j];
}

double dense_norm(int64_t count, const double *a) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += a[i] * a[i];
    return sqrt(sum);
}

double dense_difference(int64_t count, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum) / dense_norm(count, b);
}

/* ---- eigenvalues ---- */

/* Columns p and q turned by cosine c and sine s. */
static void rotate_columns(int32_t n, double *A, int64_t p, int64_t q, double c, double s) {
    for (int64_t i = 0; i < n; i++) {
        double x = A[i * n + p], y = A[i * n + q];
        A[i * n + p] = c * x - s * y;
        A[i * n + q] = s * x + c * y;
    }
}

static void rotate_rows(int32_t n, double *A, int64_t p, int64_t q, double c, double s) {
    for (int64_t i = 0; i < n; i++) {
        double x = A[p * n + i], y = A[q * n + i];
        A[p * n + i] = c * x - s * y;
        A[q * n + i] = s * x + c * y;
    }
}

/* Makes A(p, q) zero (Golub and Van Loan, Matrix Computations, algorithm 8.5.1). */
static void jacobi_rotation(int32_t n, double *A, double *V, int64_t p, int64_t q) {
    if (A[p * n + q] == 0) return;
    double tau = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
    double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + hypot(1, tau));
    double c = 1 / hypot(1, t), s = c * t;
    rotate_columns(n, A, p, q, c, s);
    rotate_rows(n, A, p, q, c, s);
    rotate_columns(n, V, p, q, c, s);
    A[p * n + q] = A[q * n + p] = 0;
}

static double off_diagonal(int32_t n, const double *A) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) sum += A[i * n + j] * A[i * n + j];
    return sqrt(sum);
}

/* Moves the diagonal of A to values, ascending, the columns of V with it. */
static void sort_values(int32_t n, const double *A, double *values, double *V) {
    for (int64_t i = 0; i < n; i++) values[i] = A[i * n + i];
    for (int64_t i = 0; i < n; i++) {
        int64_t least = i;
        for (int64_t j = i + 1; j < n; j++)
            if (values[j] < values[least]) least = j;
        double t = values[i];
        values[i] = values[least], values[least] = t;
        for (int64_t k = 0; k < n; k++) t = V[k * n + i], V[k * n + i] = V[k * n + least], V[k * n + least] = t;
    }
}

void dense_eigen(int32_t n, const double *A, double *values, double *vectors) {
    double *S = dense_new((int64_t)n * n), *V = dense_new((int64_t)n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) S[i * n + j] = 0.5 * (A[i * n + j] + A[j * n + i]);
    for (int64_t i = 0; i < n; i++) V[i * n + i] = 1;
    double enough = 1e-17 * dense_norm((int64_t)n * n, S);
    for (int sweep = 0; sweep < 60 && off_diagonal(n, S) > enough; sweep++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) jacobi_rotation(n, S, V, p, q);
    sort_values(n, S, values, V);
    if (vectors) memcpy(vectors, V, (size_t)n * (size_t)n * sizeof *V);
    free(S);
    free(V);
}

/* ---- solving ---- */

bool dense_cholesky(int32_t n, double *A) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = A[i * n + j];
            for (int64_t k = 0; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
            if (i == j && !(sum > 0)) return false;
            A[i * n + j] = i == j ? sqrt(sum) : sum / A[j * n + j];
        }
    return true;
}

void dense_cholesky_solve(int32_t n, const double *L, double *b) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++) b[i] -= L[i * n + k] * b[k];
        b[i] /= L[i * n + i];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < n; k++) b[i] -= L[k * n + i] * b[k];
        b[i] /= L[i * n + i];
    }
}

static void swap_rows(int64_t columns, double *A, int64_t p, int64_t q) {
    for (int64_t j = 0; j < columns; j++) {
        double t = A[p * columns + j];
        A[p * columns + j] = A[q * columns + j], A[q * columns + j] = t;
    }
}

/* A row below the pivot's less a multiple of it. */
static void eliminate(int32_t n, double *A, int32_t columns, double *b, int64_t pivot, int64_t row) {
    double factor = A[row * n + pivot] / A[pivot * n + pivot];
    for (int64_t j = pivot; j < n; j++) A[row * n + j] -= factor * A[pivot * n + j];
    for (int64_t j = 0; j < columns; j++) b[row * columns + j] -= factor * b[pivot * columns + j];
}

bool dense_solve(int32_t n, double *A, int32_t columns, double *b) {
    for (int64_t i = 0; i < n; i++) {
        int64_t pivot = i;
        for (int64_t r = i + 1; r < n; r++)
            if (fabs(A[r * n + i]) > fabs(A[pivot * n + i])) pivot = r;
        if (!(fabs(A[pivot * n + i]) > 0)) return false;
        swap_rows(n, A, i, pivot);
        swap_rows(columns, b, i, pivot);
        for (int64_t r = i + 1; r < n; r++) eliminate(n, A, columns, b, i, r);
    }
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t j = 0; j < columns; j++) {
            for (int64_t k = i + 1; k < n; k++) b[i * columns + j] -= A[i * n + k] * b[k * columns + j];
            b[i * columns + j] /= A[i * n + i];
        }
    return true;
}
