package httpapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// answersFile contains the answers to the examples of operations, by operation. A test records them
// and compares their shape with the answers now.
//
//go:embed answers.json
var answersFile []byte

// recordedAnswers decodes answersFile.
func recordedAnswers() map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(answersFile, &all); err != nil {
		panic(fmt.Sprintf("httpapi: answers.json: %v", err)) // the file is compiled in
	}
	return all
}
