import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../../api/client";
import type { Contact, EmailTypeRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useWhyNot } from "../../base/session";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { CsvButton } from "../../ui/CsvButton";
import { Switch } from "../../ui/Field";
import { List } from "../../ui/List";
import { Card, Callout } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { Locked } from "../../ui/Locked";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { dateTime } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import css from "./Consent.module.css";
import { consentsQuery } from "./queries";

const words = catalogue("contacts.consent", {
	note: "Consent comes from the person. Change a subscription only if they asked you to.",
	others: "Other types",
	unsubscribed: "This person unsubscribed from everything. Only they can subscribe again.",
	unsubscribedOn: "This person unsubscribed from everything on {at, date}. Only they can subscribe again.",
	bounced: "Email to this address bounced.",
	complained: "This person reported email as spam.",
	reset: "Reset status",
	resetText:
		"The contact becomes active again, and the address is removed from the suppression list. Do this only if you know that the address works and the person wants your email.",
	from: "Off for this person.",
	all: "All email",
	given: "Consented",
	withdrawn: "Unsubscribed",
	inherited: "No choice recorded: this person gets this type until they unsubscribe from it.",
	written: "Set without a record: through the API, by an import or here.",
	last: "{what} {source}, {at}",
	log: "Consent history",
	logText:
		"Every choice this person made, with proof. Choices set through the API, by an import or here have no record.",
	none: "This person has not made a choice yet.",
	what: "Choice",
	of: "For",
	when: "When",
	source: "Where",
	proof: "Proof",
	wording: "“{w}”",
	confirmed: "Confirmed by a link in an email",
	message: "Through the link or address in an email",
	agent: "Program",
	sources: {
		preferences_page: "on the preferences page",
		unsubscribe_page: "on the unsubscribe page",
		one_click: "with the unsubscribe button of a mail program",
		mailto: "by email to the unsubscribe address",
		complaint: "by reporting spam",
		provider: "at the email provider",
	},
	form: "on the form {name}",
});

/** sourceOf says where a choice was made; a form that was deleted is named by its key. */
const sourceOf = (source: string, forms: Map<string, string>) =>
	source.startsWith("form:")
		? words.form({ name: forms.get(source.slice("form:".length)) ?? source.slice("form:".length) })
		: ((words.sources as { [source: string]: string })[source] ?? source.replaceAll("_", " "));

