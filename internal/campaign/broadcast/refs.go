package broadcast

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Ref refers to a record by its id or, when that is zero, by its public key. The
// zero Ref refers to none.
type Ref[ID comparable] struct {
	ID  ID
	Key *string
}

// RefList refers to records by their ids or, when there is no list of them, by
// their public keys.
type RefList[ID comparable] struct {
	IDs  []ID
	Keys []string
}

// Refs are the records that a request names; nil leaves a part alone.
type Refs struct {
	EmailType    *Ref[id.EmailType]
	TypeRequired bool // of API keys: they cannot do without an email type
	Lane         *Ref[id.Lane]
	Include      *RefList[id.Segment]
	Exclude      *RefList[id.Segment]
	Identities   *RefList[id.Identity] // by address
	Lanes        []Ref[id.Lane]        // of Change.Delivery.Lanes, in their order
}

// Resolve looks up what the request names and puts it into the change.
func (r Refs) Resolve(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ch *Change) error {
	var err error
	if ch.EmailType, err = r.emailType(ctx, db, tenant); err != nil {
		return err
	}
	if r.Lane != nil {
		if ch.Lane, err = mtaConfig(ctx, db, tenant, *r.Lane); err != nil {
			return err
		}
	}
	if ch.Include, err = segments(ctx, db, tenant, r.Include); err != nil {
		return err
	}
	if ch.Exclude, err = segments(ctx, db, tenant, r.Exclude); err != nil {
		return err
	}
	if err := r.lanes(ctx, db, tenant, ch); err != nil {
		return err
	}
	if err := checkSeedLists(ctx, db, tenant, ch.SeedLists); err != nil {
		return err
	}
	ch.Identities, err = identities(ctx, db, tenant, r.Identities)
	return err
}

// ResolveNew is Resolve for a new broadcast, for which an absent email type means none.
func (r Refs) ResolveNew(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ch *Change) error {
	if r.EmailType == nil {
		r.EmailType = &Ref[id.EmailType]{}
	}
	return r.Resolve(ctx, db, tenant, ch)
}

