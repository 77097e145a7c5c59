// SPDX-License-Identifier: MIT

package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// listen returns the name of a scheduler that a function is.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l := require.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		serve(c)
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return batsimPrefix + "tcp://" + l.Addr().String()
}

// The bytes of a whole session of pyzmq: ours are the same, except for the texts of numbers.
func TestRecordedBytes(t *testing.T) {
	t.Parallel()
	folder := require.Data(t, "batsim")
	text := require.Value(os.ReadFile(filepath.Join(folder, "tiny-instant.schedFcfs.wire.txt")))(t)
	var asked, answered bytes.Buffer
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		direction, digits, _ := strings.Cut(l, " ")
		data := require.Value(hex.DecodeString(digits))(t)
		if direction == "request" {
			asked.Write(data)
		} else {
			answered.Write(data)
		}
	}
	name := listen(t, func(c net.Conn) {
		// The bytes before the first message are the same one by one.
		opening := make([]byte, 64+40)
		if _, err := c.Write(answered.Next(64 + 27)); err != nil {
			t.Error(err)
		}
		if _, err := io.ReadFull(c, opening); err != nil || !bytes.Equal(opening, asked.Next(len(opening))) {
			t.Errorf("%v: %x", err, opening)
		}
		ours, recorded := newPeer(c), newPeer(&asked)
		for asked.Len() > 0 || recorded.in.Buffered() > 0 {
			got, want := ours.message(t), recorded.message(t)
			if !sameJSON(t, got, want) {
				t.Errorf("%s, want %s", got, want)
			}
			reply := newPeer(&answered).in // a frame of no bytes, and one of a text
			head, err := reply.Peek(2 + 2)
			if err != nil || head[0] != frameMore || head[1] != 0 || head[2] != 0 {
				t.Fatalf("%x %v", head, err)
			}
			all := require.Value(io.ReadAll(reply))(t)
			n := 4 + int(head[3])
			answered.Reset()
			answered.Write(all[n:])
			if _, err := c.Write(all[:n]); err != nil {
				t.Error(err)
			}
		}
	})
	s := require.Value(New(model.KindBatch, name))(t)
	r, err := s.Solve(t.Context(), instance(t, filepath.Join(folder, "instances", "tiny-instant.json")), model.Settings{})
	if err != nil || r.Status != model.StatusFeasible || r.Reason != "" {
		t.Errorf("%+v %v", r, err)
	}
}

// peer reads what a REQ socket sends.
type peer struct{ *socket }

func newPeer(r io.Reader) peer { return peer{&socket{in: bufio.NewReader(r)}} }

func (p peer) message(t *testing.T) []byte {
	flags, empty, err := p.frame()
	if err != nil || flags != frameMore || len(empty) > 0 {
		t.Errorf("delimiter: %x %x %v", flags, empty, err)
	}
	flags, body, err := p.frame()
	if err != nil || flags&^frameLong != 0 {
		t.Errorf("%x %v", flags, err)
	}
	return body
}

const (
	rep   = "\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03REP"
	empty = `{"now":0,"events":[]}`
)

// frames returns an answer as bytes.
func frames(text string) string { return "\x01\x00\x00" + string(rune(len(text))) + text }

// one has 4 processors, and the jobs a of 10 s on 3 and b of 20 s on 2 from second 1 on, and c
// of 5 s on 1 from second 3 on.
var one = &model.Batch{Name: "one", Processors: 4, Tiers: 1, KillAtEstimate: true, Jobs: []model.BatchJob{
	{ID: "a", SubmitS: 1, RuntimeS: 10, EstimateS: 20, Processes: 3, Log: &model.JobLog{User: "u", Queue: "long", Status: "cancelled"}}, {ID: "b", SubmitS: 1, RuntimeS: 20, EstimateS: 15, Processes: 2}, {ID: "c", SubmitS: 3, RuntimeS: 5, Processes: 1}}}

