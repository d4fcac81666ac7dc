import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useLocation } from "wouter";
import { ApiError, api, newKey } from "../api/client";
import { useKey, useWhyNot } from "../app/session";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { TextField } from "../ui/Field";
import { FormProblems } from "../ui/FormProblems";
import { useForm } from "../ui/form";
import { Menu } from "../ui/Menu";
import { catalogue } from "../words/catalogue";

const words = catalogue({
	menu: "Make a segment of",
	title: "New segment",
	name: "Name",
	about: "It counts again each time, so late opens and clicks are in it too.",
	create: "Create the segment",
	cancel: "Cancel",
	criteria: {
		engagers: "People who opened or clicked",
		openers: "People who opened",
		non_openers: "People who got it and did not open",
		clickers: "People who clicked",
		non_clickers: "People who got it and did not click",
		bouncers: "People whose mail bounced",
		complainers: "People who complained",
		unsubscribers: "People who unsubscribed",
		not_received: "People of the audience who were not sent it",
	},
});

type Criterion = keyof typeof words.criteria;

/** MakeSegment makes a segment of those to whom something happened by a broadcast. */
export function MakeSegment({ id, name }: { id: string; name: string }) {
	const why = useWhyNot("POST /segments/from-broadcast");
	const [criterion, setCriterion] = useState<Criterion | null>(null);
	return (
		<>
			<Menu actions={(Object.keys(words.criteria) as Criterion[]).map((c) => ({ id: c, label: words.criteria[c], why, run: () => setCriterion(c) }))}>{words.menu}</Menu>
			{criterion && <Naming id={id} criterion={criterion} initial={`${name}: ${words.criteria[criterion].toLowerCase()}`} onClose={() => setCriterion(null)} />}
		</>
	);
}

function Naming({ id, criterion, initial, onClose }: { id: string; criterion: Criterion; initial: string; onClose: () => void }) {
	const key = useKey();
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const form = useForm({ name: initial.slice(0, 200) });
	const idempotencyKey = useRef(newKey());
	const send = () =>
		form.submit(async () => {
			try {
				const made = await api("POST /segments/from-broadcast", { body: { broadcast_id: id, criterion, name: form.values.name }, idempotencyKey: idempotencyKey.current });
				void client.invalidateQueries({ queryKey: key("segments") });
				navigate(`/segments/${made.segment_key}`);
			} catch (e) {
				if (e instanceof ApiError && e.status !== 0) idempotencyKey.current = newKey();
				throw e;
			}
		});
	return (
		<Dialog
			title={words.title}
			onClose={onClose}
			onSubmit={() => void send()}
			footer={
				<>
					<Button onClick={onClose}>{words.cancel}</Button>
					<Button type="submit" look="primary" busy={form.busy}>
						{words.create}
					</Button>
				</>
			}
		>
			<FormProblems problems={form.problems} />
			<p>
				{words.criteria[criterion]}. {words.about}
			</p>
			<TextField label={words.name} path="name" maxLength={200} value={form.values.name} onChange={(name) => form.set({ name })} error={form.problems.byPath.name} autoFocus />
		</Dialog>
	);
}
