package application

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/e2e/chromium"
)

// load is when a page was painted first and when it was complete: milliseconds since its navigation.
type load struct{ Painted, Settled float64 }

// load loads a page in a tab.
func (b *bench) load(ctx context.Context, p *chromium.Page, address string) (l load, err error) {
	if err := b.show(ctx, p, address); err != nil {
		return l, err
	}
	return l, p.Eval(ctx, `({ Painted: performance.getEntriesByName('first-contentful-paint')[0].startTime, Settled: window.settled })`, &l)
}

// loads loads Home in new profiles, each twice: the second time with what the browser has kept.
func (b *bench) loads(ctx context.Context) error {
	kinds := []struct {
		name              string
		painted, settled  float64 // goals
		paints, completes []float64
	}{{name: "bare page, cold"}, {name: "Home, cold", painted: 1000, settled: 1500}, {name: "Home, warm", painted: 300, settled: 300}}
	add := func(kind int, p *chromium.Page, address string) error {
		l, err := b.load(ctx, p, address)
		kinds[kind].paints, kinds[kind].completes = append(kinds[kind].paints, l.Painted), append(kinds[kind].completes, l.Settled)
		return err
	}
	for range b.Loads {
		p, err := b.open(ctx, false)
		if err != nil {
			return err
		}
		if err := add(0, p, b.bare); err != nil {
			return err
		}
		if p, err = b.open(ctx, true); err != nil {
			return err
		}
		for kind := 1; kind <= 2; kind++ {
			if err := add(kind, p, b.root()); err != nil {
				return err
			}
		}
	}
	for _, k := range kinds {
		b.row(k.name+": first paint", k.paints, k.painted)
		b.row(k.name+": complete", k.completes, k.settled)
	}
	return nil
}

// pressed is evaluated before a press of an element. It promises how long after the button of the mouse is down a frame
// shows the element's other look (a large number if it has none), and how long after the button is up what is expected stands.
const pressed = `((element, expected) => {
	const look = () => { const s = getComputedStyle(element); return [s.backgroundColor, s.color, s.boxShadow, s.transform].join(); };
	const took = {};
	window.press = new Promise(done => {
		addEventListener('pointermove', () => setTimeout(() => { window.idle = look(); }, 60), { once: true, capture: true });
		addEventListener('pointerdown', e => painted(e.timeStamp).then(after => { took.Look = look() === window.idle ? 9999 : after; }), { once: true, capture: true });
		addEventListener('click', e => {
			const wait = () => expected() ? painted(e.timeStamp).then(after => { took.Shown = after; done(took); }) : requestAnimationFrame(wait);
			wait();
		}, { once: true, capture: true });
	});
	const box = element.getBoundingClientRect();
	return { X: box.x + box.width / 2, Y: box.y + box.height / 2 };
})(%s, %s)`

// press is how long a press took until it could be seen, and until what it leads to: milliseconds.
type press struct{ Look, Shown float64 }

// press presses an element as a person does: the pointer comes over it, and the button is down for a while.
func (b *bench) press(ctx context.Context, p *chromium.Page, element, expected string) (took press, err error) {
	var at struct{ X, Y float64 }
	if err := p.Eval(ctx, fmt.Sprintf(pressed, element, expected), &at); err != nil {
		return took, err
	}
	if err := p.Point(ctx, at.X, at.Y); err != nil {
		return took, err
	}
	if err := pause(ctx, 120*time.Millisecond); err != nil {
		return took, err
	}
	if err := p.Hold(ctx); err != nil {
		return took, err
	}
	if err := pause(ctx, 80*time.Millisecond); err != nil {
		return took, err
	}
	if err := p.LetGo(ctx); err != nil {
		return took, err
	}
	return took, p.Eval(ctx, `window.press`, &took)
}

// another is true when another heading stands than now.
const another = `(was => () => { const h = document.querySelector('h1'); return h && h.textContent.trim() && h.textContent !== was; })(document.querySelector('h1').textContent)`

