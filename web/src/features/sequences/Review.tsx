import { useState } from "react";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Callout } from "../../ui/Page";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { startChanges } from "./draft";
import { difference, type Step } from "./graph";
import { type Names, titleOf } from "./steps";
import type { Flow } from "./useFlow";
import { partName, partWords } from "./versions";

const words = catalogue("sequences.review", {
	title: "Review changes",
	added: "{count, plural, one {# step added} other {# steps added}}",
	changed: "{count, plural, one {# step changed} other {# steps changed}}",
	removed: "{count, plural, one {# step removed} other {# steps removed}}",
	moved: "Connections between steps changed",
	part: "{part}: {text}",
	start: "Start changed",
	leave: "{count, plural, one {# person leaves the sequence} other {# people leave the sequence}}",
	leaveText: "They are at a step that is being removed. This cannot be undone.",
	nobody: "Nobody leaves.",
	stay: "{count, plural, one {# person is inside and continues from the same point when the sequence is resumed.} other {# people are inside and continue from the same point when the sequence is resumed.}}",
	problems: "{count, plural, one {Fix # problem first.} other {Fix # problems first.}}",
	save: "Save",
	discard: "Discard changes",
	cancel: "Cancel",
	saved: "Saved. Resume the sequence when you are ready.",
});

/** Review shows what was changed in a paused sequence, and who would leave it, before it is saved. */
export default function Review({
	flow,
	names,
	activeCount,
	onClose,
}: {
	flow: Flow;
	names: Names;
	activeCount: number;
	onClose: () => void;
}) {
	const [busy, setBusy] = useState(false);
	const [failed, setFailed] = useState(false);
	const d = difference(flow.base.graph, flow.graph);
	const parts = startChanges(flow.base, flow.start);
	const list = (title: string, steps: Step[], graph: typeof flow.graph) =>
		steps.length > 0 && (
			<section>
				<h3>{title}</h3>
				<ul>
					{steps.map((step) => (
						<li key={step.id}>{titleOf(step, names, graph)}</li>
					))}
				</ul>
			</section>
		);
	const save = async () => {
		setBusy(true);
		const done = await flow.save();
		setBusy(false);
		setFailed(!done);
		if (!done) return;
		toast(words.saved);
		onClose();
	};
	return (
		<Dialog
			title={words.title}
			onClose={onClose}
			footer={
				<>
					<Button
						variant="quiet"
						onClick={() => {
							flow.discard();
							onClose();
						}}
					>
						{words.discard}
					</Button>
					<Button onClick={onClose}>{words.cancel}</Button>
					<Button
						variant="primary"
						busy={busy}
						disabledReason={flow.issues.length > 0 ? words.problems({ count: flow.issues.length }) : undefined}
						onClick={() => void save()}
					>
						{words.save}
					</Button>
				</>
			}
		>
			{parts.length > 0 && (
				<section>
					<h3>{words.start}</h3>
					<ul>
						{parts.map((part) => (
							<li key={part}>{words.part({ part: partName(part), text: partWords(part, flow.start, names) })}</li>
						))}
					</ul>
				</section>
			)}
			{list(words.added({ count: d.added.length }), d.added, flow.graph)}
			{list(words.changed({ count: d.changed.length }), d.changed, flow.graph)}
			{list(words.removed({ count: d.removed.length }), d.removed, flow.base.graph)}
			{d.reconnected && <p>{words.moved}</p>}
			{flow.leaving > 0 ? (
				<Callout tone="warning" title={words.leave({ count: flow.leaving })}>
					{words.leaveText}
				</Callout>
			) : (
				<p>{words.nobody}</p>
			)}
			{activeCount - flow.leaving > 0 && <p>{words.stay({ count: activeCount - flow.leaving })}</p>}
			{failed && (
				<p role="alert">
					{flow.saving.state === "failed" ? flow.saving.problem : words.problems({ count: flow.issues.length })}
				</p>
			)}
		</Dialog>
	);
}
