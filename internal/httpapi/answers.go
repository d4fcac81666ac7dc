package httpapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// answersFile holds what the examples of the declarations were answered, by
// operation; a test records them and holds them to what is answered now.
//
//go:embed answers.json
var answersFile []byte

// answers returns the recorded answers.
func recordedAnswers() map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(answersFile, &all); err != nil {
		panic(fmt.Sprintf("httpapi: answers.json: %v", err)) // it is part of the program
	}
	return all
}
