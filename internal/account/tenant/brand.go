package tenant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Brand is how mails of a tenant look: what new mails begin with, and Liquid prints as brand.
type Brand struct {
	Colors   BrandColors `json:"colors"`
	Fonts    BrandFonts  `json:"fonts"`
	Logo     id.Asset    `json:"logo,omitzero"` // zero: none
	LogoPath string      `json:"logo_path,omitempty"`
	Button   BrandButton `json:"button"`
	Width    int         `json:"width"`  // of the content, in pixels
	Footer   string      `json:"footer"` // Liquid
}

// BrandColors are colours such as #1f2a35.
type BrandColors struct {
	Primary    string  `json:"primary"`
	Secondary  *string `json:"secondary"` // nil: the primary colour
	Text       string  `json:"text"`
	Background string  `json:"background"` // around the content
	Surface    string  `json:"surface"`    // behind the content
}

// BrandFonts are lists of font families, as CSS has them.
type BrandFonts struct {
	Heading string `json:"heading"`
	Body    string `json:"body"`
}

// BrandButton is how buttons look.
type BrandButton struct {
	Color     *string `json:"color"` // behind the text; nil: the primary colour
	TextColor string  `json:"text_color"`
	Radius    int     `json:"radius"` // of the corners, in pixels
}

// The limits of a brand.
const (
	MinBrandWidth   = 320
	MaxBrandWidth   = 1000
	MaxButtonRadius = 50
	MaxBrandFooter  = 4000 // bytes
	maxFonts        = 10   // families in one list
)

// DefaultBrand returns the brand of a new tenant.
func DefaultBrand() Brand {
	return Brand{
		Colors: BrandColors{Primary: "#12507b", Text: "#1f2a35", Background: "#f5f3ee", Surface: "#ffffff"},
		Fonts:  BrandFonts{Heading: "Georgia, Times New Roman, serif", Body: "Helvetica Neue, Helvetica, Arial, sans-serif"},
		Button: BrandButton{TextColor: "#ffffff", Radius: 8},
		Width:  600,
	}
}

// Secondary returns the secondary colour.
func (b *Brand) Secondary() *string { return or(b.Colors.Secondary, &b.Colors.Primary) }

// ButtonColor returns the colour behind the text of buttons.
func (b *Brand) ButtonColor() *string { return or(b.Button.Color, &b.Colors.Primary) }

func or(v, other *string) *string {
	if v != nil {
		return v
	}
	return other
}

// FooterTemplate returns the parsed text of the footer, nil if there is none.
func (b *Brand) FooterTemplate() *liquid.Template {
	if b.Footer == "" {
		return nil
	}
	t, err := liquid.Parse(b.Footer, liquid.Options{Mode: liquid.Text})
	if err != nil {
		return nil // it was checked when it was saved
	}
	return t
}

// Normalize validates a brand and writes its colours in small letters and its fonts without quotes.
func (b *Brand) Normalize(p *fault.Problems) {
	for _, c := range []struct {
		path  string
		value *string
	}{
		{"colors.primary", &b.Colors.Primary}, {"colors.secondary", b.Colors.Secondary}, {"colors.text", &b.Colors.Text},
		{"colors.background", &b.Colors.Background}, {"colors.surface", &b.Colors.Surface},
		{"button.color", b.Button.Color}, {"button.text_color", &b.Button.TextColor},
	} {
		if c.value != nil && !normalizeColor(c.value) {
			p.Add(c.path, "must be a colour such as #12507b")
		}
	}
	normalizeFonts(p, "fonts.heading", &b.Fonts.Heading)
	normalizeFonts(p, "fonts.body", &b.Fonts.Body)
	if b.Button.Radius < 0 || b.Button.Radius > MaxButtonRadius {
		p.Add("button.radius", fmt.Sprintf("must be 0 to %d pixels", MaxButtonRadius))
	}
	if b.Width < MinBrandWidth || b.Width > MaxBrandWidth {
		p.Add("width", fmt.Sprintf("must be %d to %d pixels", MinBrandWidth, MaxBrandWidth))
	}
	checkFooter(p, "footer", b.Footer)
}

