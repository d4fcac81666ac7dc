package app

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// imageFiles makes files in a page: window.file(name, width, height) is a PNG, window.turned a photo, window.other(name, type, text, size) any file,
// and window.given(...files) what is dropped or pasted.
const imageFiles = `(() => {
	window.file = (name, width, height) => {
		const canvas = Object.assign(document.createElement('canvas'), { width, height });
		const context = canvas.getContext('2d');
		for (let x = 0; x < width; x += 8) {
			context.fillStyle = 'hsl(' + x + ' 50% 50%)';
			context.fillRect(x, 0, 8, height);
		}
		const bytes = atob(canvas.toDataURL('image/png').split(',')[1]);
		return new File([Uint8Array.from(bytes, c => c.charCodeAt(0))], name, { type: 'image/png' });
	};
	// turned is a JPEG that says that its camera was held sideways.
	window.turned = (name, width, height) => {
		const bytes = atob(Object.assign(document.createElement('canvas'), { width, height }).toDataURL('image/jpeg').split(',')[1]);
		const exif = 'Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0';
		const marked = bytes.slice(0, 2) + '\xff\xe1\0' + String.fromCharCode(exif.length + 2) + exif + bytes.slice(2);
		return new File([Uint8Array.from(marked, c => c.charCodeAt(0))], name, { type: 'image/jpeg' });
	};
	window.other = (name, type, text, size = 0) => new File([text, new Uint8Array(size)], name, { type });
	window.given = (...files) => {
		const data = new DataTransfer();
		for (const file of files) data.items.add(file);
		return data;
	};
	window.paste = (...files) => document.activeElement.dispatchEvent(
		new ClipboardEvent('paste', { clipboardData: given(...files), bubbles: true, cancelable: true }));
	window.dragTo = (type, x, y, ...files) => document.elementFromPoint(x, y).dispatchEvent(
		new DragEvent(type, { dataTransfer: given(...files), bubbles: true, cancelable: true, clientX: x, clientY: y }));
})()`

