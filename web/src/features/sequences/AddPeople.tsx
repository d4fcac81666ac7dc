import { useState } from "react";
import { api, newKey } from "../../api/client";
import type { Sequence } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { addressesIn } from "../../base/words/addresses";
import { catalogue } from "../../base/words/catalogue";
import { ContactPicks, type Picked } from "../source/ContactPicks";
import { Combo } from "../../ui/Combo";
import { Dialog } from "../../ui/Dialog";
import { Radios, TextArea } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { Callout } from "../../ui/Page";
import { type Outcome, outcomeOf, segmentRule, together } from "./enrolled";
import css from "./StepFields.module.css";

const words = catalogue("sequences.addPeople", {
	title: "Add people to {name}",
	add: "Add people",
	close: "Close",
	who: "Who",
	choices: { people: "Some people", segment: "Everybody in a segment or list" },
	people: "People, by name or address",
	emails: "Or addresses, one per line",
	emailsHelp: "Only existing contacts are added. No contacts are created.",
	segment: "Segment or list",
	text: "They enter at the first step now and go through the sequence from there. People who are inside already stay where they are.",
	once: "People who have been through it before do not enter again.",
	unfiltered: "The rule of who may enter does not apply to people you add.",
	job: "{count, plural, =0 {Nobody is in it.} one {# person is in it.} other {# people are in it.}} This runs as a job. You can cancel it, but not undo it.",
	jobUncounted: "This runs as a job. You can cancel it, but not undo it.",
	nobody: "Select people or paste addresses.",
	noSegment: "Select a segment or a list.",
	noContact: "no contact has this address",
	entered: "{count, plural, =0 {Nobody entered} one {# person entered} other {# people entered}}",
	left: "{count, plural, one {# person did not enter:} other {# people did not enter:}}",
	line: "{name}: {reason}",
});

/** How many addresses are looked up at once, and how many contacts enter at once. */
const lookedUp = 200;
const enrolled = 1000;

type Props = { sequence: Sequence; onClose: () => void; onAdded: () => void; onJob: (id: string) => void };

/** AddPeople enrolls contacts that are chosen or whose addresses are pasted, or all of a segment. */
export default function AddPeople({ sequence, onClose, onAdded, onJob }: Props) {
	const form = useForm({ who: "people", emails: "", segment: null as string | null });
	const [selected, setSelected] = useState<Picked[]>([]);
	const [outcome, setOutcome] = useState<Outcome | null>(null);
	const segments = useCollection("segments");
	const { who, segment } = form.values;
	const emails = [...new Set(addressesIn(form.values.emails).map((email) => email.toLowerCase()))];
	const chosen = segments.data?.data.find((row) => row.segment_key === segment);
	const trigger = sequence.entry_trigger?.trigger_config as { definition?: unknown } | undefined;
	const disabledReason =
		who === "segment"
			? chosen
				? undefined
				: words.noSegment
			: emails.length + selected.length > 0
				? undefined
				: words.nobody;
	const params = { sequence_id: sequence.id };
	const enrollSegment = async (key: string, type: string) => {
		const { job_id } = await api("POST /contacts/bulk", {
			idempotencyKey: newKey(),
			body: { action: "enroll", params, selector: { definition: segmentRule(key, type) } },
		});
		if (job_id) onJob(job_id);
		onClose();
	};
	const enrollPeople = async () => {
		const names = new Map(selected.map((contact) => [contact.id, contact.detail ?? contact.label]));
		const missing = new Set(emails);
		for (let i = 0; i < emails.length; i += lookedUp) {
			const value = emails.slice(i, i + lookedUp);
			const found = await api("POST /contacts/search", {
				body: { filters: [{ field: "email", operator: "in", value }], limit: lookedUp },
			});
			for (const contact of found.data) {
				names.set(contact.id, contact.email ?? contact.id);
				missing.delete((contact.email ?? "").toLowerCase());
			}
		}
		let sum: Outcome = { entered: 0, left: [...missing].map((name) => ({ name, reason: words.noContact })) };
		const ids = [...names.keys()];
		for (let i = 0; i < ids.length; i += enrolled) {
			const answer = await api("POST /contacts/bulk", {
				idempotencyKey: newKey(),
				body: { action: "enroll", params, contact_ids: ids.slice(i, i + enrolled) },
			});
			sum = together(sum, outcomeOf(answer, names));
			onAdded();
		}
		setOutcome(sum);
		setSelected([]);
		form.set({ emails: "" });
	};
	const send = () =>
		form.submit(() => {
			setOutcome(null);
			return who === "segment" && chosen ? enrollSegment(chosen.segment_key, chosen.type) : enrollPeople();
		});
	return (
		<Dialog
			title={words.title({ name: sequence.name })}
			onClose={onClose}
			onSubmit={() => !disabledReason && void send()}
			submit={{ label: words.add, cancel: words.close, busy: form.busy, disabledReason }}
		>
			<FormProblems problems={form.problems} />
			<Radios
				label={words.who}
				value={who}
				onChange={(who) => form.set({ who })}
				choices={Object.entries(words.choices).map(([value, label]) => ({ value, label }))}
			/>
			{who === "segment" ? (
				<Combo
					label={words.segment}
					options={(segments.data?.data ?? []).map((row) => ({ id: row.segment_key, label: row.name }))}
					value={segment}
					onChange={(segment) => form.set({ segment })}
				/>
			) : (
				<>
					<ContactPicks label={words.people} selected={selected} onChange={setSelected} />
					<TextArea
						rows={4}
						label={words.emails}
						help={words.emailsHelp}
						value={form.values.emails}
						onChange={(emails) => form.set({ emails })}
					/>
				</>
			)}
			<p className={css.help}>
				{words.text} {!sequence.allow_reentry && words.once} {trigger?.definition !== undefined && words.unfiltered}
			</p>
			{who === "segment" && chosen && (
				<p className={css.help}>
					{chosen.member_count_total === null
						? words.jobUncounted
						: words.job({ count: chosen.member_count_total ?? 0 })}
				</p>
			)}
			{outcome && (
				<Callout
					tone={outcome.left.length > 0 ? "warning" : "success"}
					title={words.entered({ count: outcome.entered })}
				>
					{outcome.left.length > 0 && (
						<>
							<p>{words.left({ count: outcome.left.length })}</p>
							{/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll */}
							<ul className={css.scrolled} tabIndex={0}>
								{outcome.left.map((line) => (
									<li key={line.name}>{words.line(line)}</li>
								))}
							</ul>
						</>
					)}
				</Callout>
			)}
		</Dialog>
	);
}
