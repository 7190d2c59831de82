// drape/drape.hpp: drape/solve.h for C++11 and later: handles that own themselves, errors as exceptions.
//
//   drape::context ctx;
//   drape::solver solver(ctx);                                  // drape_solve_settings may follow
//   drape_solve_result r = solver.solve(problem, x.data());
//
// A thin layer, and nothing but this header: views, problems, settings and results are the structs of C. Objects are
// moved, not copied, and get() gives the C handle for what is not here. Each must go before its context. A call that
// fails throws drape::error with the message; that an iteration did not converge is a reason in the result, as in C.
#ifndef DRAPE_DRAPE_HPP
#define DRAPE_DRAPE_HPP

#include "drape/solve.h"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace drape {

class error : public std::runtime_error {
  public:
    error(drape_status status, const std::string &message) : std::runtime_error(message), status_(status) {}
    drape_status status() const noexcept { return status_; }

  private:
    drape_status status_;
};

// Throws unless the status is DRAPE_OK. The message is that of the context, where there is one.
inline void check(drape_status status, const drape_context *ctx) {
    if (status == DRAPE_OK) return;
    const char *name = drape_status_name(status);
    std::string message = ctx ? drape_message(ctx) : "";
    throw error(status, message.empty() ? std::string(name ? name : "drape failed") : message);
}

// What all handles have in common: one owner, who destroys it.
template <typename T, void (*destroy)(T *)> class handle {
  public:
    handle() noexcept : it_(nullptr) {}
    explicit handle(T *it) noexcept : it_(it) {}
    ~handle() { destroy(it_); }
    handle(handle &&other) noexcept : it_(other.release()) {}
    handle &operator=(handle &&other) noexcept {
        if (this != &other) {
            destroy(it_);
            it_ = other.release();
        }
        return *this;
    }
    handle(const handle &) = delete;
    handle &operator=(const handle &) = delete;

    T *get() const noexcept { return it_; }
    T *release() noexcept {
        T *it = it_;
        it_ = nullptr;
        return it;
    }
    explicit operator bool() const noexcept { return it_ != nullptr; }

  private:
    T *it_;
};

class context : public handle<drape_context, drape_context_destroy> {
  public:
    context() : handle(create(nullptr)) {}
    explicit context(const drape_context_settings &settings) : handle(create(&settings)) {}
    int32_t threads() const { return drape_context_threads(get()); }

  private:
    static drape_context *create(const drape_context_settings *settings) {
        drape_context *ctx = nullptr;
        check(drape_context_create(settings, &ctx), nullptr);
        return ctx;
    }
};

// Block rows that own their arrays.
class matrix : public handle<drape_matrix, drape_matrix_destroy> {
  public:
    matrix() = default;
    // The pattern of elements; values are zero.
    matrix(const context &ctx, int32_t rows, const std::vector<drape_elements> &sets) {
        drape_matrix *m = nullptr;
        check(drape_matrix_from_elements(ctx.get(), rows, sets.data(), static_cast<int32_t>(sets.size()), &m),
              ctx.get());
        *this = matrix(m);
    }
    // A checked copy.
    matrix(const context &ctx, const drape_bsr3 &A) {
        drape_matrix *m = nullptr;
        check(drape_matrix_copy(ctx.get(), &A, &m), ctx.get());
        *this = matrix(m);
    }
    explicit matrix(drape_matrix *m) noexcept : handle(m) {}

    drape_bsr3 view() const { return drape_matrix_view(get()); }
};

// A matrix entry by entry.
class builder : public handle<drape_builder, drape_builder_destroy> {
  public:
    builder(const context &ctx, int64_t rows) : ctx_(ctx.get()) {
        drape_builder *b = nullptr;
        check(drape_builder_create(ctx_, rows, &b), ctx_);
        static_cast<handle &>(*this) = handle(b);
    }
    void add(int64_t row, int64_t column, double value) { check(drape_builder_add(get(), row, column, value), ctx_); }
    matrix finish() const {
        drape_matrix *m = nullptr;
        check(drape_builder_finish(get(), &m), ctx_);
        return matrix(m);
    }

