// SPDX-License-Identifier: MIT

//go:build js

// Command wasm is the library in a Web Worker. It sets one function, gapwise(operation,
// question, tell), which returns a promise of the answer; all three are JSON texts but
// tell, a function that takes one.
package main

import (
	"context"
	"encoding/json"
	"syscall/js"

	"github.com/gapwise/gapwise/internal/app/play"
)

func main() {
	desk := new(play.Desk)
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
				answer, err := desk.Ask(context.Background(), operation, question, func(x any) { tell.Invoke(text(x)) })
				if err != nil {
					reject.Invoke(err.Error())
					return
				}
				resolve.Invoke(text(answer))
			}()
			return nil
		})
		return js.Global().Get("Promise").New(promise)
	}))
	select {}
}
