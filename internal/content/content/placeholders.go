package content

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// mergeWord is a name as other programs call what a mail prints.
const mergeWord = `(?i:(?:(?:subscriber|contact|recipient|user|lead|customer|data|member|link|account|company|sender)[._: -])?` +
	`(?:f[_-]?name|l[_-]?name|first[_ -]?name|last[_ -]?name|full[_ -]?name|sur[_ -]?name|name|e-?mail(?:[_ -]?address)?|company(?:[_ -]?name)?|salutation|` +
	`subscription_unsubscribe_url|link_unsubscribe|link_browser|link_preferences|unsub(?:scribe)?(?:[_ -]?(?:url|link|text))?|web_?view(?:_(?:url|text))?|web_?version|` +
	`view[_ -]?in[_ -]?browser(?:[_ -]?(?:url|link))?|preferences(?:[_ -]?(?:url|link))?|manage[_ -]?preferences|resubscribe_url|signature|mailing_list_unsubscribe_url))`

// foreign matches placeholders of other programs, which stay as they are.
var foreign = regexp.MustCompile(strings.Join([]string{
	`\*\|[^|*\n]{1,80}\|\*`,       // Mailchimp, Mandrill
	`%%=?[A-Za-z_][^%\n]{0,80}%%`, // Salesforce, Pardot
	`\{\{\{[^{}\n]{1,80}\}\}\}`,   // Handlebars
	`\{(?:contactfield|leadfield|companyfield|ownerfield|pagelink|assetlink|formlink|dynamiccontent|focus|token)=[^{}\n]{1,80}\}`, // Mautic
	`\{\$?` + mergeWord + `(?:\|[^{}\n]{0,60})?\}`,                        // Mautic, MailerLite
	`\$\{[A-Za-z_][\w.]{0,60}\}`,                                          // templates of programs
	`\[\[?%?\s*` + mergeWord + `\s*(?:[,|:][^\[\]\n]{0,60})?%?\]?\]`,      // Mailtrain, phpList, MailPoet, Campaign Monitor, SendGrid
	`\[[A-Z][A-Z0-9]*_[A-Z0-9_]{1,60}\]`,                                  // Mailtrain, Brevo
	`%(?:recipient|subscriber|contact)\.[\w.]{1,60}%|%` + mergeWord + `%`, // Mailgun, ActiveCampaign
	`::(?:subscriber|` + mergeWord + `)[\w.]{0,60}::|::[a-z]+Url::`,       // Mailcoach
	`##?` + mergeWord + `##?`,                                             // others
	`<%[=-]?\s*[A-Za-z_][^%>\n]{0,80}%>`,                                  // ERB, EJS, ASP
}, "|"))

// maxPlaceholders is the maximum number of placeholders of other programs that are reported for a text.
const maxPlaceholders = 50

// placeholders returns the placeholders of other programs in what a reader of the text may see.
func (t Text) placeholders() []Trouble {
	var found []Trouble
	seen := map[string]bool{}
	look := func(masked string, offset int) {
		if !strings.ContainsAny(masked, "*%[{#$") && !strings.Contains(masked, "::") {
			return // most pieces: the pattern is slow
		}
		for _, at := range foreign.FindAllStringIndex(masked, maxPlaceholders) {
			from, to := offset+at[0], offset+at[1]
			if what := t.Source[from:to]; !seen[what] && len(found) < maxPlaceholders {
				seen[what] = true
				found = append(found, Trouble{
					Code: CodePlaceholder, Line: strings.Count(t.Source[:from], "\n") + 1,
					Message: fmt.Sprintf("%s is a placeholder of another program and stays as it is: write Liquid, such as {{ first_name }}", what),
				})
			}
		}
	}
	in := markup.New(t.Source, markup.Syntax{})
	if t.Form == Plain {
		look(in.Masked, 0)
		return found
	}
	for token := range in.All() {
		if token.Kind == markup.Comment || token.Name == "style" || token.Name == "script" || token.Name == "mj-style" {
			continue
		}
		look(in.Masked[token.Start:token.End], token.Start)
	}
	return found
}