  private:
    drape_context *ctx_;
};

// Scalar CSR or CSC, turned into block rows, with the way for further values.
class csr_matrix {
  public:
    enum class order { rows, columns };

    csr_matrix(const context &ctx, const drape_csr &A, order by = order::rows) : ctx_(ctx.get()) {
        drape_matrix *m = nullptr;
        drape_csr_map *map = nullptr;
        check(by == order::rows ? drape_bsr3_from_csr(ctx_, &A, &m, &map) : drape_bsr3_from_csc(ctx_, &A, &m, &map),
              ctx_);
        matrix_ = matrix(m);
        map_ = handle<drape_csr_map, drape_csr_map_destroy>(map);
    }
    void refresh(const double *values) { check(drape_csr_map_refresh(map_.get(), values, matrix_.get()), ctx_); }
    drape_bsr3 view() const { return matrix_.view(); }

  private:
    drape_context *ctx_;
    matrix matrix_;
    handle<drape_csr_map, drape_csr_map_destroy> map_;
};

class constraints : public handle<drape_constraints, drape_constraints_destroy> {
  public:
    constraints(const context &ctx, int32_t vertices) : ctx_(ctx.get()) {
        drape_constraints *set = nullptr;
        check(drape_constraints_create(ctx_, vertices, &set), ctx_);
        static_cast<handle &>(*this) = handle(set);
    }
    void set(const std::vector<drape_constraint> &list) {
        check(drape_constraints_set(get(), list.data(), static_cast<int32_t>(list.size())), ctx_);
    }
    void set_filter(const double *S, const double *z) { check(drape_constraints_set_filter(get(), S, z), ctx_); }
    int32_t count() const { return drape_constraints_count(get()); }

  private:
    drape_context *ctx_;
};

class solver : public handle<drape_solver, drape_solver_destroy> {
  public:
    explicit solver(const context &ctx) : solver(ctx, drape_solve_defaults()) {}
    solver(const context &ctx, const drape_solve_settings &settings) : ctx_(ctx.get()) {
        drape_solver *s = nullptr;
        check(drape_solver_create(ctx_, &settings, &s), ctx_);
        static_cast<handle &>(*this) = handle(s);
    }
    drape_solve_result solve(const drape_problem &problem, double *x) {
        drape_solve_result result = drape_solve_result();
        check(drape_solver_solve(get(), &problem, x, &result), ctx_);
        return result;
    }
    // `count` columns, one after the other in b and in x.
    std::vector<drape_solve_result> solve_many(const drape_problem &problem, int32_t count, const double *b,
                                               double *x) {
        std::vector<drape_solve_result> results(count > 0 ? static_cast<std::size_t>(count) : 0);
        check(drape_solver_solve_many(get(), &problem, count, b, x, results.data()), ctx_);
        return results;
    }
    void forget() { drape_solver_forget(get()); }

  private:
    drape_context *ctx_;
};

class precond : public handle<drape_precond, drape_precond_destroy> {
  public:
    precond(const context &ctx, const char *name, const drape_bsr3 &A)
        : precond(ctx, name, A, drape_solve_defaults()) {}
    precond(const context &ctx, const char *name, const drape_bsr3 &A, const drape_solve_settings &settings)
        : ctx_(ctx.get()) {
        drape_precond *p = nullptr;
        check(drape_precond_create(ctx_, name, &A, &settings, &p), ctx_);
        static_cast<handle &>(*this) = handle(p);
    }
    void refresh(const drape_problem &problem) { check(drape_precond_refresh(get(), &problem), ctx_); }
    void apply(const double *r, double *z) { check(drape_precond_apply(get(), r, z), ctx_); }

  private:
    drape_context *ctx_;
};

// y = A x
inline void multiply(const context &ctx, const drape_bsr3 &A, const double *x, double *y) {
    check(drape_multiply(ctx.get(), &A, x, y), ctx.get());
}

} // namespace drape

#endif
