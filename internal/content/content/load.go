package content

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrGone means that the content does not exist.
var ErrGone = errors.New("no such content")

// Load returns a frozen content, or ErrGone.
func Load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, content id.Content) (Content, error) {
	c := Content{ID: content}
	var names string
	err := db.QueryRow(ctx, `
		SELECT send_id, subject, preheader, from_name, reply_to, html, text, tracking, context
		FROM content WHERE tenant_id = $1 AND id = $2`, tenant, content).
		Scan(&c.Send, &c.Subject, &c.Preheader, &c.FromName, &c.ReplyTo, &c.HTML, &c.Text, &c.Tracking, &names)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Content{}, ErrGone
	}
	if err != nil {
		return Content{}, fmt.Errorf("load content: %w", err)
	}
	var kept stored
	if err := json.Unmarshal([]byte(names), &kept); err != nil {
		return Content{}, fmt.Errorf("load content: %w", err)
	}
	c.Context, c.Finish = kept.Context, kept.Finish
	rows, err := db.Query(ctx, `
		SELECT idx, url, label, dynamic FROM content_link WHERE tenant_id = $1 AND content_id = $2 ORDER BY idx`, tenant, content)
	c.Links, err = sqldb.Collect(rows, err, func(scan func(...any) error) (l links.Link, err error) {
		err = scan(&l.Index, &l.URL, &l.Label, &l.Dynamic)
		return l, err
	})
	if err != nil {
		return Content{}, fmt.Errorf("load the links of a content: %w", err)
	}
	return c, nil
}

// LinksOf returns the distinct links of all contents of a send, in their order and numbered from 0.
func LinksOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) ([]links.Link, error) {
	rows, err := db.Query(ctx, `
		SELECT MIN(l.idx), l.url, MIN(l.label) FROM content AS c
		JOIN content_link AS l ON l.tenant_id = c.tenant_id AND l.content_id = c.id
		WHERE c.tenant_id = $1 AND c.send_id = $2 GROUP BY l.url ORDER BY MIN(l.idx), l.url`, tenant, send)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (l links.Link, err error) {
		err = scan(&l.Index, &l.URL, &l.Label)
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("list links: %w", err)
	}
	for i := range list { // several contents may use the same number for different links
		list[i].Index = i
	}
	return list, nil
}

// LinkCounts returns the number of distinct links of each content.
func LinkCounts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contents []id.Content) (map[id.Content]int, error) {
	rows, err := db.Query(ctx, `
		SELECT content_id, COUNT(*) FROM content_link WHERE tenant_id = $1 AND content_id`+db.In(2)+` GROUP BY content_id`,
		tenant, sqldb.List(db, contents))
	counts := map[id.Content]int{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (c id.Content, err error) {
		var n int
		err = scan(&c, &n)
		counts[c] = n
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("count links: %w", err)
	}
	return counts, nil
}

// Compiled is a content with parsed Liquid. It is immutable and safe for concurrent use.
type Compiled struct {
	Content
	SubjectTemplate, PreheaderTemplate, FromNameTemplate, HTMLTemplate, TextTemplate *liquid.Template
	Targets                                                                          []*liquid.Template // of dynamic links that do not depend on the body, nil for others
	Params                                                                           map[string]any     // values of param
	Guard                                                                            *links.Guard       // for the rendered HTML; nil: not needed
	HTMLConstants, TextConstants                                                     *compose.Constants // parts that are the same for all recipients, encoded
	HTMLFooter, TextFooter                                                           *liquid.Template   // for parts without a link to unsubscribe; see Finish
}

// Compile parses a content's Liquid and encodes its constant parts.
func Compile(c Content) (*Compiled, error) {
	k := &Compiled{Content: c, Targets: make([]*liquid.Template, len(c.Links))}
	parse := func(dst **liquid.Template, text string, mode liquid.Mode) error {
		t, err := liquid.Parse(text, liquid.Options{Mode: mode})
		*dst = t
		return err
	}
	textMode := liquid.Text
	if c.Finish.Text == KnownText {
		textMode = liquid.Words
	}
	footHTML, footText := c.footers()
	err := errors.Join(
		parse(&k.SubjectTemplate, c.Subject, liquid.Text),
		parse(&k.PreheaderTemplate, c.Preheader, liquid.Text),
		parse(&k.FromNameTemplate, c.FromName, liquid.Text),
		parse(&k.HTMLTemplate, c.HTML, liquid.HTML),
		parse(&k.TextTemplate, c.Text, textMode),
		parse(&k.HTMLFooter, footHTML, liquid.HTML),
		parse(&k.TextFooter, footText, liquid.Text),
	)
	set := assigned(c.HTML)
	k.Guard = links.NewGuard(c.HTML, func(variable string) bool { return !set[variable] && c.safeVariable(variable) })
	for i, l := range c.Links {
		if l.Dynamic && !dependent(l.URL, set) { // otherwise it is rendered within the body
			err = errors.Join(err, parse(&k.Targets[i], l.URL, liquid.Text))
		}
	}
	if params := c.Context.Params; len(params) > 0 {
		d := json.NewDecoder(bytes.NewReader(params))
		d.UseNumber() // integers print without a decimal point
		err = errors.Join(err, d.Decode(&k.Params))
	}
	if err != nil {
		return nil, fmt.Errorf("compile content %s: %w", c.ID, err)
	}
	k.HTMLConstants, k.TextConstants = compose.Precompose(k.HTMLTemplate.Texts()), compose.Precompose(k.TextTemplate.Texts())
	return k, nil
}

// Cache caches the contents compiled last.
type Cache struct {
	DB *sqldb.DB

	mu   sync.Mutex
	list []cached // least recently used first
}

type cached struct {
	tenant id.Tenant
	value  *Compiled
}

// cacheSize is the maximum number of cached contents; one is rarely over 200 KB.
const cacheSize = 32

// Get returns a compiled content, or ErrGone.
func (c *Cache) Get(ctx context.Context, tenant id.Tenant, content id.Content) (*Compiled, error) {
	if k := c.find(tenant, content); k != nil {
		return k, nil
	}
	loaded, err := Load(ctx, c.DB, tenant, content)
	if err != nil {
		return nil, err
	}
	k, err := Compile(loaded)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.list, func(e cached) bool { return e.tenant == tenant && e.value.ID == content }) {
		return k, nil // another goroutine compiled it concurrently
	}
	if len(c.list) >= cacheSize {
		c.list = append(c.list[:0], c.list[1:]...)
	}
	c.list = append(c.list, cached{tenant, k})
	return k, nil
}

func (c *Cache) find(tenant id.Tenant, content id.Content) *Compiled {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.list, func(e cached) bool { return e.tenant == tenant && e.value.ID == content })
	if i < 0 {
		return nil
	}
	e := c.list[i]
	c.list = append(slices.Delete(c.list, i, i+1), e)
	return e.value
}