// emailType looks up the email type, which must be active.
func (r Refs) emailType(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (*id.EmailType, error) {
	var typ sender.EmailType
	var err error
	switch {
	case r.EmailType == nil:
		return nil, nil
	case !r.EmailType.ID.IsZero():
		typ, err = sender.EmailTypeByID(ctx, db, tenant, r.EmailType.ID)
		err = replaceFault(err, sender.ErrEmailTypeNotFound, ErrEmailType)
	case r.EmailType.Key != nil:
		typ, err = sender.EmailTypeByKey(ctx, db, tenant, *r.EmailType.Key)
	case r.TypeRequired:
		err = ErrEmailType.Sayf("email_type_key is required")
	default:
		return new(id.EmailType{}), nil
	}
	if err == nil && !typ.Active {
		err = ErrEmailType.Sayf("the email type %s is not active", typ.Key)
	}
	return &typ.ID, err
}

func mtaConfig(ctx context.Context, db *sqldb.DB, tenant id.Tenant, r Ref[id.Lane]) (*id.Lane, error) {
	var c lane.Config
	var err error
	switch {
	case !r.ID.IsZero():
		c, err = lane.ByID(ctx, db, tenant, r.ID)
		err = replaceFault(err, lane.ErrNotFound, ErrLane)
	case r.Key != nil:
		c, err = lane.ByKey(ctx, db, tenant, *r.Key)
	}
	return &c.ID, err
}

func segments(ctx context.Context, db *sqldb.DB, tenant id.Tenant, r *RefList[id.Segment]) (*[]id.Segment, error) {
	if r == nil {
		return nil, nil
	}
	ids, keys := distinct(r.IDs), distinct(r.Keys)
	if err := checkSegments(max(len(ids), len(keys))); err != nil {
		return nil, err
	}
	var list []segment.Segment
	var err error
	if r.IDs != nil {
		list, err = segment.ByIDs(ctx, db, tenant, ids)
	} else {
		list, err = segment.ByKeys(ctx, db, tenant, keys)
	}
	found := make([]id.Segment, len(list))
	for i, s := range list {
		found[i] = s.ID
	}
	return &found, err
}

// checkSegments refuses to include or to exclude n segments.
func checkSegments(n int) error {
	if n > MaxSegments {
		return ErrLimit.Sayf("a broadcast may include at most %d segments and exclude as many", MaxSegments)
	}
	return nil
}

// lanes looks up the lanes that share the mail.
func (r Refs) lanes(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ch *Change) error {
	for i, l := range r.Lanes {
		found, err := mtaConfig(ctx, db, tenant, l)
		if f, ok := fault.As(err); ok && f.Kind == fault.Invalid || err == nil && found.IsZero() {
			return ErrLane.Sayf("delivery_lanes[%d] names no MTA config", i)
		}
		if err != nil {
			return fmt.Errorf("look up lanes: %w", err)
		}
		(*ch.Delivery.Lanes)[i].Lane = *found
	}
	return nil
}

func identities(ctx context.Context, db *sqldb.DB, tenant id.Tenant, r *RefList[id.Identity]) (*[]id.Identity, error) {
	if r == nil {
		return nil, nil
	}
	var list []sender.Identity
	var err error
	if addresses := distinct(r.Keys); r.IDs != nil {
		ids := distinct(r.IDs)
		if list, err = sender.IdentitiesByID(ctx, db, tenant, ids); err == nil && len(list) < len(ids) {
			err = ErrIdentity
		}
	} else if len(addresses) > sender.MaxIdentities {
		err = ErrIdentity.Sayf("more addresses than there can be sending identities")
	} else {
		list, err = sender.IdentitiesByAddress(ctx, db, tenant, addresses)
	}
	found := make([]id.Identity, len(list))
	for i, s := range list {
		found[i] = s.ID
	}
	return &found, err
}

// replaceFault turns one fault into another.
func replaceFault(err error, from, to *fault.Error) error {
	if f, ok := fault.As(err); ok && f.Is(from) {
		return to
	}
	return err
}

// RefNames are the public names of records that broadcasts refer to. What was
// deleted has none.
type RefNames struct {
	Types      map[id.EmailType]string
	Lanes      map[id.Lane]string
	Segments   map[id.Segment]string
	Identities map[id.Identity]string // addresses
	SeedLists  map[id.SeedList]string
}

// LoadRefNames reads the names of what broadcasts refer to.
func LoadRefNames(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list ...Broadcast) (RefNames, error) {
	var types []id.EmailType
	var lanes []id.Lane
	var segments []id.Segment
	var identities []id.Identity
	var seeds []id.SeedList
	for _, b := range list {
		types, lanes = append(types, b.EmailType), append(lanes, b.Lane)
		for _, s := range b.Delivery.Lanes {
			lanes = append(lanes, s.Lane)
		}
		segments = append(append(segments, b.Include...), b.Exclude...)
		identities = append(identities, b.Identities...)
		if b.SeedLists != nil {
			seeds = append(seeds, *b.SeedLists...)
		}
	}
	n, err := LoadRouteNames(ctx, db, tenant, lanes, identities)
	if err != nil {
		return n, err
	}
	if n.Types, err = sender.TypeKeys(ctx, db, tenant, types); err != nil {
		return n, err
	}
	if n.Segments, err = segment.Keys(ctx, db, tenant, segments); err != nil {
		return n, err
	}
	n.SeedLists, err = seedlist.Names(ctx, db, tenant, distinct(seeds))
	return n, err
}

// LoadRouteNames reads the names of lanes and of sending identities alone.
func LoadRouteNames(ctx context.Context, db *sqldb.DB, tenant id.Tenant, lanes []id.Lane, from []id.Identity) (n RefNames, err error) {
	if n.Lanes, err = lane.Keys(ctx, db, tenant, lanes); err != nil {
		return n, err
	}
	n.Identities, err = sender.Addresses(ctx, db, tenant, from)
	return n, err
}
