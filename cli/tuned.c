/* tuned.c: what a solver that was tuned tried. */
#include "cli.h"

static drape_tuned tuned_at(const drape_solver *solver, int32_t index) {
    drape_tuned t;
    drape_solver_tuned(solver, index, &t); /* is there: index is below drape_solver_tuned_count */
    return t;
}

void print_tuned(const drape_solver *solver) {
    int32_t count = drape_solver_tuned_count(solver);
    if (count == 0) return;
    printf("tuned         modes  iterations    first ms    again ms    MB moved  outcome\n");
    for (int32_t i = 0; i < count; i++) {
        drape_tuned t = tuned_at(solver, i);
        printf("%-15s %3.0d %11d %11.3f %11.3f %11.4g  %s%s\n", t.precond, t.modes, t.iterations,
               1e3 * t.first_seconds, 1e3 * t.again_seconds, 1e-6 * (double)t.bytes_moved,
               drape_reason_name(t.reason), t.chosen ? ": taken" : "");
    }
    printf("chosen by the clock: another machine, or another run, may choose another and get other last bits\n");
}

void print_tuned_json(const drape_solver *solver) {
    int32_t count = drape_solver_tuned_count(solver);
    if (count == 0) return;
    printf("  \"tuned\": [");
    for (int32_t i = 0; i < count; i++) {
        drape_tuned t = tuned_at(solver, i);
        printf("%s\n    {\"precond\": \"%s\", \"modes\": %d, \"iterations\": %d, \"first_seconds\": %.17g, "
               "\"again_seconds\": %.17g, \"bytes_moved\": %lld, \"reason\": \"%s\", \"chosen\": %s}",
               i > 0 ? "," : "", t.precond, t.modes, t.iterations, t.first_seconds, t.again_seconds,
               (long long)t.bytes_moved, drape_reason_name(t.reason), t.chosen ? "true" : "false");
    }
    printf("],\n");
}