// A peer's breaches of the protocol end in one line.
func TestPeers(t *testing.T) {
	t.Parallel()
	hello := string(greeting) + rep
	for name, c := range map[string]struct{ says, want string }{
		"another protocol":     {"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n", "who listens there speaks another protocol"},
		"version 2":            {strings.Replace(hello, "\x7f\x03", "\x7f\x01", 1), "it speaks version 1 of ZMTP, must be 3"},
		"a password":           {strings.Replace(hello, "NULL\x00", "PLAIN", 1), `the security mechanism "PLAIN", must be NULL`},
		"another socket":       {strings.Replace(hello, "REP", "PUB", 1), `its socket is of the type "PUB", must be REP`},
		"a refusal":            {string(greeting) + "\x04\x0b\x05ERROR\x04nope", `it refuses: "nope"`},
		"no command":           {string(greeting) + "\x00\x02hi", `"hi" isn't what follows here`},
		"nothing":              {"", "it has ended without an answer"},
		"half a greeting":      {hello[:20], "it has ended without an answer"},
		"no delimiter":         {hello + "\x00\x02{}", "an answer doesn't begin with an empty frame"},
		"several frames":       {hello + "\x01\x00\x01\x02{}\x00\x02{}", "an answer has several frames"},
		"strange flags":        {hello + "\xff\x00", "a frame has the flags 0xff"},
		"a huge frame":         {hello + "\x01\x00\x02\x7f\xff\xff\xff\xff\xff\xff\xff", "its answer is longer than 64 MB"},
		"less than announced":  {hello + "\x01\x00\x02\x00\x00\x00\x00\x01\x00\x00\x00{}", "it has ended without an answer"},
		"it ends at once":      {hello, "request 1 (now 0 s: SIMULATION_BEGINS): it has ended without an answer"},
		"an error in between":  {hello + "\x04\x0b\x05ERROR\x04nope", `it refuses: "nope"`},
		"a heartbeat, the end": {hello + "\x04\x07\x04PING\x00\x00" + frames(empty), "request 2 (now 1 s: JOB_SUBMITTED of w0!1 and 1 more): it has ended without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := New(model.KindBatch, listen(t, func(conn net.Conn) {
				_, _ = io.WriteString(conn, c.says)
				_ = conn.(*net.TCPConn).CloseWrite()
				_, _ = io.Copy(io.Discard, conn)
			}))
			require.OK(t, err)
			r, err := s.Solve(t.Context(), one, model.Settings{})
			if err != nil || r.Status != model.StatusUnknown || !strings.Contains(r.Reason, c.want) || strings.Contains(r.Reason, "\n") {
				t.Errorf("%q %v, want %q", r.Reason, err, c.want)
			}
		})
	}
}

// The limits end a session in which nobody is there, or nobody says anything.
func TestNobody(t *testing.T) {
	t.Parallel()
	const nobody = batsimPrefix + "tcp://127.0.0.1:1" // a port that other tests don't get
	const soon = 50 * time.Millisecond
	silent := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	for name, c := range map[string]struct {
		name string
		set  model.Settings
		want string
	}{
		"nobody":             {nobody, model.Settings{AnswerLimit: soon}, "within 50ms: start it first, it binds a REP socket there"},
		"nobody, time limit": {nobody, model.Settings{TimeLimit: 50 * time.Millisecond}, "stopped by the time limit"},
		"silent":             {silent, model.Settings{AnswerLimit: 1000 * time.Millisecond}, "no answer within 1s"},
	} {
		s := require.Value(New(model.KindBatch, c.name))(t)
		r, err := s.Solve(context.Background(), one, c.set)
		if err != nil || r.Status != model.StatusUnknown || !strings.Contains(r.Reason, c.want) {
			t.Errorf("%s: %q %v", name, r.Reason, err)
		}
	}
	for _, name := range []string{"batsim:", "batsim:127.0.0.1:28000", "batsim:tcp://127.0.0.1", "batsim:tcp://127.0.0.1:x", "batsim:tcp://127.0.0.1:0", "batsim:tcp://h:1?x=y"} {
		require.Refused(t, name, require.Err(New(model.KindBatch, name)), model.ErrInvalid, "")
	}
}
