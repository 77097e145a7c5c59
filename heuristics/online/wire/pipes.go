// SPDX-License-Identifier: MIT

package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gapwise/gapwise/internal/run/process"
)

// pipes is a line to a program that reads requests on its standard input and writes answers
// to its standard output, each a line of JSON.
type pipes struct {
	requests chan []byte
	answers  chan pipeAnswer
	done     chan struct{} // closed when the program has ended
	stop     context.CancelFunc
	result   process.Result // when done is closed
	err      error          // of starting it
	late     bool           // it is stopped for our reasons
}

type pipeAnswer struct {
	text []byte
	err  error
}

const (
	grace      = 200 * time.Millisecond // between asking to end and killing
	farewell   = time.Second            // for a program to end that has been told to
	reasonSize = 400                    // bytes of a standard error that a reason holds
)

// launch starts a program. If it can't be started, the first ask returns the error.
func launch(o process.Options) (*pipes, error) {
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), in.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &pipes{requests: make(chan []byte, 1), answers: make(chan pipeAnswer, 1), done: make(chan struct{}), stop: stop}
	o.Stdin, o.Stdout, o.Grace = stdin, stdout, grace
	go func() {
		p.result, p.err = process.Run(ctx, o)
		close(p.done)
		stdin.Close() // ours: the program's own are gone
		stdout.Close()
	}()
	go func() {
		defer in.Close()
		defer out.Close()
		lines := bufio.NewReaderSize(out, 1<<16)
		for request := range p.requests {
			// A request that can't be written may have been answered: reading shows it.
			_, _ = in.Write(append(request, '\n'))
			text, err := readLine(lines)
			if p.answers <- (pipeAnswer{text, err}); err != nil {
				return
			}
		}
		in.Close()
		<-p.done // it may still write
	}()
	return p, nil
}

// readLine reads the next line that isn't blank.
func readLine(r *bufio.Reader) (text []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > mostAnswer:
			return nil, errLong
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && len(bytes.TrimSpace(text)) == 0:
			return nil, errOver
		case len(bytes.TrimSpace(text)) > 0: // the last line may lack its end
			return text, nil
		default:
			text = text[:0]
		}
	}
}

// ask implements line.
func (p *pipes) ask(ctx context.Context, request []byte, limit time.Duration) ([]byte, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	p.requests <- request
	select {
	case a := <-p.answers:
		return a.text, a.err
	case <-ctx.Done():
		p.late = true
		return nil, stopped(ctx)
	case <-timer.C:
		p.late = true
		return nil, errLate(limit)
	}
}

// close implements line. A program that hasn't failed has a while to end by itself.
func (p *pipes) close(ctx context.Context) (how, said string) {
	close(p.requests)
	p.late = p.late || ctx.Err() != nil
	asked := p.late
	if !asked {
		select {
		case <-p.done:
		case <-time.After(farewell):
			asked = true
		}
	}
	p.stop()
	<-p.done
	if text := process.LastLines(p.result.Stderr, 3, reasonSize); text != "" {
		said = "its standard error: " + text
	}
	switch {
	case p.err != nil:
		return p.err.Error(), said
	case p.late:
		return "", said
	case asked:
		return fmt.Sprintf("it didn't end within %v of the end of its input", farewell), said
	case p.result.Code < 0:
		return "it was killed", said
	case p.result.Code > 0:
		return fmt.Sprintf("it ended with the exit code %d", p.result.Code), said
	}
	return "", said
}
