// SPDX-License-Identifier: MIT

package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model"
)

// Failure is why there is no answer. It is the body of each response of a status from 400 on.
type Failure struct {
	Status int    `json:"status" about:"the status code of the response"`
	What   string `json:"error" about:"what is wrong, in one line"`
	Where  string `json:"where" about:"the part of the request"`
	Remedy string `json:"remedy" about:"what to do"`

	after int // seconds until the client may try again; 0: not stated
}

// Error implements error.
func (f *Failure) Error() string { return f.What }

func failuref(status int, where, remedy, format string, args ...any) *Failure {
	return &Failure{Status: status, Where: where, Remedy: remedy, What: fmt.Sprintf(format, args...)}
}

// busyf is the answer while there is too much work.
func busyf(format string, args ...any) *Failure {
	f := failuref(http.StatusTooManyRequests, "service", "try again after the seconds of Retry-After", format, args...)
	f.after = 1
	return f
}

// ending is the answer while the service ends.
func ending() *Failure {
	f := failuref(http.StatusServiceUnavailable, "service", "try again after the seconds of Retry-After", "the service is ending and takes no new work")
	f.after = 5
	return f
}

// failureOf returns the answer to an error about a part of a request.
func failureOf(err error, where string) *Failure {
	var mine *Failure
	var defect *gapwise.DefectError
	var panicked *panics.Panic
	f := &Failure{What: strings.Join(strings.Fields(err.Error()), " "), Where: where}
	switch {
	case errors.As(err, &mine):
		return mine
	case errors.As(err, &defect), errors.As(err, &panicked):
		f.Status, f.Where, f.Remedy = http.StatusInternalServerError, "service", "report it with the request"
	case errors.Is(err, gapwise.ErrUnknownAlgorithm):
		f.Status, f.Remedy = http.StatusBadRequest, "gapwise algorithms lists what there is"
	case errors.Is(err, model.ErrUnsupported):
		f.Status, f.Remedy = http.StatusUnprocessableEntity, "choose another algorithm, or leave it out"
	case errors.Is(err, model.ErrInfeasible):
		f.Status, f.Remedy = http.StatusUnprocessableEntity, "mend the solution"
	case errors.Is(err, model.ErrInvalid):
		f.Status, f.Remedy = http.StatusBadRequest, "docs/reference/formats.md has the format"
	case errors.Is(err, context.DeadlineExceeded):
		f.Status, f.Where, f.Remedy = http.StatusUnprocessableEntity, "options.time_limit_s", "give it more time"
		f.What = "the time limit ended before there was an answer"
	case errors.Is(err, context.Canceled):
		return ending()
	default:
		f.Status, f.Where, f.Remedy = http.StatusInternalServerError, "service", "report it with the request"
	}
	return f
}

// line returns the failure as JSON.
func (f *Failure) line() []byte {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err) // strings and a number can be marshalled
	}
	return text
}

// fail answers with a failure.
func (s *Server) fail(w http.ResponseWriter, f *Failure) {
	if f.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.after))
	}
	if f.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if f.Status == http.StatusRequestEntityTooLarge || f.Status == http.StatusTooManyRequests {
		w.Header().Set("Connection", "close") // the body isn't read to its end
	}
	writeText(w, f.Status, "application/json", append(f.line(), '\n'))
}

// bounded is a text that takes no more than some bytes.
type bounded struct {
	bytes.Buffer
	most int64
}

func (b *bounded) Write(data []byte) (int, error) {
	if int64(b.Len()+len(data)) > b.most {
		return 0, failuref(http.StatusUnprocessableEntity, "answer", "send a smaller instance or one of shorter names, or start the service with a larger --body",
			"the answer has more than %d bytes", b.most)
	}
	return b.Buffer.Write(data)
}

// text returns a value as JSON in one line. The error is a Failure where that is too long.
func (s *Server) text(x any) ([]byte, error) {
	b := bounded{most: s.longest}
	if err := model.WriteJSON(&b, x); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// write answers with a value as one line of JSON, or with why there is none.
func (s *Server) write(w http.ResponseWriter, status int, x any) {
	text, err := s.text(x)
	if err != nil {
		s.fail(w, failureOf(err, "answer"))
		return
	}
	writeText(w, status, "application/json", append(text, '\n'))
}

// writeText answers with a text, which the client has some time to read.
func writeText(w http.ResponseWriter, status int, contentType string, text []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(reading)) // without deadlines, as in a test, there is none
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have left
}
