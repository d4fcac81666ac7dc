// Package api is what the test of the module generates from openapi.json. The rest of it is not committed.
package api
