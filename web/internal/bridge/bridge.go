// SPDX-License-Identifier: MIT

//go:build js

// Package bridge lets a program of WebAssembly answer the questions of the Web Worker that it runs in.
package bridge

import (
	"context"
	"encoding/json"
	"syscall/js"
)

// Answer answers a question about an operation; both are JSON, and so is what tell tells before the answer.
type Answer func(ctx context.Context, operation string, question []byte, tell func(any)) (any, error)

// Serve sets the worker's function gapwise(operation, question, tell), which returns a promise of the answer; all three
// are JSON texts but tell, a function that takes one. It never returns.
func Serve(answer Answer) {
	text := func(x any) string {
		data, err := json.Marshal(x)
		if err != nil {
			return "null"
		}
		return string(data)
	}
	js.Global().Set("gapwise", js.FuncOf(func(_ js.Value, args []js.Value) any {
		operation, question, tell := args[0].String(), []byte(args[1].String()), args[2]
		var promise js.Func
		promise = js.FuncOf(func(_ js.Value, to []js.Value) any {
			resolve, reject := to[0], to[1]
			go func() {
				defer promise.Release()
				x, err := answer(context.Background(), operation, question, func(x any) { tell.Invoke(text(x)) })
				if err != nil {
					reject.Invoke(err.Error())
					return
				}
				resolve.Invoke(text(x))
			}()
			return nil
		})
		return js.Global().Get("Promise").New(promise)
	}))
	select {}
}
