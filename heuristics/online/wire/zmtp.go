// SPDX-License-Identifier: MIT

//go:build !js

package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// isAddress reports whether a text is tcp://HOST:PORT.
func isAddress(text string) bool {
	address, ok := strings.CutPrefix(text, "tcp://")
	_, port, err := net.SplitHostPort(address)
	n, e := strconv.Atoi(port)
	return ok && err == nil && e == nil && n >= 1 && n <= 65535
}

// socket is a line to a REP socket of ZeroMQ: a REQ socket of ZMTP 3.1 (rfc.zeromq.org/spec/37 and, of the pattern, 28)
// over TCP, without authentication. The library go-zeromq/zmq4 isn't used: its last release is of 2024, a REQ's Recv
// can't be interrupted, and it makes room for as many bytes as a peer announces.
type socket struct {
	conn net.Conn
	in   *bufio.Reader
}

// Flags of a frame.
const (
	frameMore    = 1
	frameLong    = 2
	frameCommand = 4
)

// greeting is the greeting of version 3.1 and the mechanism NULL.
var greeting = func() []byte {
	g := make([]byte, 64)
	g[0], g[8], g[9] = 0xff, 1, 0x7f
	g[10], g[11] = 3, 1
	copy(g[12:], "NULL")
	return g
}()

// dialPause is the time between two attempts to connect.
const dialPause = 50 * time.Millisecond

// dial connects to a scheduler, which need not be there yet, within the limit.
func dial(ctx context.Context, address string, limit time.Duration) (line, error) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(within, "tcp", address)
		if err == nil {
			s := &socket{conn, bufio.NewReaderSize(conn, 1<<16)}
			if err := s.within(ctx, limit, s.handshake); err != nil {
				conn.Close()
				return nil, fmt.Errorf("handshake with %s: %w", address, err)
			}
			return s, nil
		}
		select {
		case <-within.Done():
			if ctx.Err() != nil {
				return nil, fmt.Errorf("no scheduler at %s: %w", address, stopped(ctx))
			}
			return nil, fmt.Errorf("no scheduler at %s within %v: start it first, it binds a REP socket there", address, limit)
		case <-time.After(dialPause):
		}
	}
}

// within calls a function that reads and writes, until the limit or the end of ctx.
func (s *socket) within(ctx context.Context, limit time.Duration, do func() error) error {
	if err := s.conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = s.conn.SetDeadline(time.Unix(1, 0)) })()
	err := do()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return stopped(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errLate(limit)
	case errors.Is(err, errLong), errors.Is(err, errSpeech):
		return err
	}
	return errOver // closed, in one way or another
}

// errSpeech marks what isn't ZMTP, or isn't from a REP socket.
var errSpeech = errors.New("ZeroMQ")

func (s *socket) handshake() error {
	if _, err := s.conn.Write(greeting); err != nil {
		return err
	}
	theirs := make([]byte, len(greeting))
	if _, err := io.ReadFull(s.in, theirs); err != nil {
		return err
	}
	switch {
	case theirs[0] != 0xff || theirs[9]&1 == 0:
		return fmt.Errorf("%w: who listens there speaks another protocol", errSpeech)
	case theirs[10] < 3:
		return fmt.Errorf("%w: it speaks version %d of ZMTP, must be 3", errSpeech, theirs[10])
	case !bytes.Equal(bytes.TrimRight(theirs[12:32], "\x00"), []byte("NULL")):
		return fmt.Errorf("%w: it asks for the security mechanism %.20q, must be NULL", errSpeech, bytes.TrimRight(theirs[12:32], "\x00"))
	}
	ready := []byte("\x05READY\x0bSocket-Type\x00\x00\x00\x03REQ\x08Identity\x00\x00\x00\x00")
	if err := s.write(frameCommand, ready); err != nil {
		return err
	}
	flags, body, err := s.frame()
	if err != nil {
		return err
	}
	if flags&frameCommand == 0 || !bytes.HasPrefix(body, []byte("\x05READY")) {
		return refusal(body)
	}
	if of := property(body[6:], "Socket-Type"); of != "REP" && of != "ROUTER" {
		return fmt.Errorf("%w: its socket is of the type %.20q, must be REP", errSpeech, of)
	}
	return nil
}

