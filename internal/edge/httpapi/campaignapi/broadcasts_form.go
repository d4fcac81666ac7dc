package campaignapi

import (
	"cmp"
	"context"
	"reflect"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/contentapi"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/message/outbox"
)

// BroadcastBase are the fields of every form of a broadcast.
type BroadcastBase struct {
	ID             id.Broadcast           `json:"id" format:"uuid"`
	Name           string                 `json:"name"`
	Status         broadcast.Status       `json:"status" enum:"draft,scheduled,sending,paused,completed,failed,cancelled"`
	Kind           broadcast.Kind         `json:"kind" enum:"regular,triggered"`
	Mode           string                 `json:"mode" enum:"blast"`
	ContentVersion int                    `json:"content_version"`
	EmailTypeKey   *string                `json:"email_type_key" doc:"Null when none is set, or it was deleted."`
	MTAConfigKey   *string                `json:"mta_config_key" doc:"Null when none is set, or it was deleted."`
	IncludeKeys    []string               `json:"include_segment_keys"`
	ExcludeKeys    []string               `json:"exclude_segment_keys"`
	Senders        []string               `json:"sending_identity_emails" nullable:"true" doc:"Null: any sender of the email type."`
	Tags           []string               `json:"tags"`
	Metadata       map[string]any         `json:"metadata"`
	ScheduledAt    *endpoint.Stamp        `json:"scheduled_at"`
	Tracking       bool                   `json:"tracking_enabled"`
	DeliveryMode   broadcast.Mode         `json:"delivery_mode" enum:"now,over_days,by_date"`
	WindowDays     *int                   `json:"delivery_window_days"`
	WindowDate     *spread.Day            `json:"delivery_window_date" format:"date"`
	SkippedDates   []spread.Day           `json:"skipped_dates"`
	OverflowMode   broadcast.Overflow     `json:"overflow_mode" enum:"extend,holdback"`
	Throttle       *int                   `json:"throttle_per_hour"`
	Lanes          []DeliveryLane         `json:"delivery_lanes" nullable:"true"`
	SeedLists      []id.SeedList          `json:"seed_list_ids" nullable:"true" doc:"Null: those with include_by_default that are attached to a sender."`
	SplitTest      wire.AlwaysNull        `json:"split_test_config" doc:"Always null: not supported."`
	SplitResult    wire.AlwaysNull        `json:"split_test_result" doc:"Always null: not supported."`
	PauseReason    *broadcast.PauseReason `json:"pause_reason" enum:"user,capacity_collapsed,domain_paused,tenant_paused"`
	ArchivedAt     *endpoint.Stamp        `json:"archived_at"`
	StartedAt      *endpoint.Stamp        `json:"dispatch_started_at"`
	CompletedAt    *endpoint.Stamp        `json:"completed_at"`
	LastSendAt     *endpoint.Stamp        `json:"last_send_at"`
	CreatedBy      auth.Actor             `json:"created_by"`
	CreatedAt      endpoint.Stamp         `json:"created_at"`
	UpdatedAt      endpoint.Stamp         `json:"updated_at"`
}

type DeliveryLane struct {
	MTAConfigKey string  `json:"mta_config_key"`
	Weight       float64 `json:"weight"`
}

// BroadcastIDs are the additional fields of the session form.
type BroadcastIDs struct {
	EmailTypeID *string       `json:"email_type_id"`
	MTAConfigID *string       `json:"mta_config_id"`
	IncludeIDs  []string      `json:"include_segment_ids"`
	ExcludeIDs  []string      `json:"exclude_segment_ids"`
	SenderIDs   []string      `json:"sending_identity_ids" nullable:"true" doc:"Null: any sender of the email type."`
	Lanes       []sessionLane `json:"delivery_lanes" nullable:"true"`
}

type sessionLane struct {
	DeliveryLane
	MTAConfigID id.Lane `json:"mta_config_id"`
}

// BroadcastMessage is the version of a library entry that equals the content.
type BroadcastMessage struct {
	MessageID      *id.LibraryEntry `json:"message_id" doc:"The library entry that the content was copied from; null if the content differs from it."`
	MessageVersion *int             `json:"message_version"`
}

type (
	broadcastLean struct {
		contentapi.LeanContent
		BroadcastMessage
	}
	broadcastLeanSession struct {
		contentapi.LeanSessionContent
		BroadcastMessage
	}
	broadcastFull struct {
		contentapi.FullContent
		BroadcastMessage
	}
	broadcastFullSession struct {
		contentapi.FullSessionContent
		BroadcastMessage
	}
)

