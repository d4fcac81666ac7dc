// Command oapi makes ten calls with the client that oapi-codegen has generated. Its arguments are the address of a
// tenant and an API key.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/packetboat/packetboat/tools/clients/oapi/api"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, server, key string) error {
	c, err := api.NewClientWithResponses(server, api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("X-API-Key", key)
		return nil
	}))
	if err != nil {
		return err
	}
	made, err := c.CreateContactWithResponse(ctx, nil, api.ContactInput{Email: "oapi@example.org", FirstName: new("Ann"), Tags: &[]string{"one", "two"}})
	if err != nil || made.JSON201 == nil {
		return fmt.Errorf("create a contact: %v, %s", err, made.Body)
	}
	got, err := c.GetContactWithResponse(ctx, made.JSON201.Id)
	if err != nil || got.JSON200 == nil || string(got.JSON200.Email) != "oapi@example.org" {
		return fmt.Errorf("get the contact: %v, %s", err, got.Body)
	}
	list, err := c.ListContactsWithResponse(ctx, &api.ListContactsParams{
		Status: &[]api.ListContactsParamsStatus{api.ListContactsParamsStatusActive, api.ListContactsParamsStatusPending},
		Search: new("oapi"), Limit: new(int64(5)), Sort: new(api.ListContactsParamsSortEmail),
	})
	if err != nil || list.JSON200 == nil || len(list.JSON200.Data) != 1 {
		return fmt.Errorf("list contacts: %v, %s", err, list.Body)
	}
	segment, err := c.CreateSegmentWithResponse(ctx, api.CreateSegmentRequestBody{
		Name: "Readers by oapi", Definition: &api.RuleDefinition{Logic: api.RuleDefinitionLogicAnd, Conditions: []api.RuleCondition{
			{Field: new("email"), Operator: new("equals"), Value: "oapi@example.org"},
		}},
	})
	if err != nil || segment.JSON201 == nil {
		return fmt.Errorf("create a segment: %v, %s", err, segment.Body)
	}
	segments, err := c.ListSegmentsWithResponse(ctx, &api.ListSegmentsParams{Type: new(api.ListSegmentsParamsTypeDynamic)})
	if err != nil || segments.JSON200 == nil || len(segments.JSON200.Data) == 0 {
		return fmt.Errorf("list segments: %v, %s", err, segments.Body)
	}
	template, err := c.CreateTemplateWithResponse(ctx, api.CreateTemplateRequestBody{Name: "By oapi", Subject: new("Hi"), ContentHtml: "<p>Hi</p>"})
	if err != nil || template.JSON201 == nil {
		return fmt.Errorf("create a template: %v, %s", err, template.Body)
	}
	for _, full := range []bool{false, true} {
		templates, err := c.ListTemplatesWithResponse(ctx, &api.ListTemplatesParams{Full: &full})
		if err != nil || templates.JSON200 == nil || len(templates.JSON200.Data) == 0 || full != (templates.JSON200.Data[0].ContentHtml != nil) {
			return fmt.Errorf("list templates, full %v: %v, %s", full, err, templates.Body)
		}
	}
	since := time.Now().Add(-time.Hour)
	broadcasts, err := c.ListBroadcastsWithResponse(ctx, &api.ListBroadcastsParams{Since: &since, Tags: &[]string{"a", "b"}})
	if err != nil || broadcasts.JSON200 == nil {
		return fmt.Errorf("list broadcasts: %v, %s", err, broadcasts.Body)
	}
	refused, err := c.CreateSegmentWithResponse(ctx, api.CreateSegmentRequestBody{})
	if err != nil || refused.JSON400 == nil {
		return fmt.Errorf("create a segment without a name: %v, %s", err, refused.Body)
	}
	return nil
}
