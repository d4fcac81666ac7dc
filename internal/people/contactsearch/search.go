package contactsearch

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// MaxSearch is the longest search text.
const MaxSearch = 200

// Terms are the words of a search, each of which must occur.
func Terms(search string) []string { return strings.Fields(Fold(search)) }

// Pattern returns the LIKE pattern of a term, with \ as escape character.
func Pattern(term string) string { return "%" + sqldb.EscapeLike(term) + "%" }

// Fold removes case and accents from a text, for comparison.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || r == 0 {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
}

// Text returns the text that searches compare, made of parts of a contact. A term contains
// no space, so it matches within one of the parts.
func Text(parts ...*string) string {
	var list []string
	for _, p := range parts {
		if p != nil {
			list = append(list, *p)
		}
	}
	return Fold(strings.Join(list, "\n"))
}

// Numbers of queued contacts with the terms above which a search does not use the index.
const (
	maxQueuedPage  = 500
	maxQueuedCount = 5000
)

// Candidates returns, in order of ids, every contact that a search may find. It reports
// false if the caller should read all contacts: the search has no terms, too many contacts
// match, or the index changed meanwhile. ordered says that the caller reads one page in the
// order of a database index.
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
	bound := maxQueuedCount
	if ordered {
		bound = maxQueuedPage
	}
	f, err := lookUp(ctx, db, tenant, words, bound)
	if err != nil || len(f.queued) > bound || !f.selective(ordered) {
		return nil, false, err
	}
	list, ok, err := f.resolve(ctx, db, tenant)
	if err != nil || !ok {
		return nil, false, err
	}
	list = append(list, f.queued...)
	slices.SortFunc(list, id.Compare)
	return slices.Compact(list), true, nil
}

// indexHits is the result of an index lookup.
type indexHits struct {
	queued   []id.Contact           // not indexed yet, with the terms in their texts
	segments []segment              // in the order of their numbers
	hits     map[int64]*segmentHits // by number of the segment
}

// segmentHits is the result in one segment.
type segmentHits struct {
	members members // contacts with all the grams so far
	grams   int     // number of grams found in the segment
	matches int     // number of contacts with all grams of the terms
}

// selective reports whether reading the candidates by id is faster than reading contacts in
// the order of a database index: all of them or, if ordered, as many as fill a page.
// Reading one by id takes about ten times as long.
func (f *indexHits) selective(ordered bool) bool {
	matches, entries := 0, 0
	for _, s := range f.hits {
		matches += s.matches
	}
	for _, s := range f.segments {
		entries += s.entries
	}
	if ordered {
		return 12*matches <= max(f.estimateScan(slices.All(f.segments)), f.estimateScan(slices.Backward(f.segments)))
	}
	return 10*matches <= entries
}

// estimateScan estimates how many contacts are read, in the order of segments, until a page
// is full. Segments are about as old as their contacts.
func (f *indexHits) estimateScan(segments iter.Seq2[int, segment]) int {
	read, missing := 0, 50
	for _, s := range segments {
		if h := f.hits[s.number]; h != nil {
			if h.matches >= missing {
				return read + s.entries*missing/h.matches
			}
			missing -= h.matches
		}
		read += s.entries
	}
	return read
}