// LeanBroadcast is a row of a list.
type LeanBroadcast struct {
	BroadcastBase
	Content      broadcastLean `json:"content"`
	VariantCount int           `json:"variant_count"`
	VariantIDs   []string      `json:"variant_ids"`
}

type leanSession struct {
	BroadcastIDs // first, because its delivery_lanes replaces that of the public form
	LeanBroadcast
	Content broadcastLeanSession `json:"content"`
	Actions []broadcast.Action   `json:"available_actions" doc:"The calls that the state allows. Resuming is among them even while the cause of the pause remains."`
}

// FullBroadcast is a row of a list with full=true, and most of a single one.
type FullBroadcast struct {
	BroadcastBase
	Content  broadcastFull      `json:"content"`
	Variants []broadcastVariant `json:"variants" nullable:"true"`
}

type FullSession struct {
	BroadcastIDs // first, because its delivery_lanes replaces that of the public form
	FullBroadcast
	Content broadcastFullSession `json:"content"`
}

type broadcastVariant struct {
	ID        string                 `json:"id"`
	Name      string                 `json:"name"`
	Weight    float64                `json:"weight"`
	Overrides map[draft.Field]string `json:"content_overrides"`
}

// BroadcastRow is a row of a list, lean or full.
type BroadcastRow struct {
	lean *wire.Form[LeanBroadcast, leanSession]
	full *wire.Form[FullBroadcast, FullSession]
}

// MarshalJSON encodes the row that is set.
func (r BroadcastRow) MarshalJSON() ([]byte, error) {
	if r.full != nil {
		return r.full.MarshalJSON()
	}
	return r.lean.MarshalJSON()
}

// Schema is that of either row.
func (r BroadcastRow) Schema(all endpoint.Registry) *endpoint.Schema {
	return endpoint.EitherSchema("BroadcastRow",
		endpoint.FormSchema(all, reflect.TypeFor[LeanBroadcast](), reflect.TypeFor[leanSession]()),
		endpoint.FormSchema(all, reflect.TypeFor[FullBroadcast](), reflect.TypeFor[FullSession]()))
}

// broadcastNames are the public names of the records that broadcasts refer to, and the progress of
// their sends.
type broadcastNames struct {
	broadcast.RefNames
	sends map[id.Send]outbox.Progress
}

// namesFor loads the names and the progress for a list of broadcasts.
func (api Broadcasts) namesFor(ctx context.Context, tenant id.Tenant, list ...broadcast.Broadcast) (broadcastNames, error) {
	var sends []id.Send
	for _, b := range list {
		if b.StartedAt != nil {
			sends = append(sends, b.Send)
		}
	}
	names, err := broadcast.LoadRefNames(ctx, api.db, tenant, list...)
	if err != nil {
		return broadcastNames{}, err
	}
	n := broadcastNames{RefNames: names}
	n.sends, err = outbox.LoadAll(ctx, api.db, tenant, sends)
	return n, err
}

// namesOf returns the names of ids, without ids that have none.
func namesOf[K comparable](names map[K]string, ids []K) []string {
	list := make([]string, 0, len(ids))
	for _, v := range ids {
		if name, ok := names[v]; ok {
			list = append(list, name)
		}
	}
	return list
}

// idsWithName returns the ids that have a name.
func idsWithName[K interface {
	comparable
	String() string
}](names map[K]string, ids []K) []string {
	list := make([]string, 0, len(ids))
	for _, v := range ids {
		if _, ok := names[v]; ok {
			list = append(list, v.String())
		}
	}
	return list
}