// presses presses links of the navigation, with their pages in the browser's cache, and buttons that show a menu or a
// dialog. The bare page's links replace its heading.
func (b *bench) presses(ctx context.Context) error {
	p, err := b.open(ctx, true)
	if err != nil {
		return err
	}
	if err := b.show(ctx, p, b.root()); err != nil {
		return err
	}
	var looks, routes, opens, bare []float64
	for round := range 6 {
		for _, page := range []string{"contacts", "segments", "forms", "templates", "library", "broadcasts", "sequences", "reports", "sending"} {
			took, err := b.press(ctx, p, fmt.Sprintf(`document.querySelector('nav a[href$="/%s"]')`, page), another)
			if err != nil {
				return fmt.Errorf("%s: %w", page, err)
			}
			if _, err := p.Requests(ctx); err != nil {
				return err
			}
			if round > 0 { // the first time the pages come into the cache
				looks, routes = append(looks, took.Look), append(routes, took.Shown)
			}
		}
	}
	for range 10 {
		took, err := b.press(ctx, p, `document.querySelector('header button[aria-haspopup]:last-of-type')`, `() => document.querySelector('[role=menu], [role=dialog]')`)
		if err != nil {
			return fmt.Errorf("menu: %w", err)
		}
		opens, looks = append(opens, took.Shown), append(looks, took.Look)
		if err := p.Press(ctx, "Escape"); err != nil {
			return err
		}
		if err := p.Until(ctx, `!document.querySelector('[role=menu], [role=dialog]')`); err != nil {
			return err
		}
	}
	var shifts []string
	if err := p.Eval(ctx, `shifts`, &shifts); err != nil {
		return err
	}
	if p, err = b.open(ctx, false); err != nil {
		return err
	}
	if err := p.Visit(ctx, b.bare); err != nil {
		return err
	}
	for i := range 20 {
		took, err := b.press(ctx, p, fmt.Sprintf(`document.querySelectorAll('nav a')[%d]`, i%2), another)
		if err != nil {
			return fmt.Errorf("bare page: %w", err)
		}
		bare = append(bare, took.Shown)
	}
	b.row("bare page: press to the next heading", bare, 0)
	b.row("press to another look", looks, 50)
	b.row("press to the next page's heading", routes, 100)
	b.row("press to the menu", opens, 200)
	fmt.Printf("%-10slayout shifts in these presses: %d (goal 0)\n", b.site.Dialect, len(shifts))
	for _, s := range shifts {
		fmt.Printf("%-10s  %s\n", b.site.Dialect, s)
	}
	return nil
}

// scrolled promises the time between frames, in milliseconds, while an element is scrolled by so many pixels a frame,
// down and up again.
const scrolled = `((element, by, frames) => new Promise(done => {
	const took = [];
	let last = 0;
	const step = now => {
		if (last) took.push(now - last);
		last = now;
		if (took.length === frames) return done(took);
		if (element.scrollTop + by < 0 || element.scrollTop + by > element.scrollHeight - element.clientHeight) by = -by;
		element.scrollTop += by;
		requestAnimationFrame(step);
	};
	requestAnimationFrame(step);
}))(document.querySelector('[role=grid]'), %d, %d)`

// scrolling scrolls the table of contacts, slowly and fast. Rows come from the server meanwhile, the first time.
func (b *bench) scrolling(ctx context.Context) error {
	for _, page := range []struct{ name, address string }{{"bare page", b.bare + "/rows"}, {"contacts", b.root() + "/contacts"}} {
		p, err := b.open(ctx, page.name == "contacts")
		if err != nil {
			return err
		}
		if err := b.show(ctx, p, page.address); err != nil {
			return err
		}
		if err := p.Until(ctx, `document.querySelector('[role=grid]').scrollHeight > 5000`); err != nil {
			return err
		}
		for _, by := range []int{120, 600} {
			began, err := p.Busy(ctx)
			if err != nil {
				return err
			}
			var took []float64
			if err := p.Eval(ctx, fmt.Sprintf(scrolled, by, b.Frames), &took); err != nil {
				return err
			}
			ended, err := p.Busy(ctx)
			if err != nil {
				return err
			}
			b.row(fmt.Sprintf("%s: frame, %d px each", page.name, by), took, 32)
			fmt.Printf("%-10s%-44s%8.1f\n", b.site.Dialect, "  of it tasks of the page's thread", (ended-began).Seconds()*1000/float64(len(took)))
		}
		var heap float64
		if err := p.Eval(ctx, `performance.memory.usedJSHeapSize`, &heap); err != nil {
			return err
		}
		fmt.Printf("%-10s%s: heap %.0f MB after it\n", b.site.Dialect, page.name, heap/1e6)
	}
	return nil
}