// lookUp reads the postings of the words' grams, and the queued contacts that contain the
// words, at bound one more than the bound. It is one statement, so that a contact that an
// indexer moves from the queue to a segment is seen in one of them.
func lookUp(ctx context.Context, db *sqldb.DB, tenant id.Tenant, words []string, bound int) (*indexHits, error) {
	args := []any{tenant, bound + 1}
	var likes, likesOfRange strings.Builder
	for _, w := range words {
		args = append(args, Pattern(w))
		fmt.Fprintf(&likes, ` AND f.search_text LIKE $%d ESCAPE '\' `, len(args))
		fmt.Fprintf(&likesOfRange, ` AND c.search_text LIKE $%d ESCAPE '\' `, len(args))
	}
	inRanges := `contact_search_range s JOIN contact c ON c.tenant_id = $1 AND c.id >= s.first_id AND c.id <= s.last_id
			WHERE s.tenant_id = $1` + likesOfRange.String()
	if db.Dialect() == sqldb.Postgres {
		// PostgreSQL knows nothing about the ranges while there are none. It then takes them for many, and would compare all
		// contacts before it looks for a range. With a LIMIT, the contacts are read for each range.
		inRanges = `contact_search_range s CROSS JOIN LATERAL (
				SELECT c.id FROM contact c WHERE c.tenant_id = $1 AND c.id >= s.first_id AND c.id <= s.last_id` + likesOfRange.String() + ` LIMIT $2) AS c
			WHERE s.tenant_id = $1`
	}
	needed := gramsOfTerms(words)
	t := db.Table("gram BIGINT", "bucket BIGINT")
	for i, g := range needed {
		t.Add(i, g.bucket())
	}
	rows, err := db.Query(ctx, `
		SELECT contact_id, segment, n, postings FROM (
			SELECT f.contact_id, 0 AS segment, 0 AS n, CAST(NULL AS BYTEA) AS postings FROM contact_search_queue f
			WHERE f.tenant_id = $1`+likes.String()+` LIMIT $2) AS queued
		UNION ALL
		SELECT contact_id, segment, n, postings FROM (
			SELECT c.id AS contact_id, 0 AS segment, 0 AS n, CAST(NULL AS BYTEA) AS postings FROM `+inRanges+` LIMIT $2) AS ranges /* reads the tenant: its few ranges */
		UNION ALL
		SELECT NULL, s.segment, s.entries, NULL FROM contact_search_segment s WHERE s.tenant_id = $1 AND s.entries > 0 /* reads the tenant: its segments */
		UNION ALL
		SELECT NULL, p.segment, v.gram, p.postings
		FROM `+t.As("v", len(args)+1)+`
		JOIN contact_search_postings p ON p.tenant_id = $1 AND p.bucket = v.bucket`, t.Args(args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	f := &indexHits{hits: map[int64]*segmentHits{}}
	var c id.Contact
	var number, n int64
	var postings sql.RawBytes // valid until the next row
	for rows.Next() {
		if err := rows.Scan(&c, &number, &n, &postings); err != nil {
			return nil, err
		}
		switch {
		case number == 0:
			f.queued = append(f.queued, c)
		case postings == nil:
			f.segments = append(f.segments, segment{number, int(n)})
		default:
			if err := f.intersect(number, postings, needed[n]); err != nil {
				return nil, fmt.Errorf("segment %d: %w", number, err)
			}
		}
	}
	slices.SortFunc(f.segments, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	for n, s := range f.hits {
		// A segment without one of the grams may have no row for its bucket.
		if s.matches = s.members.count(); s.grams < len(needed) || s.matches == 0 {
			delete(f.hits, n)
		}
	}
	return f, rows.Err()
}

// intersect intersects the candidates of a segment with the contacts that contain a gram.
func (f *indexHits) intersect(segment int64, postings []byte, g gram) error {
	s := f.hits[segment]
	if s == nil {
		s = &segmentHits{grams: 1}
		f.hits[segment] = s
		return s.members.decode(postings, g)
	}
	var with members
	if err := with.decode(postings, g); err != nil {
		return err
	}
	s.members.intersect(&with)
	s.grams++
	return nil
}

// resolve returns the ids of the indexed candidates. It reports false if a segment was
// deleted meanwhile.
func (f *indexHits) resolve(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]id.Contact, bool, error) {
	list := []id.Contact{}
	t := db.Table("segment BIGINT", "block BIGINT")
	for _, n := range slices.Sorted(maps.Keys(f.hits)) {
		for b := range segmentSize / blockSize {
			if f.hits[n].members.block(b) != 0 {
				t.Add(n, int64(b))
			}
		}
	}
	if t.Len() == 0 {
		return list, true, nil
	}
	rows, err := db.Query(ctx, `
		SELECT b.segment, b.block, b.contacts FROM `+t.As("v", 2)+`
		JOIN contact_search_block b ON b.tenant_id = $1 AND b.segment = v.segment AND b.block = v.block`, t.Args(tenant)...)
	read := 0
	var segment, block int64
	var contacts sql.RawBytes
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		if err := row(&segment, &block, &contacts); err != nil {
			return err
		}
		read++
		for set := f.hits[segment].members.block(int(block)); set != 0; set &= set - 1 {
			i := bits.TrailingZeros16(set) * len(id.Contact{})
			if i >= len(contacts) {
				return errPostings
			}
			list = append(list, id.Contact(contacts[i:i+len(id.Contact{})]))
		}
		return nil
	})
	return list, read == t.Len(), err
}
