//go:build cgo && !nohighs

#include "shim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/highs_c_api.h"

// In C the header's constants would be defined here once more than in any other file
// that includes it, as those of github.com/lanl/highs do; in C++ they are local.

extern "C" void gwLog(uintptr_t handle, char* message);
extern "C" int gwCount(uintptr_t handle, int64_t iterations);

struct gw_state {
  void* highs;
  uintptr_t log, count;
  int stop;  // set from any thread, read in the callbacks
  pthread_mutex_t lock;
  gw_progress now;
  double* best;  // the latest improving solution
  int columns;
};

// A MIP's figures come with these callbacks; any callback may be told to stop.
static void on_callback(int type, const char* message, const HighsCallbackDataOut* out,
                        HighsCallbackDataIn* in, void* data) {
  gw_state* s = static_cast<gw_state*>(data);
  if (type == kHighsCallbackLogging) {
    if (s->log) gwLog(s->log, (char*)message);
    return;
  }
  if (type == kHighsCallbackMipInterrupt || type == kHighsCallbackMipImprovingSolution) {
    pthread_mutex_lock(&s->lock);
    s->now.has_mip = 1;
    s->now.primal = out->mip_primal_bound;
    s->now.dual = out->mip_dual_bound;
    s->now.gap = out->mip_gap;
    s->now.nodes = out->mip_node_count;
    if (type == kHighsCallbackMipImprovingSolution && out->mip_solution) {
      if (!s->best) s->best = static_cast<double*>(malloc(sizeof(double) * (s->columns ? s->columns : 1)));
      if (s->best) {
        memcpy(s->best, out->mip_solution, sizeof(double) * s->columns);
        s->now.has_solution = 1;
        s->now.primal = out->objective_function_value;
      }
    }
    pthread_mutex_unlock(&s->lock);
  }
  if (type == kHighsCallbackMipInterrupt && s->count && gwCount(s->count, out->mip_total_lp_iterations)) gw_stop(s);
  if (in && __atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) in->user_interrupt = 1;
}

gw_state* gw_new(uintptr_t log) {
  gw_state* s = static_cast<gw_state*>(calloc(1, sizeof(gw_state)));
  if (!s) return NULL;
  s->highs = Highs_create();
  s->log = log;
  pthread_mutex_init(&s->lock, NULL);
  // With the callback on, what would go to the console goes there instead.
  Highs_setBoolOptionValue(s->highs, "log_to_console", log != 0);
  Highs_setBoolOptionValue(s->highs, "output_flag", log != 0);
  if (Highs_setCallback(s->highs, on_callback, s) != 0 ||
      Highs_startCallback(s->highs, kHighsCallbackSimplexInterrupt) != 0 ||
      Highs_startCallback(s->highs, kHighsCallbackIpmInterrupt) != 0 ||
      Highs_startCallback(s->highs, kHighsCallbackMipImprovingSolution) != 0 ||
      Highs_startCallback(s->highs, kHighsCallbackMipInterrupt) != 0 ||
      (log && Highs_startCallback(s->highs, kHighsCallbackLogging) != 0)) {
    gw_free(s);
    return NULL;
  }
  return s;
}

void gw_free(gw_state* s) {
  Highs_destroy(s->highs);
  pthread_mutex_destroy(&s->lock);
  free(s->best);
  free(s);
}

int gw_int_option(gw_state* s, const char* n, int v) { return Highs_setIntOptionValue(s->highs, n, v); }
int gw_bool_option(gw_state* s, const char* n, int v) { return Highs_setBoolOptionValue(s->highs, n, v); }
int gw_double_option(gw_state* s, const char* n, double v) { return Highs_setDoubleOptionValue(s->highs, n, v); }
int gw_string_option(gw_state* s, const char* n, const char* v) { return Highs_setStringOptionValue(s->highs, n, v); }

int gw_pass(gw_state* s, int cols, int rows, int nz, int maximise, double offset, const double* cost,
            const double* cl, const double* cu, const double* rl, const double* ru, const int* start,
            const int* index, const double* value, const int* integrality) {
  int sense = maximise ? kHighsObjSenseMaximize : kHighsObjSenseMinimize;
  s->columns = cols;
  if (integrality)
    return Highs_passMip(s->highs, cols, rows, nz, kHighsMatrixFormatRowwise, sense, offset, cost, cl, cu,
                         rl, ru, start, index, value, integrality);
  return Highs_passLp(s->highs, cols, rows, nz, kHighsMatrixFormatRowwise, sense, offset, cost, cl, cu, rl,
                      ru, start, index, value);
}

int gw_add_cols(gw_state* s, int cols, int nz, const double* cost, const double* lower, const double* upper,
                const int* start, const int* index, const double* value) {
  return Highs_addCols(s->highs, cols, cost, lower, upper, nz, start, index, value);
}
int gw_set_solution(gw_state* s, const double* x) { return Highs_setSolution(s->highs, x, NULL, NULL, NULL); }
int gw_read(gw_state* s, const char* file) {
  int rc = Highs_readModel(s->highs, file);
  s->columns = Highs_getNumCol(s->highs);
  return rc;
}
int gw_run(gw_state* s) { return Highs_run(s->highs); }
int gw_clear(gw_state* s) { return Highs_clearSolver(s->highs); }
void gw_stop(gw_state* s) { __atomic_store_n(&s->stop, 1, __ATOMIC_RELEASE); }

void gw_count(gw_state* s, uintptr_t count) { s->count = count; }

gw_progress gw_now(gw_state* s) {
  pthread_mutex_lock(&s->lock);
  gw_progress p = s->now;
  pthread_mutex_unlock(&s->lock);
  return p;
}

int gw_now_solution(gw_state* s, double* x, int n) {
  pthread_mutex_lock(&s->lock);
  int ok = s->best && n == s->columns;
  if (ok) memcpy(x, s->best, sizeof(double) * n);
  pthread_mutex_unlock(&s->lock);
  return ok;
}

int gw_model_status(gw_state* s) { return Highs_getModelStatus(s->highs); }
int gw_int_info(gw_state* s, const char* n, int* v) { return Highs_getIntInfoValue(s->highs, n, v); }
int gw_int64_info(gw_state* s, const char* n, int64_t* v) { return Highs_getInt64InfoValue(s->highs, n, v); }
int gw_double_info(gw_state* s, const char* n, double* v) { return Highs_getDoubleInfoValue(s->highs, n, v); }
int gw_solution(gw_state* s, double* x, double* dx, double* r, double* dr) {
  return Highs_getSolution(s->highs, x, dx, r, dr);
}
int gw_cols(gw_state* s) { return Highs_getNumCol(s->highs); }
int gw_rows(gw_state* s) { return Highs_getNumRow(s->highs); }
void gw_reset_scheduler(void) { Highs_resetGlobalScheduler(1); }
const char* gw_version(void) { return Highs_version(); }