// refusal is the error of another command than the expected one.
func refusal(body []byte) error {
	if reason, ok := bytes.CutPrefix(body, []byte("\x05ERROR")); ok && len(reason) > 0 {
		return fmt.Errorf("%w: it refuses: %.200q", errSpeech, reason[1:])
	}
	return fmt.Errorf("%w: %.20q isn't what follows here", errSpeech, body)
}

// property returns the value of a property of a command.
func property(body []byte, name string) string {
	for len(body) > 0 {
		n := int(body[0])
		if len(body) < 1+n+4 {
			return ""
		}
		size := binary.BigEndian.Uint32(body[1+n:])
		rest := body[1+n+4:]
		if uint64(size) > uint64(len(rest)) {
			return ""
		}
		if bytes.EqualFold(body[1:1+n], []byte(name)) {
			return string(rest[:size])
		}
		body = rest[size:]
	}
	return ""
}

// write writes a frame.
func (s *socket) write(flags byte, body []byte) error {
	_, err := s.conn.Write(appendFrame(nil, flags, body))
	return err
}

func appendFrame(to []byte, flags byte, body []byte) []byte {
	if len(body) > 255 {
		to = binary.BigEndian.AppendUint64(append(to, flags|frameLong), uint64(len(body)))
	} else {
		to = append(to, flags, byte(len(body)))
	}
	return append(to, body...)
}

// frame reads a frame.
func (s *socket) frame() (flags byte, body []byte, err error) {
	if flags, err = s.in.ReadByte(); err != nil {
		return 0, nil, err
	}
	if flags > frameMore|frameLong|frameCommand {
		return 0, nil, fmt.Errorf("%w: a frame has the flags %#x", errSpeech, flags)
	}
	var size uint64
	if flags&frameLong != 0 {
		err = binary.Read(s.in, binary.BigEndian, &size)
	} else {
		var short byte
		short, err = s.in.ReadByte()
		size = uint64(short)
	}
	switch {
	case err != nil:
		return 0, nil, err
	case size > mostAnswer:
		return 0, nil, errLong
	}
	// Announced bytes may not come: the room grows with the bytes that do.
	var b bytes.Buffer
	if _, err := io.CopyN(&b, s.in, int64(size)); err != nil {
		return 0, nil, err
	}
	return flags, b.Bytes(), nil
}

// ask implements line.
func (s *socket) ask(ctx context.Context, request []byte, limit time.Duration) (answer []byte, err error) {
	err = s.within(ctx, limit, func() error {
		if _, err := s.conn.Write(appendFrame(appendFrame(nil, frameMore, nil), 0, request)); err != nil {
			return err
		}
		for first := true; ; {
			flags, body, err := s.frame()
			switch {
			case err != nil:
				return err
			case flags&frameCommand != 0:
				if err := s.command(body); err != nil {
					return err
				}
			case first && (len(body) > 0 || flags&frameMore == 0):
				return fmt.Errorf("%w: an answer doesn't begin with an empty frame", errSpeech)
			case !first && flags&frameMore != 0:
				return fmt.Errorf("%w: an answer has several frames", errSpeech)
			case !first:
				answer = body
				return nil
			default:
				first = false
			}
		}
	})
	return answer, err
}

// command obeys a command between messages: a heartbeat is answered.
func (s *socket) command(body []byte) error {
	if ping, ok := bytes.CutPrefix(body, []byte("\x04PING")); ok && len(ping) >= 2 {
		return s.write(frameCommand, append([]byte("\x04PONG"), ping[2:min(len(ping), 18)]...))
	}
	if bytes.HasPrefix(body, []byte("\x05ERROR")) {
		return refusal(body)
	}
	return nil
}

// close implements line.
func (s *socket) close(context.Context) (how, said string) {
	s.conn.Close()
	return "", ""
}
