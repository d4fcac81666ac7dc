package httpapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/workingcopy"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// collectionsAPI serves several collections at once.
type collectionsAPI struct {
	broadcasts    broadcastsAPI
	customFields  customFieldsAPI
	emailTypes    emailTypesAPI
	forms         formsAPI
	identities    identitiesAPI
	messages      messagesAPI
	mtaConfigs    mtaConfigsAPI
	savedFilters  savedFiltersAPI
	seedLists     seedListsAPI
	segments      segmentsAPI
	sequences     sequencesAPI
	stages        stagesAPI
	templates     templatesAPI
	workingCopies workingCopiesAPI
}

// register adds the operation.
func (api collectionsAPI) register(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/collections", endpoint.Op{
		Name: "getCollections", Summary: "Get several collections at once, each with the rows of its own operation.", Tag: "account", Session: true,
		Description: "It is one request instead of one for each collection that a page names or offers. Of library entries the 1,000 newest are in the answer, without the archived; templates and blocks are complete, as with full=true. Working copies need the role editor. Working copies with their data, and binding options of templates, are in the answer for those that the query names.",
	}.ExampleQuery("kinds=segments,email_types,stages"), api.getCollections, checkCollections)
}

// CollectionsView has the requested collections.
type CollectionsView struct {
	BindingOptions    *[]bindingOptions   `json:"binding_options,omitempty" doc:"What the templates in binding_options can be filled with, without those that do not exist."`
	Blocks            *[]BlockRow         `json:"blocks,omitempty"`
	Broadcasts        *[]broadcastRow     `json:"broadcasts,omitempty"`
	Copies            *[]workingCopy      `json:"copies,omitempty" doc:"The working copies in copies, without those that do not exist."`
	CustomFields      *[]customFieldRow   `json:"custom_fields,omitempty"`
	EmailCategories   *[]emailCategoryRow `json:"email_categories,omitempty"`
	EmailTypes        *[]emailTypeRow     `json:"email_types,omitempty"`
	Forms             *[]FormSummary      `json:"forms,omitempty"`
	Messages          *[]MessageRow       `json:"messages,omitempty"`
	MTAConfigs        *[]mtaConfigRow     `json:"mta_configs,omitempty"`
	SavedFilters      *[]savedFilterRow   `json:"saved_filters,omitempty"`
	SeedLists         *[]seedListRow      `json:"seed_lists,omitempty"`
	Segments          *[]segmentForm      `json:"segments,omitempty"`
	SendingIdentities *[]identityRow      `json:"sending_identities,omitempty"`
	Sequences         *[]Sequence         `json:"sequences,omitempty"`
	Stages            *[]stageRow         `json:"stages,omitempty"`
	Templates         *[]TemplateRow      `json:"templates,omitempty"`
	WorkingCopies     *[]WorkingCopyRow   `json:"working_copies,omitempty"`
}

// collection is what can be requested: its kind, the role that its own operation needs, and what reads it.
type collection struct {
	kind string
	role auth.Role
	read func(collectionsAPI, context.Context, auth.Principal, *CollectionsView) error
}

var collections = []collection{
	{"blocks", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) error {
		list, err := template.ListBlocks(ctx, api.templates.db, p.Tenant, template.Filter{}, true)
		rows := make([]BlockRow, len(list))
		for i, b := range list {
			rows[i] = rowOfBlock(b, nil)
		}
		v.Blocks = &rows
		return err
	}},
	{"broadcasts", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.Broadcasts, err = rowsOf(api.broadcasts.listBroadcasts(ctx, p, &listBroadcastsRequest{}))
		return err
	}},
	{"custom_fields", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.CustomFields, err = rowsOf(api.customFields.listCustomFields(ctx, p, nil))
		return err
	}},
	{"email_categories", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.EmailCategories, err = rowsOf(api.emailTypes.listEmailCategories(ctx, p, nil))
		return err
	}},
	{"email_types", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.EmailTypes, err = rowsOf(api.emailTypes.listEmailTypes(ctx, p, nil))
		return err
	}},
	{"forms", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.Forms, err = rowsOf(api.forms.listForms(ctx, p, &listFormsRequest{}))
		return err
	}},
	{"messages", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) error {
		list, _, err := library.List(ctx, api.messages.db, p.Tenant, library.Filter{Limit: collectedMessages})
		rows := make([]MessageRow, len(list))
		for i, e := range list {
			rows[i] = rowOfMessage(e)
		}
		v.Messages = &rows
		return err
	}},
	{"mta_configs", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.MTAConfigs, err = rowsOf(api.mtaConfigs.listMTAConfigs(ctx, p, nil))
		return err
	}},
	{"saved_filters", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.SavedFilters, err = rowsOf(api.savedFilters.listSavedFilters(ctx, p, nil))
		return err
	}},
	{"seed_lists", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.SeedLists, err = rowsOf(api.seedLists.listSeedLists(ctx, p, nil))
		return err
	}},
	{"segments", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.Segments, err = rowsOf(api.segments.listSegments(ctx, p, &listSegmentsRequest{}))
		return err
	}},
	{"sending_identities", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.SendingIdentities, err = rowsOf(api.identities.listIdentities(ctx, p, nil))
		return err
	}},
	{"sequences", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.Sequences, err = rowsOf(api.sequences.listSequences(ctx, p, &listSequencesRequest{}))
		return err
	}},
	{"stages", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.Stages, err = rowsOf(api.stages.listStages(ctx, p, nil))
		return err
	}},
	{"templates", auth.Viewer, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) error {
		list, err := template.List(ctx, api.templates.db, p.Tenant, template.Filter{}, true)
		rows := make([]TemplateRow, len(list))
		for i, t := range list {
			rows[i] = rowOfTemplate(t, nil)
		}
		v.Templates = &rows
		return err
	}},
	{"working_copies", auth.Editor, func(api collectionsAPI, ctx context.Context, p auth.Principal, v *CollectionsView) (err error) {
		v.WorkingCopies, err = rowsOf(api.workingCopies.listWorkingCopies(ctx, p, &listWorkingCopiesRequest{}))
		return err
	}},
}

