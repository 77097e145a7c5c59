// SPDX-License-Identifier: MIT

//go:build js

// Command kubernetes is the reader of kubectl's output in a Web Worker. Kubernetes' types are three quarters as large as
// the library, so that the page loads this program when it is given such a file, and no earlier.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/web/internal/bridge"
)

func main() {
	bridge.Serve(func(_ context.Context, _ string, question []byte, _ func(any)) (in any, err error) {
		err = panics.Call(func() (err error) { in, err = convert(question); return err })
		return in, err
	})
}

// convert returns the cluster of a file as gapwise kubernetes convert writes it without flags. The question is the name
// of the file and its text.
func convert(question []byte) (*model.Consolidation, error) {
	var q struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(question, &q); err != nil {
		return nil, fmt.Errorf("%w question: %w", model.ErrInvalid, err)
	}
	c, err := kubernetes.Read(map[string][]byte{q.Name: []byte(q.Text)})
	if err != nil {
		return nil, err
	}
	in, err := kubernetes.Convert(c, kubernetes.Options{Prices: kubernetes.PriceByVCPU})
	if err != nil {
		return nil, err
	}
	return in.Consolidation, nil
}
