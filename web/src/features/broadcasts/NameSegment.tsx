import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { useLocation } from "wouter";
import { ApiError, api, newKey } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { catalogue } from "../../base/words/catalogue";
import { type Criterion, nameOf } from "./criteria";
import { within } from "../../base/queries";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.nameSegment", {
	title: "New segment",
	name: "Name",
	about: "It is recounted each time, so late opens and clicks are included.",
	create: "Create segment",
});

/** NameSegment asks for the name of a segment of a broadcast, and makes it. */
export default function NameSegment({
	id,
	criterion,
	initial,
	onClose,
}: {
	id: string;
	criterion: Criterion;
	initial: string;
	onClose: () => void;
}) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const form = useForm({ name: initial.slice(0, 200) });
	const idempotencyKey = useRef(newKey());
	const send = () =>
		form.submit(async () => {
			try {
				const created = await api("POST /segments/from-broadcast", {
					body: { broadcast_id: id, criterion, name: form.values.name },
					idempotencyKey: idempotencyKey.current,
				});
				void client.invalidateQueries(within("segments"));
				navigate(to.segment(created.segment_key));
			} catch (error) {
				if (error instanceof ApiError && error.status !== 0) idempotencyKey.current = newKey();
				throw error;
			}
		});
	return (
		<Dialog
			title={words.title}
			onClose={onClose}
			onSubmit={() => void send()}
			submit={{ label: words.create, busy: form.busy }}
		>
			<FormProblems problems={form.problems} />
			<p>
				{nameOf(criterion)}. {words.about}
			</p>
			<TextField
				label={words.name}
				path="name"
				maxLength={200}
				value={form.values.name}
				onChange={(name) => form.set({ name })}
				error={form.problems.byPath.name}
				autoFocus
			/>
		</Dialog>
	);
}