// collectedMessages is how many library entries an answer has.
const collectedMessages = 1000

func rowsOf[T any](list endpoint.List[T], err error) (*[]T, error) { return &list.Data, err }

type collectionsRequest struct {
	Kinds          string `query:"kinds" doc:"Comma list of blocks, broadcasts, custom_fields, email_categories, email_types, forms, messages, mta_configs, saved_filters, seed_lists, segments, sending_identities, sequences, stages, templates, working_copies. May be absent with copies or binding_options."`
	Copies         string `query:"copies" doc:"Comma list of at most 20 working copies that are returned with their data, each as kind/id."`
	BindingOptions string `query:"binding_options" doc:"Comma list of at most 5 templates, by id or slug, whose binding options are returned."`
}

// How many working copies and binding options an answer has at most.
const (
	collectedCopies  = 20
	collectedOptions = 5
)

// collections returns the collections in the query.
func (in *collectionsRequest) collections() ([]collection, error) {
	var list []collection
	var known []string
	kinds := endpoint.CommaList(in.Kinds)
	for _, c := range collections {
		known = append(known, c.kind)
		if slices.Contains(kinds, c.kind) {
			list = append(list, c)
		}
	}
	copies, templates := endpoint.CommaList(in.Copies), endpoint.CommaList(in.BindingOptions)
	var bad fault.Problems
	if len(kinds)+len(copies)+len(templates) == 0 || slices.ContainsFunc(kinds, func(k string) bool { return !slices.Contains(known, k) }) {
		bad.Add("kinds", "must be a comma list of "+strings.Join(known, ", "))
	}
	if len(copies) > collectedCopies {
		bad.Add("copies", fmt.Sprintf("at most %d", collectedCopies))
	}
	if len(templates) > collectedOptions {
		bad.Add("binding_options", fmt.Sprintf("at most %d", collectedOptions))
	}
	return list, bad.Err()
}

func checkCollections(_ auth.Principal, in *collectionsRequest) error {
	_, err := in.collections()
	return err
}

func (api collectionsAPI) getCollections(ctx context.Context, p auth.Principal, in *collectionsRequest) (CollectionsView, error) {
	list, err := in.collections()
	if err != nil {
		return CollectionsView{}, err
	}
	var out CollectionsView
	for _, c := range list {
		if !p.Role.AtLeast(c.role) {
			return CollectionsView{}, endpoint.ErrRole.Sayf("%s need the role %s", c.kind, c.role)
		}
		if err := c.read(api, ctx, p, &out); err != nil {
			return CollectionsView{}, err
		}
	}
	if out.Copies, err = api.copies(ctx, p, endpoint.CommaList(in.Copies)); err != nil {
		return CollectionsView{}, err
	}
	out.BindingOptions, err = api.bindingOptions(ctx, p, endpoint.CommaList(in.BindingOptions))
	return out, err
}

// copies returns the working copies with the given kinds and ids; nil if none are requested.
func (api collectionsAPI) copies(ctx context.Context, p auth.Principal, refs []string) (*[]workingCopy, error) {
	if len(refs) > 0 && !p.Role.AtLeast(auth.Editor) {
		return nil, endpoint.ErrRole.Sayf("copies need the role %s", auth.Editor)
	}
	return readEach(refs, workingcopy.ErrNotFound, func(ref string) (workingCopy, error) {
		kind, record, _ := strings.Cut(ref, "/")
		return api.workingCopies.getWorkingCopy(ctx, p, &WorkingCopyPath{kind, record})
	})
}

// bindingOptions returns the binding options of templates; nil if none are requested.
func (api collectionsAPI) bindingOptions(ctx context.Context, p auth.Principal, refs []string) (*[]bindingOptions, error) {
	return readEach(refs, template.ErrNotFound, func(ref string) (bindingOptions, error) {
		return api.templates.getBindingOptions(ctx, p, &TemplatePath{ID: ref})
	})
}

// readEach reads what refs name, and leaves out what is missing; nil if they name nothing.
func readEach[T any](refs []string, missing error, read func(ref string) (T, error)) (*[]T, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	found := []T{}
	for _, ref := range refs {
		one, err := read(ref)
		if errors.Is(err, missing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return &found, nil
}