/** Consent shows the email types by category, and whether the contact gets them. */
export function Consent({ contact: c, onChanged }: { contact: Contact; onChanged: () => void }) {
	const why = useWhyNot("POST /contacts/bulk");
	const locked = useWhyNot("PUT /contacts/{id}");
	const whyNotReset = useWhyNot("POST /contacts/{id}/anonymize");
	const [resetting, setResetting] = useState(false);
	const types = useCollection("email_types");
	const categories = useCollection("email_categories");
	const records = useQuery(consentsQuery(c.id));
	const ofForms = records.data?.data.some((r) => r.source.startsWith("form:")) ?? false;
	const forms = useCollection("forms", { enabled: ofForms });
	const formNames = new Map((forms.data?.data ?? []).map((f) => [f.slug, f.name]));
	const change = useMutation({
		mutationFn: (v: { type: string; on: boolean }) =>
			api("POST /contacts/bulk", {
				idempotencyKey: newKey(),
				body: { action: v.on ? "subscribe" : "unsubscribe", contact_ids: [c.id], params: { email_type_key: v.type } },
			}),
		onSuccess: onChanged,
		onError: (e) => toast(explain(e), { tone: "danger" }),
	});
	const reset = useMutation({
		mutationFn: () =>
			api("POST /contacts/bulk", { idempotencyKey: newKey(), body: { action: "reset_status", contact_ids: [c.id] } }),
		onSuccess: () => {
			setResetting(false);
			onChanged();
		},
	});
	if (types.isPending || categories.isPending) return <Skeleton rows={6} />;
	if (types.isError) return <Failure error={types.error} retry={() => void types.refetch()} />;
	const stopped = ["unsubscribed", "bounced", "complained"].includes(c.global_status);
	const all = records.data?.data ?? [];
	// The newest record about a type: of the type, of its category, or of all mail.
	const originOf = (t: EmailTypeRow) => {
		const r = all.find(
			(x) =>
				(x.email_type_key === null && x.category_id === null) ||
				x.email_type_key === t.type_key ||
				(t.category_id !== null && x.category_id === t.category_id),
		);
		const written =
			c.subscriptions[t.type_key] !== undefined ||
			(t.category_id !== null && c.category_subscriptions[t.category_id] !== undefined);
		const gets =
			!stopped &&
			c.subscriptions[t.type_key] !== false &&
			(t.category_id === null || c.category_subscriptions[t.category_id] !== false);
		// What was written after the last choice of the person has no record.
		if (r)
			return r.granted === gets
				? words.last({
						what: r.granted ? words.given : words.withdrawn,
						source: sourceOf(r.source, formNames),
						at: dateTime(r.at),
					})
				: words.written;
		return written ? words.written : words.inherited;
	};
	const nameOfChoice = (r: (typeof all)[number]) =>
		types.data.data.find((t) => t.type_key === r.email_type_key)?.display_name ??
		r.email_type_key ??
		categories.data?.data.find((g) => g.id === r.category_id)?.name ??
		r.category_id ??
		words.all;
	const groups = [
		...(categories.data?.data ?? []).map((g) => ({
			id: g.id as string | null,
			name: g.name,
			description: g.description,
		})),
		{ id: null, name: words.others, description: null },
	];
	return (
		<>
			{stopped ? (
				<Callout
					tone="warning"
					title={
						c.global_status === "unsubscribed"
							? c.unsubscribed_at
								? words.unsubscribedOn({ at: c.unsubscribed_at })
								: words.unsubscribed
							: c.global_status === "bounced"
								? words.bounced
								: words.complained
					}
				>
					<Button small why={whyNotReset} onClick={() => setResetting(true)}>
						{words.reset}
					</Button>
				</Callout>
			) : (
				<p>{words.note}</p>
			)}
			<Locked why={locked}>
				{groups.map((g) => {
					const of = types.data.data.filter((t) => t.active && t.category_id === g.id);
					return (
						of.length > 0 && (
							<Card key={g.id ?? ""} title={g.name}>
								{of.map((t) => (
									<Switch
										key={t.id}
										label={t.display_name}
										help={
											<>
												{t.description} <span className={css.origin}>{originOf(t)}</span>
											</>
										}
										checked={
											!stopped &&
											c.subscriptions[t.type_key] !== false &&
											(g.id === null || c.category_subscriptions[g.id] !== false)
										}
										why={stopped ? words.from : locked ? undefined : why}
										onChange={(on) => change.mutate({ type: t.type_key, on })}
									/>
								))}
							</Card>
						)
					);
				})}
			</Locked>
			<Card
				title={words.log}
				actions={
					all.length > 0 && (
						<CsvButton
							name={`${words.log} ${c.email}`}
							header={[
								"at",
								"choice",
								"email_type_key",
								"category_id",
								"source",
								"confirmed",
								"wording",
								"page_url",
								"ip",
								"user_agent",
								"message_id",
							]}
							rows={all.map((r) => [
								r.at,
								r.granted ? "granted" : "withdrawn",
								r.email_type_key,
								r.category_id,
								r.source,
								String(r.confirmed),
								r.wording,
								r.page_url,
								r.ip,
								r.user_agent,
								r.message_id,
							])}
						/>
					)
				}
			>
				<p className={css.muted}>{words.logText}</p>
				{records.isError ? (
					<Failure error={records.error} retry={() => void records.refetch()} />
				) : records.isPending ? (
					<Skeleton rows={2} />
				) : all.length === 0 ? (
					<p>{words.none}</p>
				) : (
					<List
						label={words.log}
						rows={all}
						rowKey={(r) => r.id}
						columns={[
							{ id: "what", name: words.what, cell: (r) => (r.granted ? words.given : words.withdrawn) },
							{ id: "of", name: words.of, cell: nameOfChoice },
							{ id: "when", name: words.when, cell: (r) => dateTime(r.at) },
							{ id: "source", name: words.source, cell: (r) => sourceOf(r.source, formNames) },
							{
								id: "proof",
								name: words.proof,
								cell: (r) => (
									<ul className={css.proof}>
										{r.wording && <li>{words.wording({ w: r.wording })}</li>}
										{r.confirmed && <li>{words.confirmed}</li>}
										{r.message_id && !r.confirmed && <li>{words.message}</li>}
										{r.page_url && <li>{r.page_url}</li>}
										{r.ip && <li>{r.ip}</li>}
										{r.user_agent && (
											<li>
												{words.agent}: {r.user_agent}
											</li>
										)}
									</ul>
								),
							},
						]}
					/>
				)}
			</Card>
			{resetting && (
				<Confirm
					title={words.reset}
					action={words.reset}
					type={c.email}
					busy={reset.isPending}
					error={reset.error && <p role="alert">{explain(reset.error)}</p>}
					onConfirm={() => reset.mutate()}
					onClose={() => setResetting(false)}
				>
					<p>{words.resetText}</p>
				</Confirm>
			)}
		</>
	);
}
