package contact

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// MaxSearch is the longest search text.
const MaxSearch = 200

// terms are the words of a search, each of which must occur.
func terms(search string) []string { return strings.Fields(fold(search)) }

// pattern is a term as LIKE reads it, with \ as the escape character.
func pattern(term string) string { return "%" + likeEscaper.Replace(term) + "%" }

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// fold makes text comparable whatever its case and accents.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || r == 0 {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
}

// searchText is what the search looks in; a word holds no space, so it matches
// within one of the parts.
func (c *Contact) searchText() string {
	parts := []string{c.Email}
	for _, p := range []*string{c.FirstName, c.LastName, c.FullName, c.Company} {
		if p != nil {
			parts = append(parts, *p)
		}
	}
	return fold(strings.Join(parts, "\n"))
}

// How many of those that are not in the index yet are looked for.
const (
	freshOfPage  = 500
	freshOfCount = 5000
)

// narrow adds, to the conditions of a search, that a contact is one of those
// that the index names, and reports whether it did: when they are many, going
// through all contacts is sooner at its end. Ordered says that only a page is
// wanted, in the order of an index. It changes nothing about who is meant: the
// index names everybody who can be.
func (s *statement) narrow(ctx context.Context, db *sqldb.DB, tenant id.Tenant, search string, ordered bool) (bool, error) {
	words := terms(search)
	if len(words) == 0 {
		return false, nil
	}
	list, ok, err := candidates(ctx, db, tenant, words, ordered)
	if err != nil {
		return false, fmt.Errorf("search the index of contacts: %w", err)
	}
	if ok {
		s.conditions.WriteString(` AND c.id` + db.In(len(s.args)+1))
		s.args = append(s.args, sqldb.List(db, list))
	}
	return ok, nil
}

// worthwhile reports whether it is better to look at n contacts, each on its
// own, than at some or all contacts in the order that they are in, which takes a
// tenth of the time for each: at all of them, or at as many as hold a page of
// those n, if they are spread evenly. Since they may not be, n has an advantage.
func worthwhile(n, contacts int, ordered bool) bool {
	if ordered {
		return n*n <= 16*contacts
	}
	return n*10 <= contacts
}

// candidates returns everybody in whose text the words may occur, unless they
// are too many or the index is changing.
func candidates(ctx context.Context, db *sqldb.DB, tenant id.Tenant, words []string, ordered bool) ([]id.Contact, bool, error) {
	most := freshOfCount
	if ordered {
		most = freshOfPage
	}
	needed := gramsOfTerms(words)
	found, fresh, err := look(ctx, db, tenant, words, needed, most)
	if err != nil || len(fresh) > most {
		return nil, false, err
	}
	n, segments := 0, len(found)
	for segment, f := range found {
		holders := f.members.count()
		// Of a segment that holds a gram nowhere there may be no row to say so.
		if f.grams < len(needed) || holders == 0 {
			delete(found, segment)
			continue
		}
		n += holders
	}
	if !worthwhile(n, segments*segmentSize, ordered) {
		return nil, false, nil
	}
	list, ok, err := named(ctx, db, tenant, found)
	if err != nil || !ok {
		return nil, false, err
	}
	list = append(list, fresh...)
	slices.Sort(list)
	return slices.Compact(list), true, nil
}

// finding says who of a segment holds as many grams as were found in it.
type finding struct {
	members members
	grams   int
}

// look asks the index who holds the needed grams, by segment, and who of those
// that are not in it yet holds the words themselves, of whom it returns at most
// one more than the bound. It is one statement, so that whoever is on the
// way into the index, or out of it, is seen in the one place or in the other.
func look(ctx context.Context, db *sqldb.DB, tenant id.Tenant, words []string, needed []gram, most int) (map[int64]*finding, []id.Contact, error) {
	args := []any{tenant, most + 1}
	var likes strings.Builder
	for _, w := range words {
		args = append(args, pattern(w))
		fmt.Fprintf(&likes, ` AND f.search_text LIKE $%d ESCAPE '\' `, len(args))
	}
	t := db.Table("gram BIGINT", "bucket BIGINT")
	for i, g := range needed {
		t.Add(i, g.bucket())
	}
	rows, err := db.Query(ctx, `
		SELECT contact_id, segment, gram, postings FROM (
			SELECT f.contact_id, -1 AS segment, -1 AS gram, CAST(NULL AS BYTEA) AS postings FROM contact_search_fresh f
			WHERE f.tenant_id = $1`+likes.String()+` LIMIT $2) AS waiting
		UNION ALL
		SELECT '', p.segment, v.gram, p.postings
		FROM `+t.As("v", len(args)+1)+`
		JOIN contact_search_postings p ON p.tenant_id = $1 AND p.bucket = v.bucket`, t.Args(args...)...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	found, fresh := map[int64]*finding{}, []id.Contact{}
	for rows.Next() {
		var c id.Contact
		var segment, gram int64
		var postings []byte
		if err := rows.Scan(sqldb.ToText(&c), &segment, &gram, &postings); err != nil {
			return nil, nil, err
		}
		if segment < 0 {
			fresh = append(fresh, c)
			continue
		}
		with, err := decode(postings, needed[gram])
		if err != nil {
			return nil, nil, fmt.Errorf("segment %d: %w", segment, err)
		}
		f := found[segment]
		if f == nil {
			found[segment] = &finding{with, 1}
			continue
		}
		f.members.keep(&with)
		f.grams++
	}
	return found, fresh, rows.Err()
}

// named returns the ids of those that were found. It reports false when some of
// them have left the index in the meantime.
func named(ctx context.Context, db *sqldb.DB, tenant id.Tenant, found map[int64]*finding) ([]id.Contact, bool, error) {
	list := []id.Contact{}
	t := db.Table("segment BIGINT", "block BIGINT")
	for segment, f := range found {
		for b := range segmentSize / blockSize {
			if f.members.block(b) != 0 {
				t.Add(segment, b)
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
		var contacts string
		if err := row(&segment, &block, &contacts); err != nil {
			return struct{}{}, err
		}
		mask := found[segment].members.block(int(block))
		for i, c := range strings.Split(contacts, " ") {
			if mask&(1<<i) != 0 {
				list = append(list, id.Contact(c))
			}
		}
		return struct{}{}, nil
	})
	return list, len(read) == t.Len(), err
}
