import { useState } from "react";
import { api, newKey } from "../../api/client";
import { useCollection } from "../../base/collections";
import { catalogue } from "../../base/words/catalogue";
import { Combo } from "../../ui/Combo";
import { Dialog } from "../../ui/Dialog";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { Callout } from "../../ui/Page";
import { toast } from "../../ui/Toast";

const words = catalogue("contacts.addToSequence", {
	title: "Add to a sequence",
	sequence: "Sequence",
	text: "This person enters at the first step now, whatever starts the sequence, and goes through it from there.",
	none: "No sequence is active. Only active sequences take people in.",
	add: "Add",
	choose: "Choose a sequence.",
	added: "Added to {name}",
	duplicate: "Not added: this person is in {name} already, or has been through it and may not enter again.",
});

/** AddToSequence enrolls a contact in a sequence that is chosen. */
export function AddToSequence({ id, onClose, onAdded }: { id: string; onClose: () => void; onAdded: () => void }) {
	const sequences = useCollection("sequences");
	const form = useForm({ sequence: null as string | null });
	const [refused, setRefused] = useState("");
	const active = (sequences.data?.data ?? []).filter((sequence) => sequence.status === "active");
	const chosen = active.find((sequence) => sequence.id === form.values.sequence);
	const disabledReason = chosen ? undefined : words.choose;
	const send = () =>
		form.submit(async () => {
			if (!chosen) return;
			const answer = await api("POST /sequences/{id}/enroll", {
				path: { id: chosen.id },
				body: { contact_id: id, idempotency_key: newKey() },
			});
			if (answer.status !== "enrolled") return setRefused(words.duplicate({ name: chosen.name }));
			toast(words.added({ name: chosen.name }));
			onAdded();
			onClose();
		});
	return (
		<Dialog
			title={words.title}
			onClose={onClose}
			onSubmit={() => !disabledReason && void send()}
			submit={{ label: words.add, busy: form.busy, disabledReason }}
		>
			<FormProblems problems={form.problems} />
			{sequences.data && active.length === 0 ? (
				<p>{words.none}</p>
			) : (
				<Combo
					autoFocus
					label={words.sequence}
					help={words.text}
					options={active.map((sequence) => ({ id: sequence.id, label: sequence.name }))}
					value={form.values.sequence}
					onChange={(sequence) => {
						setRefused("");
						form.set({ sequence });
					}}
				/>
			)}
			{refused && <Callout tone="warning">{refused}</Callout>}
		</Dialog>
	);
}