var hexColor = regexp.MustCompile(`^#(?:[0-9a-f]{3}|[0-9a-f]{6})$`)

// normalizeColor writes a colour as # and six digits. It reports whether it is one.
func normalizeColor(c *string) bool {
	text := strings.ToLower(strings.TrimSpace(*c))
	if !hexColor.MatchString(text) {
		return false
	}
	if len(text) == len("#rgb") {
		r, g, b := text[1:2], text[2:3], text[3:4]
		text = "#" + r + r + g + g + b + b
	}
	*c = text
	return true
}

// brandFonts are the families that mail programs have, or that are commonly in front of one that they have.
var brandFonts = []string{
	"-apple-system", "Arial", "Arial Black", "Avenir", "BlinkMacSystemFont", "Book Antiqua", "Bookman", "Calibri", "Cambria",
	"Candara", "Comic Sans MS", "Consolas", "Courier", "Courier New", "Franklin Gothic Medium", "Futura", "Garamond", "Geneva",
	"Georgia", "Gill Sans", "Helvetica", "Helvetica Neue", "Impact", "Inter", "Lato", "Lucida Console", "Lucida Grande",
	"Lucida Sans Unicode", "Menlo", "Merriweather", "Monaco", "Montserrat", "Open Sans", "Optima", "Palatino",
	"Palatino Linotype", "Playfair Display", "Poppins", "Roboto", "Rockwell", "Segoe UI", "Source Sans Pro", "system-ui",
	"Tahoma", "Times", "Times New Roman", "Trebuchet MS", "Ubuntu", "Verdana",
}

// genericFonts are the families that every program has; a list ends in one.
var genericFonts = []string{"serif", "sans-serif", "monospace"}

// normalizeFonts validates a list of font families and writes it with the names that they have, without quotes.
func normalizeFonts(p *fault.Problems, path string, list *string) {
	families := strings.Split(*list, ",")
	if len(families) > maxFonts {
		p.Add(path, fmt.Sprintf("must be a list of at most %d font families", maxFonts))
		return
	}
	for i, family := range families {
		family = strings.Join(strings.Fields(strings.Trim(strings.TrimSpace(family), `"'`)), " ")
		known := brandFonts
		if i == len(families)-1 {
			known = genericFonts
		}
		at := slices.IndexFunc(known, func(name string) bool { return strings.EqualFold(name, family) })
		switch {
		case at >= 0:
			families[i] = known[at]
		case i == len(families)-1:
			p.Add(path, "must end with serif, sans-serif or monospace, such as Georgia, serif")
			return
		default:
			p.Add(path, "has a font family that mail programs do not know: use one such as Arial, Georgia, Verdana or Courier New")
			return
		}
	}
	*list = strings.Join(families, ", ")
}

// checkFooter validates the text of a footer.
func checkFooter(p *fault.Problems, path, text string) {
	switch {
	case len(text) > MaxBrandFooter:
		p.Add(path, fmt.Sprintf("must have at most %d bytes", MaxBrandFooter))
		return
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\n\r\t", r) || r == 0x7f }):
		p.Add(path, "must be text without control characters")
		return
	}
	_, err := liquid.Parse(text, liquid.Options{})
	if bad, ok := errors.AsType[*liquid.ParseError](err); ok {
		p.Add(path, fmt.Sprintf("holds Liquid that cannot be read, in line %d: %s", bad.Line, bad.Message))
	} else if err != nil {
		p.Add(path, err.Error())
	}
}

// SaveBrand stores a brand that Normalize has accepted.
func SaveBrand(ctx context.Context, tx *sqldb.DB, t id.Tenant, b Brand, now time.Time) error {
	text, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("save a brand: %w", err)
	}
	n, err := tx.Exec(ctx, `
		UPDATE tenant SET brand = $2, updated_at = $3, revision = revision + 1, revised_at = $3, revised_by = $4
		WHERE tenant_id = $1 AND status <> 'deleted'`, t, string(text), now.UnixMicro(), revision.By(ctx))
	if err != nil {
		return fmt.Errorf("save a brand: %w", err)
	}
	if n == 0 {
		return ErrNotFound
	}
	return nil
}
