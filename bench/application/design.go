package application

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/packetboat/packetboat/e2e/chromium"
)

// designed is a mail of usual length: an image, a text and a button in each of its sections.
func designed(sections int) string {
	var b strings.Builder
	b.WriteString("<mjml>\n\t<mj-body>\n")
	for i := range sections {
		fmt.Fprintf(&b, "\t\t<mj-section padding=\"8px\">\n\t\t\t<mj-column>\n"+
			"\t\t\t\t<mj-text font-size=\"16px\">Part %d: hello {{ contact.first_name | default: \"there\" }}, this is <b>what is new</b> in the shop.</mj-text>\n"+
			"\t\t\t\t<mj-button href=\"https://example.org/%d\">Have a look</mj-button>\n\t\t\t</mj-column>\n\t\t</mj-section>\n", i, i)
	}
	return b.String() + "\t</mj-body>\n</mjml>\n"
}

const (
	selectedRow = `document.querySelector('[role=treeitem][aria-selected=true]')`
	textInPlace = `document.activeElement.closest('[data-in-place]')`
)

// designer opens a new template in its design, with the first text selected in the outline.
func (b *bench) designer(ctx context.Context, mjml string) (*chromium.Page, error) {
	made, err := b.site.Account.Key.Must(ctx, http.MethodPost, "/templates", map[string]any{
		"name": fmt.Sprint("Design ", time.Now().UnixNano()), "format": "mjml", "content_html": "", "content_mjml": mjml, "subject": "News",
	})
	if err != nil {
		return nil, err
	}
	p, err := b.open(ctx, true)
	if err != nil {
		return nil, err
	}
	if err := b.show(ctx, p, fmt.Sprintf("%s/templates/%v?pane=design", b.root(), made["id"])); err != nil {
		return nil, err
	}
	const text = `[...document.querySelectorAll('[role=treeitem]')].find(row => row.textContent.startsWith('Text'))`
	if err := p.Until(ctx, text); err != nil {
		return nil, err
	}
	if err := p.Eval(ctx, text+`.click()`, nil); err != nil {
		return nil, err
	}
	if err := p.Until(ctx, `document.querySelector('[data-selection]')?.getBoundingClientRect().height > 0`); err != nil {
		return nil, err
	}
	return p, p.Eval(ctx, selectedRow+`.focus()`, nil)
}

// pictured notes how long after the next key the frame of the mail has told where the elements of a new picture are,
// and the page has drawn that: milliseconds.
const pictured = `(() => {
	let pressed = 0;
	window.pictured = 0;
	addEventListener('keydown', e => { pressed = e.timeStamp; }, { capture: true, once: true });
	addEventListener('message', function shown(e) {
		if (!pressed || !e.data?.rects) return;
		removeEventListener('message', shown);
		painted(pressed).then(after => { window.pictured = after; });
	});
})()`

// design copies an element again and again and moves the copies down, so that the server has never seen the mail, and
// measures how soon it is shown.
func (b *bench) design(ctx context.Context) error {
	for _, sections := range []int{10, 40} {
		p, err := b.designer(ctx, designed(sections))
		if err != nil {
			return err
		}
		var took []float64
		for i := range b.Acts {
			if err := p.Eval(ctx, pictured, nil); err != nil {
				return err
			}
			if err := p.Press(ctx, []string{"Control+d", "Alt+ArrowDown"}[i%2]); err != nil {
				return err
			}
			if err := p.Until(ctx, `window.pictured`); err != nil {
				return err
			}
			var after float64
			if err := p.Eval(ctx, `window.pictured`, &after); err != nil {
				return err
			}
			took = append(took, after)
			if err := pause(ctx, 500*time.Millisecond); err != nil {
				return err
			}
		}
		b.row(fmt.Sprintf("act to its picture, mail of %d KB", len(designed(sections))/1000), took, 300)
	}
	return nil
}

// word makes a document as Word copies it, of a size in characters.
const word = `(size => {
	let body = '';
	for (let i = 0; body.length < size; i++)
		body += "\n\n<p class=MsoNormal style='margin-bottom:0cm;line-height:normal'><span lang=EN-US\nstyle='font-size:12.0pt;font-family:\"Times New Roman\",serif;mso-ansi-language:EN-US'>Paragraph <b\nstyle='mso-bidi-font-weight:normal'>" + i +
			"</b> of a long plan, with <i>all</i> that belongs to it, <a href=\"https://example.org/?a=1&amp;b=2\"><span style='color:blue'>links</span></a> too.<o:p></o:p></span></p>" +
			"\n\n<p class=MsoListParagraphCxSpMiddle style='text-indent:-18.0pt;mso-list:l0 level1 lfo1'><![if !supportLists]><span\nstyle='font-family:Symbol;mso-fareast-font-family:Symbol'><span style='mso-list:Ignore'>·<span\nstyle='font:7.0pt \"Times New Roman\"'>&nbsp;&nbsp;&nbsp;&nbsp; </span></span></span><![endif]><span lang=EN-US>Item " + i + "<o:p></o:p></span></p>";
	return "<html xmlns:o='urn:schemas-microsoft-com:office:office'><head><meta name=Generator content='Microsoft Word 15'><style><!-- p.MsoNormal {margin:0cm;} --></style></head><body lang=DE><!--StartFragment-->" + body + "<!--EndFragment--></body></html>";
})(%d)`

// paste pastes what Word copies into a text over the picture.
func (b *bench) paste(ctx context.Context) error {
	var took, busy []float64
	for range b.Pastes {
		p, err := b.designer(ctx, designed(1))
		if err != nil {
			return err
		}
		if err := p.Press(ctx, "Enter"); err != nil {
			return err
		}
		if err := p.Until(ctx, textInPlace); err != nil {
			return err
		}
		if err := p.Eval(ctx, fmt.Sprintf(`void (window.word = new DataTransfer()).setData('text/html', `+word+`)`, 2_000_000), nil); err != nil {
			return err
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
		began, err := p.Busy(ctx)
		if err != nil {
			return err
		}
		var after float64
		if err := p.Eval(ctx, `(() => {
			const at = performance.now();
			document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: word, bubbles: true, cancelable: true }));
			return painted(at);
		})()`, &after); err != nil {
			return err
		}
		ended, err := p.Busy(ctx)
		if err != nil {
			return err
		}
		if err := p.Until(ctx, textInPlace+`.querySelectorAll('li').length > 1000`); err != nil {
			return err
		}
		took, busy = append(took, after), append(busy, (ended-began).Seconds()*1000)
	}
	b.row("paste of 2 MB from Word: to its text", took, 1000)
	b.row("  of it tasks of the page's thread", busy, 0)
	return nil
}
