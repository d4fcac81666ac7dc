import type { BroadcastSessionView } from "../../api/schema";
import { Confirm } from "../../ui/Dialog";
import { catalogue } from "../../base/words/catalogue";

const words = catalogue("broadcasts.cancelSend", {
	action: "Cancel send",
	title: "Cancel {name}?",
	people: "{count, plural, one {# person will not get it.} other {# people will not get it.}}",
	nobody: "Nothing has been sent, and nobody will get it.",
	note: "Emails already given to servers will still arrive.",
	final: "This cannot be undone.",
});

/** More people than this are cancelled only when the name is typed. */
const many = 1000;

type Props = { broadcast: BroadcastSessionView; busy: boolean; onConfirm: () => void; onClose: () => void };

/** CancelSend asks before a send is cancelled, and says how many will not get it. */
export function CancelSend({ broadcast, busy, onConfirm, onClose }: Props) {
	const progress = broadcast.view_model.delivery_progress;
	return (
		<Confirm
			title={words.title({ name: broadcast.name })}
			action={words.action}
			type={progress && progress.remaining > many ? broadcast.name : undefined}
			busy={busy}
			onConfirm={onConfirm}
			onClose={onClose}
		>
			<p>
				<b>{progress ? words.people({ count: progress.remaining }) : words.nobody}</b> {progress && words.note}{" "}
				{words.final}
			</p>
		</Confirm>
	);
}
