// Command ogen makes ten calls with the client that ogen has generated, which refuses answers that are not as the
// document says. Its arguments are the address of a tenant and an API key.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-faster/jx"

	"github.com/packetboat/packetboat/tools/clients/ogen/api"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// secret is the API key.
type secret string

// ApiKeyAuth returns the key for an operation.
func (s secret) ApiKeyAuth(context.Context, api.OperationName) (api.ApiKeyAuth, error) {
	return api.ApiKeyAuth{APIKey: string(s)}, nil
}

func run(ctx context.Context, server, key string) error {
	c, err := api.NewClient(server, secret(key))
	if err != nil {
		return err
	}
	made, err := c.CreateContact(ctx, &api.ContactInput{Email: "ogen@example.org", FirstName: api.NewOptNilString("Ann"), Tags: []string{"one", "two"}}, api.CreateContactParams{})
	contact, ok := made.(*api.ContactWithIdentityTokenHeaders)
	if !ok {
		return fmt.Errorf("create a contact: %v, %+v", err, made)
	}
	got, err := c.GetContact(ctx, api.GetContactParams{ID: contact.Response.ID})
	if same, ok := got.(*api.ContactHeaders); !ok || same.Response.Email != "ogen@example.org" {
		return fmt.Errorf("get the contact: %v, %+v", err, got)
	}
	list, err := c.ListContacts(ctx, api.ListContactsParams{
		Status: []api.ListContactsStatusItem{api.ListContactsStatusItemActive, api.ListContactsStatusItemPending},
		Search: api.NewOptString("ogen"), Limit: api.NewOptInt64(5), Sort: api.NewOptListContactsSort(api.ListContactsSortEmail),
	})
	if page, ok := list.(*api.ListContactHeaders); !ok || len(page.Response.Data) != 1 {
		return fmt.Errorf("list contacts: %v, %+v", err, list)
	}
	segment, err := c.CreateSegment(ctx, &api.CreateSegmentRequestBody{
		Name: "Readers by ogen", Definition: api.NewOptNilRuleDefinition(api.RuleDefinition{Logic: api.RuleDefinitionLogicAnd, Conditions: []api.RuleCondition{
			{Field: api.NewOptString("email"), Operator: api.NewOptString("equals"), Value: jx.Raw(`"ogen@example.org"`)},
		}}),
	})
	if _, ok := segment.(*api.SegmentRowHeaders); !ok {
		return fmt.Errorf("create a segment: %v, %+v", err, segment)
	}
	segments, err := c.ListSegments(ctx, api.ListSegmentsParams{Type: api.NewOptListSegmentsType(api.ListSegmentsTypeDynamic)})
	if all, ok := segments.(*api.ListSegmentRowHeaders); !ok || len(all.Response.Data) == 0 {
		return fmt.Errorf("list segments: %v, %+v", err, segments)
	}
	template, err := c.CreateTemplate(ctx, &api.CreateTemplateRequestBody{Name: "By ogen", Subject: api.NewOptNilString("Hi"), ContentHTML: "<p>Hi</p>"})
	if _, ok := template.(*api.SavedTemplateHeaders); !ok {
		return fmt.Errorf("create a template: %v, %+v", err, template)
	}
	for _, full := range []bool{false, true} {
		templates, err := c.ListTemplates(ctx, api.ListTemplatesParams{Full: api.NewOptBool(full)})
		if all, ok := templates.(*api.ListAnyTemplateRowHeaders); !ok || len(all.Response.Data) == 0 || full != all.Response.Data[0].ContentHTML.IsSet() {
			return fmt.Errorf("list templates, full %v: %v, %+v", full, err, templates)
		}
	}
	broadcasts, err := c.ListBroadcasts(ctx, api.ListBroadcastsParams{Since: api.NewOptDateTime(time.Now().Add(-time.Hour)), Tags: []string{"a", "b"}})
	if _, ok := broadcasts.(*api.ListBroadcastRowHeaders); !ok {
		return fmt.Errorf("list broadcasts: %v, %+v", err, broadcasts)
	}
	refused, err := c.CreateSegment(ctx, &api.CreateSegmentRequestBody{})
	if _, ok := refused.(*api.SegmentRowHeaders); ok || err != nil {
		return fmt.Errorf("create a segment without a name: %v, %+v", err, refused)
	}
	return nil
}
