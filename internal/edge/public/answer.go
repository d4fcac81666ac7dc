package public

import (
	"encoding/json"
	"net/http"
)

// writeError writes an error in the format of the API.
func writeError(w http.ResponseWriter, status int, code, message string, details any) {
	var body struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Details any    `json:"details,omitempty"`
		} `json:"error"`
		StatusCode int `json:"statusCode,omitempty"` // only of a 429
	}
	body.Error.Code, body.Error.Message, body.Error.Details = code, message, details
	if status == http.StatusTooManyRequests {
		body.StatusCode = status
	}
	writeJSON(w, status, body)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