// An image is chosen in the settings, pasted, and dropped on the picture of the mail, and each is one step of the history;
// what cannot be used is refused with a sentence. A block of the account and a slot of the template are added.
func TestImagesBlocksAndSlotsAreAddedToADesign(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		page.call(http.MethodPost, "/blocks", map[string]any{
			"name": "Opening hours", "content_mjml": "<mj-section><mj-column><mj-text>Open until {{param:hour}}</mj-text></mj-column></mj-section>",
			"parameters_schema": []any{map[string]any{"name": "hour", "type": "text", "default": "six"}},
		})
		made, err := page.account.Owner.Must(page.Ctx, http.MethodPost, "/templates", map[string]any{
			"name": "Harbour", "format": "mjml", "content_html": "", "subject": "News",
			"content_mjml": "<mjml>\n  <mj-body>\n    <mj-section>\n      <mj-column>\n        <mj-image src=\"\" />\n        <mj-text>Hello</mj-text>\n      </mj-column>\n    </mj-section>\n  </mj-body>\n</mjml>\n",
			"slots_schema": []any{map[string]any{"name": "promo", "label": "Promotion", "tag_filter": []any{}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		page.open("/templates/" + made["id"].(string) + "?mjml=design")
		page.Evaluate(imageFiles)
		rows := func(want ...string) {
			t.Helper()
			page.WaitFor(fmt.Sprintf(`[...document.querySelectorAll('[role=treeitem]')].slice(3).map(r => r.textContent.trim()).join() === %q`, strings.Join(want, ",")))
		}
		selectRow := func(row int) {
			t.Helper()
			page.Evaluate(fmt.Sprintf(`(row => { row.click(); row.focus(); })(document.querySelector('[data-row="%d"]'))`, row))
			page.WaitFor(fmt.Sprintf(`%s.dataset.row === '%d'`, selectedRow, row))
		}
		rows("Image", "Text Hello")

		selectRow(3)
		page.Click("Choose image")
		page.WaitFor(`document.querySelector('[role=dialog] input[type=file]')`)
		page.Evaluate(`(() => {
			const input = document.querySelector('[role=dialog] input[type=file]');
			input.files = given(file('harbour-view.png', 300, 100)).files;
			input.dispatchEvent(new Event('change', { bubbles: true }));
		})()`)
		page.expectNoDialog()
		rows("Image harbour view", "Text Hello")
		page.fillField("alt", "Ships")
		rows("Image Ships", "Text Hello")
		page.WaitFor(`document.querySelector('[data-path=width]').value === '300px'`)
		page.expectAccessible("the settings of an image")

		selectRow(4)
		page.Evaluate(`paste(file('photo.png', 3000, 300))`)
		page.Dialog().ExpectText("Alternative text")
		page.Dialog().Click("Insert")
		page.Dialog().ExpectText("Describe what the image shows, or mark it as decorative.")
		page.expectAccessible("a question for the alternative text")
		page.fillField("alt.0", "A photo")
		page.Press("Enter")
		page.expectNoDialog()
		rows("Image Ships", "Text Hello", "Image A photo")
		page.WaitFor(`document.querySelector('[data-selection]')?.getBoundingClientRect().height > 0`) // the picture has it

		refused := map[string]string{
			`other('logo.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>')`:            "logo.svg: Many mail programs do not show SVG images. Save it as PNG, and use that file.",
			`other('notes.txt', 'text/plain', 'Hello')`:                                                  "notes.txt: This is not an image. Use a PNG, JPEG, GIF or WebP file.",
			`other('film.gif', 'image/gif', 'GIF89a', 6000000)`:                                          "film.gif: The file has 6.0 MB, and 5 MB is the limit. Save the image smaller, or as JPEG.",
			`other('torn.png', 'image/png', Uint8Array.from('\x89PNG\r\n\x1a\n', c => c.charCodeAt(0)))`: "torn.png: The image is damaged or incomplete. Save it again as PNG or JPEG, and use that file.",
		}
		page.RecordMessages()
		for made, sentence := range refused {
			page.Evaluate(`paste(` + made + `)`)
			page.ExpectMessage(sentence)
		}
		rows("Image Ships", "Text Hello", "Image A photo")

		const selection = `document.querySelector('[data-selection]')`
		box := page.box(selection)
		drag := func(kind string, x, y float64, files string) {
			t.Helper()
			page.Evaluate(fmt.Sprintf(`dragTo(%q, %f, %f, %s)`, kind, x, y, files))
		}
		selectRow(4)
		page.WaitFor(fmt.Sprintf(`%s.getBoundingClientRect().y < %f`, selection, box[1]))
		box = page.box(selection)
		files := `file('one.png', 700, 100), other('logo.svg', 'image/svg+xml', '<svg/>'), file('two.png', 100, 100)`
		drag("dragover", box[0]+50, box[1]+4, files)
		page.WaitFor(`document.querySelector('[data-chosen]')`)
		drag("drop", box[0]+50, box[1]+4, files)
		page.Dialog().ExpectText("logo.svg: Many mail programs")
		page.Check("one.png is decorative")
		page.fillField("alt.1", "Second")
		page.Dialog().Click("Insert")
		page.expectNoDialog()
		rows("Image Ships", "Image", "Image Second", "Text Hello", "Image A photo")
		page.Press("Control+z")
		rows("Image Ships", "Text Hello", "Image A photo")

		page.dropFromDesktop(box)
		page.Press("Control+z")
		rows("Image Ships", "Text Hello", "Image A photo")

		selectRow(3)
		box = page.box(selection)
		drag("drop", box[0]+box[2]/2, box[1]+box[3]/2, `turned('three.jpg', 100, 200)`)
		page.Dialog().ExpectText("Alternative text")
		page.fillField("alt.0", "Boats")
		page.Press("Enter")
		page.expectNoDialog()
		rows("Image Boats", "Text Hello", "Image A photo")
		page.WaitFor(`document.querySelector('[data-path=width]').value === '200px'`)

		page.Press("/")
		page.Type("opening")
		page.Press("Enter")
		rows("Image Boats", "Text Hello", "Image A photo", "Section", "Column", "Text Open until six")
		page.WaitFor(`document.querySelector('[data-selection]')?.getBoundingClientRect().height > 0`)
		page.Press("/")
		page.Type("promotion")
		page.Press("Enter")
		rows("Image Boats", "Text Hello", "Image A photo", "Section", "Column", "Text Open until six", "Slot for a block promo")
		page.WaitFor(`![...document.querySelectorAll('section[aria-label=Add] button')].some(b => b.textContent === 'Promotion')`)
		page.expectAccessible("a design with images")
		page.Press("Control+z")
		rows("Image Boats", "Text Hello", "Image A photo", "Section", "Column", "Text Open until six")
		page.WaitFor(`[...document.querySelectorAll('section[aria-label=Add] button')].some(b => b.textContent === 'Promotion')`)
		page.Press("Control+z")
		rows("Image Boats", "Text Hello", "Image A photo")

		stored, _ := page.get("/assets")["data"].([]any)
		widths := []string{}
		for _, one := range stored {
			widths = append(widths, fmt.Sprint(one.(map[string]any)["name"], " ", one.(map[string]any)["width"]))
		}
		if got, want := strings.Join(widths, ", "), "three.jpg 200, desk.gif 257, two.png 100, one.png 700, photo.png 1200, harbour-view.png 300"; got != want {
			t.Errorf("the images are %s; want %s", got, want)
		}
		page.expectImagesForEditorsAlone("/templates/"+made["id"].(string)+"?mjml=design", selectRow)
		page.expectNoProblems()
	})
}

// expectImagesForEditorsAlone opens a design as a viewer, who is offered nothing to add, and whose files go nowhere.
func (page appPage) expectImagesForEditorsAlone(route string, selectRow func(int)) {
	page.T.Helper()
	if _, err := page.program.Run(page.Ctx, "user", "create", "--tenant", harness.Tenant, "--role", "viewer", "--name", "Vi", "--email", "vi@example.org"); err != nil {
		page.T.Fatal(err)
	}
	out, err := page.program.Run(page.Ctx, "user", "login-link", "--email", "vi@example.org")
	if err != nil {
		page.T.Fatal(err)
	}
	page.Goto(page.program.BaseURL + strings.TrimSpace(out[strings.Index(out, "/app/-/login-link#"):]))
	page.Click("Sign in as vi@example.org")
	page.expectURL("^/app/" + harness.Tenant + "$")
	page.open(route)
	page.Evaluate(imageFiles)
	page.WaitFor(`document.querySelector('[data-row="3"]')`)
	selectRow(3)
	page.WaitFor(`document.querySelector('[data-selection]')`)
	page.Evaluate(`paste(file('photo.png', 30, 30))`)
	page.Must(page.DragFiles(page.Ctx, true, [][2]float64{{725, 600}, {726, 600}}, page.fileOnDesk()))
	if offered := page.EvaluateString(`[...document.querySelectorAll('main button')].map(b => b.textContent.trim()).filter(t => /image|Use an/.test(t)).join() + (document.querySelector('section[aria-label=Add], [data-chosen], [role=dialog]') ? ' and more' : '')`); offered != "" {
		page.T.Errorf("a viewer is offered %s", offered)
	}
}

// dropFromDesktop drags a file from the desktop, which the frame of the mail is the first to see, and lets it go.
func (page appPage) dropFromDesktop(box []float64) {
	page.T.Helper()
	file := page.fileOnDesk()
	x, y := box[0]+50, box[1]+4
	e2etest.Eventually(page.T, func() (any, bool) {
		page.Must(page.DragFiles(page.Ctx, false, [][2]float64{{x, y}, {x + 1, y}}, file))
		return nil, page.EvaluateString(`document.querySelector('[data-dragging] [data-chosen]') !== null`) == "true"
	})
	page.Must(page.DragFiles(page.Ctx, true, [][2]float64{{x, y}, {x + 1, y}}, file))
	page.Dialog().ExpectText("Alternative text")
	page.Check("Decorative image")
	page.Dialog().Click("Insert")
	page.expectNoDialog()
	page.WaitFor(selectedRow + `.textContent.trim() === 'Image'`)
}

// fileOnDesk makes an image of 257 pixels on the machine, and returns its path.
func (page appPage) fileOnDesk() string {
	page.T.Helper()
	file := filepath.Join(page.T.TempDir(), "desk.gif")
	page.Must(os.WriteFile(file, []byte("GIF89a\x01\x01\x01\x01\x01\x01\x01;"), 0o600))
	return file
}
