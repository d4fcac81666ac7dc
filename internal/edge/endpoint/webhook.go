package endpoint

import (
	"maps"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Webhook is a request that we send to servers of callers. The documents describe it in their webhooks
// object (OpenAPI 3.1 section 4.8.1).
type Webhook struct {
	Name    string // such as contact.created
	Summary string
	Tag     string
	Headers []Header
	Example any // a body; the schema is that of its Go type
	// Of names members of the body with a narrower type than the body's: in place of a member's schema
	// that of the value's Go type, or the value alone if it is a string.
	Of map[string]any
	// Answers says what we do after each status, or range of them such as 2XX.
	Answers map[string]string
}

// Header is a header of a webhook.
type Header struct {
	Name, Description string
	Example           any
}

// AddWebhooks adds requests to the documents.
func (r *Router) AddWebhooks(list ...Webhook) { r.webhooks = append(r.webhooks, list...) }

// describeWebhooks returns the webhooks object. Schemas that no operation refers to are not among the components but
// within the webhooks: generators of clients leave out components that only webhooks refer to, and do not compile then.
func (d *documentWriter) describeWebhooks() (object, error) {
	all := object{}
	ofOperations := maps.Clone(d.schemas)
	defer func() { d.schemas = ofOperations }()
	for _, w := range d.router.webhooks {
		s, err := d.schema(d.router.webhookSchema(w))
		if err != nil {
			return nil, err
		}
		body, err := d.inline(s, ofOperations)
		if err != nil {
			return nil, err
		}
		headers, answers := []object{}, object{}
		for _, h := range w.Headers {
			s := huma.SchemaFromType(d.router.schemas, reflect.TypeOf(h.Example))
			headers = append(headers, object{
				"name": h.Name, "in": "header", "required": true, "description": h.Description,
				"schema": object{"type": s.Type}, "example": h.Example,
			})
		}
		for status, text := range w.Answers {
			answers[status] = object{"description": text}
		}
		all[w.Name] = object{"post": object{
			"operationId": webhookOperation(w.Name), "summary": w.Summary, "tags": []string{w.Tag}, "security": []object{}, "parameters": headers, "responses": answers,
			"requestBody": object{"required": true, "content": object{jsonType: object{"schema": body, "example": w.Example}}},
		}}
		d.tags[w.Tag] = true
	}
	return all, nil
}

// webhookOperation returns the operation id of a webhook: onContactCreated for contact.created.
func webhookOperation(name string) string {
	var id strings.Builder
	id.WriteString("on")
	for word := range strings.FieldsFuncSeq(name, func(c rune) bool { return c == '.' || c == '_' }) {
		id.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return id.String()
}

// webhookSchema returns the schema of a webhook's body.
func (r *Router) webhookSchema(w Webhook) *Schema {
	s := *huma.SchemaFromType(r.schemas, reflect.TypeOf(w.Example))
	of := make(map[string]*Schema, len(s.Properties))
	for name, member := range s.Properties {
		of[name] = member
		switch v := w.Of[name].(type) {
		case nil:
		case string:
			of[name] = &Schema{Type: TypeString, Enum: []any{v}}
		default:
			of[name] = r.schemas.Schema(reflect.TypeOf(v), true, "")
		}
	}
	s.Properties = of
	return &s
}
