// The part of HiGHS's C API that this package uses. HiGHS 1.10's own header
// defines non-static constants and can be included in one C file of a program only,
// which is one of github.com/lanl/highs, so the Go files see these functions instead,
// and shim.cpp is C++, where constants are local to a file.
#ifndef GAPWISE_HIGHS_SHIM_H
#define GAPWISE_HIGHS_SHIM_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct gw_state gw_state;

// What is known of a running solve.
typedef struct {
  double primal, dual, gap;
  int64_t nodes;
  int has_mip, has_solution;
} gw_progress;

// gw_new makes a solver; log_handle is passed to gwLog, 0 for no log.
gw_state* gw_new(uintptr_t log_handle);
void gw_free(gw_state* s);
int gw_int_option(gw_state* s, const char* name, int value);
int gw_bool_option(gw_state* s, const char* name, int value);
int gw_double_option(gw_state* s, const char* name, double value);
int gw_string_option(gw_state* s, const char* name, const char* value);
int gw_pass(gw_state* s, int cols, int rows, int nz, int maximise, double offset,
            const double* cost, const double* col_lower, const double* col_upper,
            const double* row_lower, const double* row_upper, const int* start,
            const int* index, const double* value, const int* integrality);
int gw_add_cols(gw_state* s, int cols, int nz, const double* cost, const double* lower,
                const double* upper, const int* start, const int* index, const double* value);
int gw_set_solution(gw_state* s, const double* col_value);
int gw_read(gw_state* s, const char* file);
int gw_run(gw_state* s);
int gw_clear(gw_state* s);
void gw_stop(gw_state* s);
gw_progress gw_now(gw_state* s);
// gw_count has gwCount called with count_handle and the iterations so far, wherever a MIP may be stopped.
void gw_count(gw_state* s, uintptr_t count_handle);
int gw_now_solution(gw_state* s, double* x, int n);
int gw_model_status(gw_state* s);
int gw_int_info(gw_state* s, const char* name, int* value);
int gw_int64_info(gw_state* s, const char* name, int64_t* value);
int gw_double_info(gw_state* s, const char* name, double* value);
int gw_solution(gw_state* s, double* col_value, double* col_dual, double* row_value, double* row_dual);
int gw_cols(gw_state* s);
int gw_rows(gw_state* s);
void gw_reset_scheduler(void);
const char* gw_version(void);
#ifdef __cplusplus
}
#endif
#endif
