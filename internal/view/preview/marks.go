package preview

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// show renders the source and sets the parts of the preview, with marks if they are asked for.
func (w *work) show(ctx context.Context, out *Preview, from *render.Sender, to *contact.Contact, e journal.Trigger) error {
	exact, err := w.renderMarked(ctx, out, from, to, e)
	if err == nil && !exact {
		err = w.render(ctx, out, from, to, e)
	}
	if err != nil || out.HTML == nil {
		return err
	}
	if w.marks && out.Marked == nil {
		out.Marked = out.HTML
	}
	// The problems of links that data made do not matter: the guard has removed them.
	_, found, err := links.Rewrite(*out.HTML, links.Options{})
	if _, bad := errors.AsType[*links.Error](err); err != nil && !bad {
		return err
	}
	out.Links = append(out.Links, found...)
	return nil
}

// renderMarked renders the source with marks, if it has any. It reports whether the preview is that of the
// source without them, too; else only its HTML with marks is set.
func (w *work) renderMarked(ctx context.Context, out *Preview, from *render.Sender, to *contact.Contact, e journal.Trigger) (exact bool, err error) {
	if w.marked == nil || w.broken[htmlBody] {
		return false, nil
	}
	other, made := *w, *out
	other.source.HTML, other.broken, other.problems = w.marked.HTML, maps.Clone(w.broken), slices.Clone(w.problems)
	if err := other.render(ctx, &made, from, to, e); err != nil || made.HTML == nil {
		return false, err
	}
	made.Marked, made.HTML = new(w.marked.Marker.Show(*made.HTML)), new(w.marked.Marker.Remove(*made.HTML))
	failed := slices.ContainsFunc(other.problems[len(w.problems):], func(p Problem) bool { return p.Severity == Error })
	if failed || len(other.broken) > len(w.broken) || !w.marked.Exact || strings.Contains(w.marked.HTML, "capture") {
		out.Marked = made.Marked
		return false, nil
	}
	*out, w.problems = made, other.problems
	return true, nil
}
