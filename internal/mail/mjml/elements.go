package mjml

import (
	"slices"
	"strings"
)

// content is what an element may contain.
type content int

const (
	unknown     content = iota
	elements            // other elements
	htmlContent         // HTML, which the compiler copies
)

// known are the elements of MJML 4.
var known = map[string]content{
	"mjml":    elements,
	"mj-head": elements,
	"mj-body": elements,

	"mj-all":             elements,
	"mj-attributes":      elements,
	"mj-breakpoint":      htmlContent,
	"mj-class":           elements,
	"mj-font":            elements,
	"mj-html-attribute":  elements,
	"mj-html-attributes": elements,
	"mj-preview":         htmlContent,
	"mj-selector":        elements,
	"mj-style":           htmlContent,
	"mj-title":           htmlContent,

	"mj-accordion":         elements,
	"mj-accordion-element": elements,
	"mj-accordion-text":    htmlContent,
	"mj-accordion-title":   htmlContent,
	"mj-button":            htmlContent,
	"mj-carousel":          elements,
	"mj-carousel-image":    htmlContent,
	"mj-column":            elements,
	"mj-divider":           elements,
	"mj-group":             elements,
	"mj-hero":              elements,
	"mj-image":             elements,
	"mj-navbar":            elements,
	"mj-navbar-link":       htmlContent,
	"mj-raw":               htmlContent,
	"mj-section":           elements,
	"mj-social":            elements,
	"mj-social-element":    htmlContent,
	"mj-spacer":            elements,
	"mj-table":             htmlContent,
	"mj-text":              htmlContent,
	"mj-wrapper":           elements,
}

// inBody and inColumn are the elements that mj-body and mj-column may contain.
var (
	inBody   = []string{"mj-hero", "mj-raw", "mj-section", "mj-wrapper"}
	inColumn = []string{
		"mj-accordion", "mj-button", "mj-carousel", "mj-divider", "mj-image", "mj-navbar",
		"mj-raw", "mj-social", "mj-spacer", "mj-table", "mj-text",
	}
)

// inHead are the elements that are allowed only in mj-head: elsewhere the compiler fails or drops
// them.
var inHead = []string{
	"mj-all", "mj-attributes", "mj-breakpoint", "mj-class", "mj-font", "mj-head", "mj-html-attribute",
	"mj-html-attributes", "mj-preview", "mj-selector", "mj-style", "mj-title",
}

// frames are the elements that show nothing but their content.
var frames = []string{"mj-body", "mj-column", "mj-group", "mj-section", "mj-wrapper"}

// textOf are elements whose child elements have a text of their own.
var textOf = []string{"mj-html-attribute"}

// void are the elements of HTML that have no end tag.
var void = strings.Fields("area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr")

// closes lists which elements of HTML are ended by the start of another, as in the compiler's parser.
var closes = closing()

func closing() map[string][]string {
	form := strings.Fields("input option optgroup select button datalist textarea")
	all := map[string][]string{
		"tr": {"tr", "th", "td"}, "th": {"th"}, "td": {"thead", "th", "td"},
		"body": {"head", "link", "script"}, "li": {"li"},
		"option": {"option"}, "optgroup": {"optgroup", "option"},
		"dd": {"dd", "dt"}, "dt": {"dd", "dt"}, "rt": {"rt", "rp"}, "rp": {"rt", "rp"},
		"tbody": {"thead", "tbody"}, "tfoot": {"thead", "tbody"},
	}
	for name := range strings.FieldsSeq("select input output button datalist textarea") {
		all[name] = form
	}
	for name := range strings.FieldsSeq("p h1 h2 h3 h4 h5 h6 address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol pre section table ul") {
		all[name] = []string{"p"}
	}
	return all
}

// opaque are the elements of HTML whose content is not markup.
var opaque = []string{"script", "style", "title", "textarea"}

func isVoid(name string) bool { return slices.Contains(void, name) }