func (n broadcastNames) base(b broadcast.Broadcast) BroadcastBase {
	base := BroadcastBase{
		ID: b.ID, Name: b.Name, Status: b.Status, Kind: b.Kind, Mode: "blast", ContentVersion: b.ContentVersion,
		EmailTypeKey: wire.NameOf(n.Types, b.EmailType), MTAConfigKey: wire.NameOf(n.Lanes, b.Lane),
		IncludeKeys: namesOf(n.Segments, b.Include), ExcludeKeys: namesOf(n.Segments, b.Exclude),
		Tags: b.Tags, Metadata: b.Metadata, ScheduledAt: endpoint.AtOr(b.ScheduledAt), Tracking: b.Tracking,
		DeliveryMode: cmp.Or(b.Delivery.Mode, broadcast.Now), SkippedDates: endpoint.NonNil(b.Delivery.Skipped),
		OverflowMode: cmp.Or(b.Delivery.Overflow, broadcast.Extend), WindowDays: optional.Pointer(b.Delivery.WindowDays),
		Throttle: optional.Pointer(b.Delivery.PerHour), Lanes: n.laneShares(b.Delivery.Lanes),
		ArchivedAt: endpoint.AtOr(b.ArchivedAt), StartedAt: endpoint.AtOr(b.StartedAt), CompletedAt: endpoint.AtOr(b.CompletedAt),
		LastSendAt: endpoint.AtOr(n.sends[b.Send].LastSendAt),
		CreatedBy:  b.CreatedBy, CreatedAt: endpoint.At(b.CreatedAt), UpdatedAt: endpoint.At(b.UpdatedAt),
	}
	if b.Identities != nil {
		base.Senders = namesOf(n.Identities, b.Identities)
	}
	if b.SeedLists != nil {
		base.SeedLists = []id.SeedList{}
		for _, l := range *b.SeedLists {
			if _, ok := n.SeedLists[l]; ok {
				base.SeedLists = append(base.SeedLists, l)
			}
		}
	}
	if b.Delivery.WindowDate != "" {
		base.WindowDate = &b.Delivery.WindowDate
	}
	if b.PauseReason != "" {
		base.PauseReason = &b.PauseReason
	}
	return base
}

func (n broadcastNames) ids(b broadcast.Broadcast) BroadcastIDs {
	ids := BroadcastIDs{IncludeIDs: idsWithName(n.Segments, b.Include), ExcludeIDs: idsWithName(n.Segments, b.Exclude)}
	if _, ok := n.Types[b.EmailType]; ok {
		ids.EmailTypeID = new(b.EmailType.String())
	}
	if _, ok := n.Lanes[b.Lane]; ok {
		ids.MTAConfigID = new(b.Lane.String())
	}
	if b.Delivery.Lanes != nil {
		ids.Lanes = n.sessionLanes(b.Delivery.Lanes)
	}
	if b.Identities != nil {
		ids.SenderIDs = idsWithName(n.Identities, b.Identities)
	}
	return ids
}

func variantIDs(b broadcast.Broadcast) []string {
	ids := make([]string, len(b.Variants))
	for i, v := range b.Variants {
		ids[i] = v.ID
	}
	return ids
}

func messageOf(b broadcast.Broadcast) BroadcastMessage {
	if b.Message == nil {
		return BroadcastMessage{}
	}
	return BroadcastMessage{&b.Message.Entry, &b.Message.Version}
}

func (n broadcastNames) lean(b broadcast.Broadcast) LeanBroadcast {
	has := contentapi.LeanContent{
		ContentHead: contentapi.HeadOf(b.Content), HasHTML: b.Bodies.HTML, HasMJML: b.Bodies.MJML, HasText: b.Bodies.Text, HasSnapshot: b.Bodies.Snapshot,
	}
	return LeanBroadcast{BroadcastBase: n.base(b), Content: broadcastLean{has, messageOf(b)}, VariantCount: len(b.Variants), VariantIDs: variantIDs(b)}
}

func (n broadcastNames) leanSession(b broadcast.Broadcast) leanSession {
	lean := n.lean(b)
	return leanSession{n.ids(b), lean, broadcastLeanSession{contentapi.LeanSessionContent{LeanContent: lean.Content.LeanContent, TemplateRef: contentapi.TemplateOf(b.Content)}, messageOf(b)}, b.Available()}
}

func (n broadcastNames) full(b broadcast.Broadcast) FullBroadcast {
	full := FullBroadcast{BroadcastBase: n.base(b), Content: broadcastFull{contentapi.ShowContent(b.Content), messageOf(b)}}
	for _, v := range b.Variants {
		full.Variants = append(full.Variants, broadcastVariant{v.ID, v.Name, v.Weight, v.Overrides})
	}
	return full
}

func (n broadcastNames) fullSession(b broadcast.Broadcast) FullSession {
	full := n.full(b)
	return FullSession{n.ids(b), full, broadcastFullSession{contentapi.FullSessionContent{FullContent: full.Content.FullContent, TemplateRef: contentapi.TemplateOf(b.Content)}, messageOf(b)}}
}
