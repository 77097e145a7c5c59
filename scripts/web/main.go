// SPDX-License-Identifier: MIT

// Command web builds the playground into a folder that any static host can serve:
//
//	go run ./scripts/web [-o web/dist]
//
// It holds the files of web/page, the look's values (internal/text/theme/theme.css), the library as
// WebAssembly (packed), Go's wasm_exec.js and the examples that web/page/examples.json names. HiGHS, which
// scripts/highs gets, lies beside them; without it the page has no engines of linear models. So does the reader of
// kubectl's output, a program of its own. The same commit and Go give the same bytes.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gapwise/gapwise/internal/app/play"
	"github.com/gapwise/gapwise/model"
)

func main() {
	folder := flag.String("o", filepath.Join("web", "dist"), "the folder, which is made anew")
	flag.Parse()
	if err := build(*folder); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

// Lines that are a comment alone, and blanks before a line: visitors needn't load them. No text of the page goes over
// several lines.
var (
	commentLine = regexp.MustCompile(`(?m)^[ \t]*(?://.*|/\*(?:[^*]|\*[^/])*\*/)\n`)
	blanks      = regexp.MustCompile(`(?m)^[ \t]+`)
)

// bare returns a text of the page without what visitors needn't load.
func bare(text []byte) []byte { return blanks.ReplaceAll(commentLine.ReplaceAll(text, nil), nil) }

func build(folder string) error {
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(filepath.Join(folder, "examples"), 0o755)); err != nil {
		return err
	}
	page := os.DirFS(filepath.Join("web", "page"))
	err := fs.WalkDir(page, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == "examples.json" {
			return err
		}
		data, err := fs.ReadFile(page, name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, name), bare(data), 0o644)
	})
	if err != nil {
		return err
	}
	values, err := os.ReadFile(filepath.Join("internal", "text", "theme", "theme.css"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "theme.css"), bare(values), 0o644); err != nil {
		return err
	}
	solver, err := highs(folder)
	if err != nil {
		return err
	}
	reader, err := program(folder, "the reader of kubectl's output", "kubernetes")
	if err != nil {
		return err
	}
	if err := examples(folder, map[string]any{"highs": solver, "readers": map[string]any{"kubernetes": reader}}); err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	licence, script, _ := bytes.Cut(glue, []byte("\n\n")) // which stays
	glue = append(append(licence, "\n\n"...), bare(script)...)
	if err := os.WriteFile(filepath.Join(folder, "wasm_exec.js"), glue, 0o644); err != nil {
		return err
	}
	_, err = program(folder, "the library", "wasm")
	return err
}

// example is an instance that the page offers.
type example struct {
	Kind  string `json:"kind"`
	Path  string `json:"path,omitempty"` // in the repository
	File  string `json:"file"`           // below examples
	Title string `json:"title"`
	// Variants are how it is read, beside what it says itself.
	Variants map[string]string `json:"variants,omitempty"`
}

// examples copies those of examples.json, which also tells the page what there is.
func examples(folder string, programs map[string]any) error {
	data, err := os.ReadFile(filepath.Join("web", "page", "examples.json"))
	if err != nil {
		return err
	}
	var all []example
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("web/page/examples.json: %w", err)
	}
	for i, e := range all {
		data, err := os.ReadFile(filepath.FromSlash(e.Path))
		if err != nil {
			return err
		}
		all[i].File, all[i].Path = filepath.Base(e.Path), ""
		if err := os.WriteFile(filepath.Join(folder, "examples", all[i].File), data, 0o644); err != nil {
			return err
		}
	}
	if data, err = json.MarshalIndent(all, "", " "); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "examples.json"), append(data, '\n'), 0o644); err != nil {
		return err
	}
	return first(folder, all[0].File, programs)
}

// first writes what the page shows before the library is there: what there is, with the programs to be loaded when they
// are needed, and the first example with its picture.
func first(folder, file string, programs map[string]any) error {
	data, err := os.ReadFile(filepath.Join(folder, "examples", file))
	if err != nil {
		return err
	}
	desk, all := new(play.Desk), programs
	all["file"] = file
	for _, ask := range []struct {
		operation string
		question  any
	}{{"about", struct{}{}}, {"load", play.Load{Name: file, Data: data}}, {"solve", play.Solve{First: true, Seed: 1, TimeLimitS: 10, Quiet: true}}} {
		question, err := json.Marshal(ask.question)
		if err != nil {
			return err
		}
		if all[ask.operation], err = desk.Ask(context.Background(), ask.operation, question, func(any) {}); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	shown, ok := all["solve"].(*play.Shown)
	if !ok || shown.Scene == nil {
		return fmt.Errorf("%s has no picture", file)
	}
	shown.ElapsedS = 0 // so that two builds are the same
	r, err := model.DecodeResult(shown.Result)
	if err != nil {
		return err
	}
	r.Elapsed = 0 // there, too; its evidence is what Explain tells
	if shown.Result, err = json.Marshal(r); err != nil {
		return err
	}
	if data, err = json.Marshal(all); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "first.json"), data, 0o644)
}

