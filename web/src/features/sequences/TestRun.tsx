import { useRef, useState } from "react";
import { ApiError, api, newKey } from "../../api/client";
import type { Sequence, TestSequenceAnswer } from "../../api/schema";
import { useSession } from "../../base/session";
import { ContactPick } from "../source/ContactPick";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { Callout } from "../../ui/Page";
import { addressesIn } from "../../base/words/addresses";
import { attemptError } from "../../base/words/replies";
import { catalogue } from "../../base/words/catalogue";
import { graphOf, stepOf } from "./graph";
import { type Names, titleOf } from "./steps";

const words = catalogue("sequences.testRun", {
	title: "Test run",
	text: "Sends every email in this sequence once, without waits, marked as a test. Tests are not counted in reports.",
	to: "To",
	help: "Up to 10 addresses, separated by commas.",
	as: "With data from",
	asHelp: "The emails use this contact's fields and last event.",
	send: "Send",
	close: "Close",
	choose: "Choose a contact.",
	address: "Enter at least one address.",
	sent: "Sent",
	suppressed: "On the suppression list",
	failed: "Failed",
	done: "{sent, plural, one {# email sent} other {# emails sent}}{failed, plural, =0 {} one {, # failed} other {, # failed}}",
	unsaved: "Unsaved changes are not part of the test.",
});

type Props = { sequence: Sequence; names: Names; flush: () => Promise<boolean>; unsaved: boolean; onClose: () => void };

/** TestRun sends every mail of a sequence to a few addresses. */
export default function TestRun({ sequence, names, flush, unsaved, onClose }: Props) {
	const { user } = useSession();
	const form = useForm({ to: user.email, contact_id: null as string | null });
	const [answer, setAnswer] = useState<TestSequenceAnswer | null>(null);
	const idempotencyKey = useRef(newKey());
	const to = [...new Set(addressesIn(form.values.to))];
	const disabledReason = to.length === 0 ? words.address : form.values.contact_id ? undefined : words.choose;
	const graph = graphOf(sequence);
	const send = () =>
		form.submit(async () => {
			setAnswer(null);
			await flush();
			try {
				setAnswer(
					await api("POST /sequences/{id}/test", {
						path: { id: sequence.id },
						body: { contact_id: form.values.contact_id ?? "", to },
						idempotencyKey: idempotencyKey.current,
					}),
				);
				idempotencyKey.current = newKey();
			} catch (error) {
				if (error instanceof ApiError && error.status !== 0) idempotencyKey.current = newKey();
				throw error;
			}
		});
	return (
		<Dialog
			title={words.title}
			onClose={onClose}
			onSubmit={() => !disabledReason && void send()}
			footer={
				<>
					<Button onClick={onClose}>{words.close}</Button>
					<Button type="submit" variant="primary" busy={form.busy} disabledReason={disabledReason}>
						{words.send}
					</Button>
				</>
			}
		>
			<p>{words.text}</p>
			{unsaved && <Callout tone="warning">{words.unsaved}</Callout>}
			<FormProblems problems={form.problems} />
			<ContactPick
				label={words.as}
				help={words.asHelp}
				value={form.values.contact_id}
				onChange={(contact_id) => form.set({ contact_id })}
			/>
			<TextField
				label={words.to}
				help={words.help}
				path="to"
				value={form.values.to}
				onChange={(value) => form.set({ to: value })}
				error={form.problems.byPath.to}
			/>
			{answer && (
				<div role="status">
					<p>{words.done({ sent: answer.sent, failed: answer.failed })}</p>
					<ul>
						{answer.results.map((result) => {
							const step = stepOf(graph, result.node_id);
							return (
								<li key={result.node_id + result.to}>
									<Badge
										tone={result.status === "sent" ? "success" : result.status === "suppressed" ? "warning" : "danger"}
									>
										{words[result.status]}
									</Badge>{" "}
									{step ? titleOf(step, names, graph) : result.node_id}, {result.to}
									{result.error && <small> {attemptError(result.error)}</small>}
								</li>
							);
						})}
					</ul>
				</div>
			)}
		</Dialog>
	);
}
