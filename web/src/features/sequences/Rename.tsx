import { request, type Versioned } from "../../api/client";
import type { Sequence } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";

const words = catalogue("sequences.rename", {
	title: "Rename {name}",
	name: "Sequence name",
	save: "Save",
});

type Props = {
	sequence: Sequence;
	/** Saves the draft, whose revision the name is then saved on. */
	flush: () => Promise<boolean>;
	revision: () => string | undefined;
	onSaved: (saved: Versioned<Sequence>) => void;
	onClose: () => void;
};

/** Rename gives a sequence another name. */
export default function Rename({ sequence, flush, revision, onSaved, onClose }: Props) {
	const form = useForm({ name: sequence.name });
	const save = () =>
		form.submit(async () => {
			await flush();
			const body = { name: form.values.name };
			onSaved(await request("PUT /sequences/{id}", { path: { id: sequence.id }, body, revision: revision() }));
			onClose();
		});
	return (
		<Dialog
			title={words.title({ name: sequence.name })}
			onClose={onClose}
			onSubmit={() => void save()}
			submit={{ label: words.save, busy: form.busy }}
		>
			<FormProblems problems={form.problems} />
			<TextField
				autoFocus
				label={words.name}
				path="name"
				value={form.values.name}
				onChange={(name) => form.set({ name })}
				error={form.problems.byPath.name}
			/>
		</Dialog>
	);
}
