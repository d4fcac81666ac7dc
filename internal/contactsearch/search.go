package contactsearch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// MaxSearch is the longest search text.
const MaxSearch = 200

// Terms are the words of a search, each of which must occur.
func Terms(search string) []string { return strings.Fields(Fold(search)) }

// Pattern is a term as LIKE reads it, with \ as the escape character.
func Pattern(term string) string { return "%" + likeEscaper.Replace(term) + "%" }

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Fold makes text comparable whatever its case and accents.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || r == 0 {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
}

// Text is what the search looks in, of the parts of a contact that it covers. A word
// of a search holds no space, so it matches within one of the parts.
func Text(parts ...*string) string {
	var list []string
	for _, p := range parts {
		if p != nil {
			list = append(list, *p)
		}
	}
	return Fold(strings.Join(list, "\n"))
}

// How many of those that are not in the index yet are looked for.
const (
	maxWaitingPage  = 500
	maxWaitingCount = 5000
)

// Candidates returns, in order, every contact that a search may find. It reports
// false when it does not know: the search has no words, too many contacts match
// for the index to be of use, or the index is changing. ordered says that only a
// page of the contacts is wanted, in the order of an index.
func Candidates(ctx context.Context, db *sqldb.DB, tenant id.Tenant, search string, ordered bool) ([]id.Contact, bool, error) {
	words := Terms(search)
	if len(words) == 0 {
		return nil, false, nil
	}
	list, ok, err := candidates(ctx, db, tenant, words, ordered)
	if err != nil {
		return nil, false, fmt.Errorf("search the index of contacts: %w", err)
	}
	return list, ok, nil
}

func candidates(ctx context.Context, db *sqldb.DB, tenant id.Tenant, words []string, ordered bool) ([]id.Contact, bool, error) {
	most := maxWaitingCount
	if ordered {
		most = maxWaitingPage
	}
	f, err := lookUp(ctx, db, tenant, words, most)
	if err != nil || len(f.fresh) > most || !f.selective(ordered) {
		return nil, false, err
	}
	list, ok, err := f.resolve(ctx, db, tenant)
	if err != nil || !ok {
		return nil, false, err
	}
	list = append(list, f.fresh...)
	slices.SortFunc(list, id.Compare)
	return slices.Compact(list), true, nil
}

// indexHits is what the index says about a search.
type indexHits struct {
	fresh       []id.Contact           // who is not in the index yet and holds the words
	segments    map[int64]*segmentHits // who is in it and holds their grams
	first, last int64                  // of all segments; 0: there is none
}

// segmentHits is the part of one segment.
type segmentHits struct {
	members members // who holds all the grams that were met
	met     int     // how many these are
	holders int     // how many hold all that are needed
}

// selective reports whether it is better to look at those who were found, each
// on their own, than at contacts in the order that they are in, which takes a
// fraction of the time for each: at all of them, or at as many as it takes to
// fill a page.
func (f *indexHits) selective(ordered bool) bool {
	n := 0
	for _, s := range f.segments {
		n += s.holders
	}
	if ordered {
		return 12*n <= max(f.estimateScan(f.first, 1), f.estimateScan(f.last, -1))
	}
	return 10*n <= int(f.last-f.first+1)*segmentSize
}

// estimateScan estimates how many contacts one meets, from a segment on in steps, until
// a page is full. Segments are about as old as the contacts in them.
func (f *indexHits) estimateScan(from, step int64) int {
	met, missing := 0, 50
	for n := from; n >= f.first && n <= f.last; n += step {
		if s := f.segments[n]; s != nil {
			if s.holders >= missing {
				return met + segmentSize*missing/s.holders
			}
			missing -= s.holders
		}
		met += segmentSize
	}
	return met
}