// typed promises how long after each of the next keys a frame shows it, in milliseconds.
const typed = `(keys => { window.keys = new Promise(done => {
	const took = [];
	addEventListener('keydown', function each(e) {
		painted(e.timeStamp).then(after => { took.push(after); if (took.length === keys) { removeEventListener('keydown', each, true); done(took); } });
	}, true);
}); })(%d)`

// write presses keys, with a pause after each, and returns how long each took to be shown.
func (b *bench) write(ctx context.Context, p *chromium.Page, keys int, every time.Duration) (took []float64, err error) {
	if err := p.Eval(ctx, fmt.Sprintf(typed, keys), nil); err != nil {
		return nil, err
	}
	for i := range keys {
		if err := p.Press(ctx, string(rune('a'+i%26))); err != nil {
			return nil, err
		}
		if err := pause(ctx, every); err != nil {
			return nil, err
		}
	}
	return took, p.Eval(ctx, `window.keys`, &took)
}

// editor opens a new template with a mail of a size in bytes at its code, and puts the cursor near its beginning.
func (b *bench) editor(ctx context.Context, size int) (*chromium.Page, error) {
	made, err := b.site.Account.Key.Must(ctx, http.MethodPost, "/templates", map[string]any{
		"name": fmt.Sprint("Mail of ", size/1000, " KB ", time.Now().UnixNano()), "content_type": "html", "content_html": mail(size), "subject": "News",
	})
	if err != nil {
		return nil, err
	}
	p, err := b.open(ctx, true)
	if err != nil {
		return nil, err
	}
	if err := b.show(ctx, p, fmt.Sprintf("%s/templates/%v?part=html", b.root(), made["id"])); err != nil {
		return nil, err
	}
	const code = `[...document.querySelectorAll('main div')].find(e => e.shadowRoot)?.shadowRoot.querySelector('.cm-content')`
	if err := p.Until(ctx, code); err != nil {
		return nil, err
	}
	if err := p.Eval(ctx, code+`.focus()`, nil); err != nil {
		return nil, err
	}
	for range 4 {
		if err := p.Press(ctx, "ArrowDown"); err != nil {
			return nil, err
		}
	}
	if err := p.Press(ctx, "End"); err != nil {
		return nil, err
	}
	_, err = p.Requests(ctx)
	return p, err
}

// keys writes in a document of 300 KB: in a text area of the bare page, and in the code editor.
func (b *bench) keys(ctx context.Context) error {
	bare, err := b.open(ctx, false)
	if err != nil {
		return err
	}
	if err := b.show(ctx, bare, b.bare+"/text"); err != nil {
		return err
	}
	if err := bare.Eval(ctx, `document.querySelector('textarea').focus()`, nil); err != nil {
		return err
	}
	took, err := b.write(ctx, bare, b.Keys, 90*time.Millisecond)
	if err != nil {
		return err
	}
	b.row("bare page: key to its letter, 300 KB", took, 0)
	p, err := b.editor(ctx, 300_000)
	if err != nil {
		return err
	}
	for _, every := range []time.Duration{90 * time.Millisecond, 300 * time.Millisecond} {
		if took, err = b.write(ctx, p, b.Keys, every); err != nil {
			return err
		}
		b.row(fmt.Sprintf("code editor: the same, a key every %d ms", every.Milliseconds()), took, 30)
	}
	return nil
}

// preview writes in a mail of 100 KB. The frame of the preview reports its size after it shows a mail.
func (b *bench) preview(ctx context.Context) error {
	p, err := b.editor(ctx, 100_000)
	if err != nil {
		return err
	}
	var all []float64
	for i := range 15 {
		if err := p.Eval(ctx, `void (window.keys = new Promise(done => {
			let last = 0;
			addEventListener('keydown', e => { last = e.timeStamp; }, true);
			const shown = e => {
				if (e.data?.kind !== 'size' || !last || performance.now() - last < 300) return;
				removeEventListener('message', shown);
				done(performance.now() - last);
			};
			addEventListener('message', shown);
		}))`, nil); err != nil {
			return err
		}
		for j := range 5 {
			if err := p.Press(ctx, string(rune('a'+(i+j)%26))); err != nil {
				return err
			}
			if err := pause(ctx, 90*time.Millisecond); err != nil {
				return err
			}
		}
		var after float64
		if err := p.Eval(ctx, `window.keys`, &after); err != nil {
			return err
		}
		all = append(all, after)
	}
	b.row("last key to the preview, mail of 100 KB", all, 700)
	return nil
}