// small lists what is compiled without inlining: all but the kernel and the runtime's own packages. It makes the packed
// library a sixth smaller.
var small = []string{
	own, own + "/bounds/...", own + "/heuristics/...", own + "/instances/...", own + "/model/...", own + "/verify",
	own + "/exact/...", own + "/internal/app/...", own + "/internal/core/...", own + "/internal/cp", own + "/internal/num/...",
	own + "/internal/problem/...", own + "/internal/run", own + "/internal/run/lns", own + "/internal/run/process", own + "/internal/text/...", own + "/web/...", "cmp",
	"k8s.io/...", "sigs.k8s.io/...", "github.com/json-iterator/...", "github.com/fxamacker/...", "go.yaml.in/...", "log/...", "net/...",
	"bufio", "bytes", "compress/...", "context", "crypto/...", "encoding/...", "fmt", "github.com/agnivade/...",
	"gonum.org/...", "io/...", "iter", "maps", "math", "math/big", "math/cmplx", "math/rand/...", "mvdan.cc/...",
	"os/...", "path/...",
	"container/...", "errors", "golang.org/x/...", "hash/...", "internal/bisect", "internal/fmtsort", "internal/godebug", "internal/poll", "internal/reflectlite",
	"internal/strconv", "reflect", "regexp/...", "slices", "sort", "strconv", "strings", "sync/...", "syscall/...", "text/...", "time", "unicode/...",
}

const own = "github.com/gapwise/gapwise"

// program builds a program of web as WebAssembly, and packs it: the library is gapwise.wasm, others have their names.
func program(folder, title, name string) (*packed, error) {
	scratch, err := os.MkdirTemp("", "web")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	out := filepath.Join(scratch, name+".wasm")
	arguments := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-gcflags=all=-dwarf=false", "-o", out}
	for _, p := range small {
		arguments = append(arguments, "-gcflags="+p+"=-l -dwarf=false")
	}
	c := exec.Command("go", append(arguments, "./web/"+name)...)
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return nil, err
	}
	if name == "wasm" {
		name = "gapwise"
	}
	return pack(folder, title, out, name+".wasm")
}

// packed is a file of WebAssembly that the page can load.
type packed struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
}

// pack packs a program into the folder, and says how large it is.
func pack(folder, title, program, name string) (*packed, error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	small, err := gzipped(data)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%s: %s has %.2f MB, packed %.2f MB\n", folder, title, float64(len(data))/1e6, float64(len(small))/1e6)
	p := &packed{name + ".gz", len(small)}
	return p, os.WriteFile(filepath.Join(folder, p.File), small, 0o644)
}

// gzipped packs data by the zlib of Node, which npm brings: a program is some thousand bytes smaller so than by
// compress/gzip, which packs where there is no Node.
func gzipped(data []byte) ([]byte, error) {
	const pack = `process.stdout.write(require("zlib").gzipSync(require("fs").readFileSync(0), {level: 9}))`
	node := exec.Command("node", "-e", pack)
	node.Stdin, node.Stderr = bytes.NewReader(data), os.Stderr
	small, err := node.Output()
	if !errors.Is(err, exec.ErrNotFound) {
		return small, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(data)
	return b.Bytes(), errors.Join(err, z.Close())
}

// highs packs HiGHS with its licence, nil where scripts/highs can't get it. Its version stands in the name, so that
// nobody's browser has another one in store.
func highs(folder string) (*packed, error) {
	c := exec.Command(filepath.Join("scripts", "highs"))
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		fmt.Fprintf(os.Stderr, "%s: without HiGHS and its engines: %s\n", folder, cmp.Or(lines[len(lines)-1], err.Error()))
		return nil, nil
	}
	program := strings.TrimSpace(string(out))
	name := strings.TrimSuffix(filepath.Base(program), ".wasm")
	licence, err := os.ReadFile(filepath.Join(filepath.Dir(program), name+".LICENSE"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(folder, name+".LICENSE"), licence, 0o644); err != nil {
		return nil, err
	}
	return pack(folder, "HiGHS", program, name+".wasm")
}