// lookUp asks the index who holds the grams of the words, and who of those that
// are not in it yet holds the words themselves, of whom it returns at most one
// more than the bound. It is one statement, so that whoever is on the way into
// the index, or out of it, is seen in the one place or in the other.
func lookUp(ctx context.Context, db *sqldb.DB, tenant id.Tenant, words []string, most int) (*indexHits, error) {
	args := []any{tenant, most + 1}
	var likes, likesOfStretch strings.Builder
	for _, w := range words {
		args = append(args, Pattern(w))
		fmt.Fprintf(&likes, ` AND f.search_text LIKE $%d ESCAPE '\' `, len(args))
		fmt.Fprintf(&likesOfStretch, ` AND c.search_text LIKE $%d ESCAPE '\' `, len(args))
	}
	needed := gramsOfTerms(words)
	t := db.Table("gram BIGINT", "bucket BIGINT")
	for i, g := range needed {
		t.Add(i, g.bucket())
	}
	rows, err := db.Query(ctx, `
		SELECT contact_id, segment, gram, postings FROM (
			SELECT f.contact_id, 0 AS segment, -1 AS gram, CAST(NULL AS BYTEA) AS postings FROM contact_search_fresh f
			WHERE f.tenant_id = $1`+likes.String()+` LIMIT $2) AS waiting
		UNION ALL
		SELECT contact_id, segment, gram, postings FROM (
			SELECT c.id AS contact_id, 0 AS segment, -1 AS gram, CAST(NULL AS BYTEA) AS postings FROM contact_search_stretch s
			JOIN contact c ON c.tenant_id = $1 AND c.id >= s.first_id AND c.id <= s.last_id
			WHERE s.tenant_id = $1`+likesOfStretch.String()+` LIMIT $2) AS stretched /* reads the tenant: its few stretches */
		UNION ALL
		SELECT NULL, COALESCE((SELECT MIN(b.segment) FROM contact_search_block b WHERE b.tenant_id = $1), 0), -2, NULL
		UNION ALL
		SELECT NULL, COALESCE((SELECT MAX(b.segment) FROM contact_search_block b WHERE b.tenant_id = $1), 0), -3, NULL
		UNION ALL
		SELECT NULL, p.segment, v.gram, p.postings
		FROM `+t.As("v", len(args)+1)+`
		JOIN contact_search_postings p ON p.tenant_id = $1 AND p.bucket = v.bucket`, t.Args(args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	f := &indexHits{segments: map[int64]*segmentHits{}}
	for rows.Next() {
		var c id.Contact
		var segment, gram int64
		var postings []byte
		if err := rows.Scan(&c, &segment, &gram, &postings); err != nil {
			return nil, err
		}
		switch gram {
		case -1:
			f.fresh = append(f.fresh, c)
		case -2:
			f.first = segment
		case -3:
			f.last = segment
		default:
			if err := f.intersect(segment, postings, needed[gram]); err != nil {
				return nil, fmt.Errorf("segment %d: %w", segment, err)
			}
		}
	}
	for n, s := range f.segments {
		// Of a segment that holds a gram nowhere there may be no row to say so.
		if s.holders = s.members.count(); s.met < len(needed) || s.holders == 0 {
			delete(f.segments, n)
		}
	}
	return f, rows.Err()
}

// intersect takes into account who of a segment holds one of the grams.
func (f *indexHits) intersect(segment int64, postings []byte, g gram) error {
	with, err := decode(postings, g)
	if err != nil {
		return err
	}
	s := f.segments[segment]
	if s == nil {
		f.segments[segment] = &segmentHits{members: with, met: 1}
		return nil
	}
	s.members.keep(&with)
	s.met++
	return nil
}

// resolve returns the ids of those in the index. It reports false when some of
// them have left it in the meantime.
func (f *indexHits) resolve(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]id.Contact, bool, error) {
	list := []id.Contact{}
	t := db.Table("segment BIGINT", "block BIGINT")
	for n, s := range f.segments {
		for b := range segmentSize / blockSize {
			if s.members.block(b) != 0 {
				t.Add(n, b)
			}
		}
	}
	if t.Len() == 0 {
		return list, true, nil
	}
	rows, err := db.Query(ctx, `
		SELECT b.segment, b.block, b.contacts FROM `+t.As("v", 2)+`
		JOIN contact_search_block b ON b.tenant_id = $1 AND b.segment = v.segment AND b.block = v.block`, t.Args(tenant)...)
	read, err := sqldb.Collect(rows, err, func(row func(...any) error) (struct{}, error) {
		var segment, block int64
		var contacts []byte
		if err := row(&segment, &block, &contacts); err != nil {
			return struct{}{}, err
		}
		mask := f.segments[segment].members.block(int(block))
		for i, c := range unpack(contacts) {
			if mask&(1<<i) != 0 {
				list = append(list, c)
			}
		}
		return struct{}{}, nil
	})
	return list, len(read) == t.Len(), err
}
