// SPDX-License-Identifier: MIT

package swf_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func TestHeader(t *testing.T) {
	text := `; Version: 2.2
; Information: http://www.pdc.kth.se/
;              http://www.cs.huji.ac.il/labs/parallel/workload/
;
;   a remark of its own: not a field
; StartTime: Mon Sep 23 14:00:31 CEST 1996
;MaxNodes:100
; Note: one
; free text, with a colon: here
; http://example.org
; Queue:  0  interactive
; Queue:  1  batch  	
; Empty:
` + jobLine + "\n; Version: 3\n"
	want := swf.Header{{"Version", "2.2"}, {"Information", "http://www.pdc.kth.se/\nhttp://www.cs.huji.ac.il/labs/parallel/workload/"},
		{"StartTime", "Mon Sep 23 14:00:31 CEST 1996"}, {"MaxNodes", "100"}, {"Note", "one"}, {"Queue", "0  interactive"}, {"Queue", "1  batch"}, {"Empty", ""}}
	h := require.Value(swf.ReadAll(strings.NewReader(text)))(t).Header
	require.Same(t, "result", want, h)
	if v, ok := h.Get("version"); !ok || v != "2.2" {
		t.Errorf("version %q, %v", v, ok)
	}
	if _, ok := h.Get("None"); ok {
		t.Error("there is a field None")
	}
	if _, ok, err := h.Int("None"); ok || err != nil {
		t.Error(ok, err)
	}
	if _, ok, err := h.Int("StartTime"); !ok || !errors.Is(err, model.ErrInvalid) {
		t.Error(ok, err)
	}
}

func TestProcs(t *testing.T) {
	for name, c := range map[string]struct {
		comments []string
		want     int64
		bad      bool
	}{
		"none":              {nil, 0, false},
		"nodes":             {[]string{"; MaxNodes: 4"}, 4, false},
		"both":              {[]string{"; MaxNodes: 4", "; MaxProcs: 16"}, 16, false},
		"right-aligned":     {[]string{";      MaxNodes: 29", ";      MaxProcs: 352"}, 352, false},
		"unknown and nodes": {[]string{"; MaxProcs: -1", "; MaxNodes: 4"}, 4, false},
		"text":              {[]string{"; MaxProcs: many"}, 0, true},
	} {
		got, err := swf.ParseHeader(c.comments).Procs()
		if got != c.want || errors.Is(err, model.ErrInvalid) != c.bad || (err != nil) != c.bad {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
}

func TestHeaderTime(t *testing.T) {
	for _, c := range []struct {
		header []string
		second float64
		want   string
	}{
		{[]string{"; UnixStartTime: 843480031", "; TimeZone: 3600"}, 60, "1996-09-23T13:01:31+01:00"},
		{[]string{"; UnixStartTime: 843480031", "; TimeZone: -25200"}, 0, "1996-09-23T05:00:31-07:00"},
		{[]string{"; UnixStartTime: 843480031"}, 0, "1996-09-23T12:00:31Z"},
		{[]string{"; UnixStartTime: 843480031", "; TimeZone: CET"}, 0, "1996-09-23T12:00:31Z"},
		{[]string{"; UnixStartTime: -1"}, 0, ""},
		{[]string{"; UnixStartTime: 9999999999999999"}, 0, ""},
		{[]string{"; UnixStartTime: soon"}, 0, ""},
		{nil, 0, ""},
	} {
		got := ""
		if at := swf.ParseHeader(c.header).Time(c.second); !at.IsZero() {
			got = at.Format(time.RFC3339)
		}
		require.Same(t, fmt.Sprintf("%q", c.header), c.want, got)
	}
}
