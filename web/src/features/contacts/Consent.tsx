import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../../api/client";
import type { Contact, EmailTypeRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
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
export function Consent({ contact, onChanged }: { contact: Contact; onChanged: () => void }) {
	const disabledReason = useDisabledReason("POST /contacts/bulk");
	const locked = useDisabledReason("PUT /contacts/{id}");
	const resetDisabledReason = useDisabledReason("POST /contacts/{id}/anonymize");
	const [resetting, setResetting] = useState(false);
	const types = useCollection("email_types");
	const categories = useCollection("email_categories");
	const records = useQuery(consentsQuery(contact.id));
	const hasFormConsents = records.data?.data.some((consent) => consent.source.startsWith("form:")) ?? false;
	const forms = useCollection("forms", { enabled: hasFormConsents });
	const formNames = new Map((forms.data?.data ?? []).map((form) => [form.slug, form.name]));
	const change = useMutation({
		mutationFn: (variables: { type: string; subscribed: boolean }) =>
			api("POST /contacts/bulk", {
				idempotencyKey: newKey(),
				body: {
					action: variables.subscribed ? "subscribe" : "unsubscribe",
					contact_ids: [contact.id],
					params: { email_type_key: variables.type },
				},
			}),
		onSuccess: onChanged,
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const reset = useMutation({
		mutationFn: () =>
			api("POST /contacts/bulk", {
				idempotencyKey: newKey(),
				body: { action: "reset_status", contact_ids: [contact.id] },
			}),
		onSuccess: () => {
			setResetting(false);
			onChanged();
		},
	});
	if (types.isPending || categories.isPending) return <Skeleton rows={6} />;
	if (types.isError) return <Failure error={types.error} retry={() => void types.refetch()} />;
	const stopped = ["unsubscribed", "bounced", "complained"].includes(contact.global_status);
	const all = records.data?.data ?? [];
	// The newest record about a type: of the type, of its category, or of all mail.
	const originOf = (emailType: EmailTypeRow) => {
		const consent = all.find(
			(consent) =>
				(consent.email_type_key === null && consent.category_id === null) ||
				consent.email_type_key === emailType.type_key ||
				(emailType.category_id !== null && consent.category_id === emailType.category_id),
		);
		const written =
			contact.subscriptions[emailType.type_key] !== undefined ||
			(emailType.category_id !== null && contact.category_subscriptions[emailType.category_id] !== undefined);
		const receives =
			!stopped &&
			contact.subscriptions[emailType.type_key] !== false &&
			(emailType.category_id === null || contact.category_subscriptions[emailType.category_id] !== false);
		// What was written after the last choice of the person has no record.
		if (consent)
			return consent.granted === receives
				? words.last({
						what: consent.granted ? words.given : words.withdrawn,
						source: sourceOf(consent.source, formNames),
						at: dateTime(consent.at),
					})
				: words.written;
		return written ? words.written : words.inherited;
	};
	const nameOfChoice = (consent: (typeof all)[number]) =>
		types.data.data.find((emailType) => emailType.type_key === consent.email_type_key)?.display_name ??
		consent.email_type_key ??
		categories.data?.data.find((category) => category.id === consent.category_id)?.name ??
		consent.category_id ??
		words.all;
	const groups = [
		...(categories.data?.data ?? []).map((category) => ({
			id: category.id as string | null,
			name: category.name,
			description: category.description,
		})),
		{ id: null, name: words.others, description: null },
	];
	return (
		<>
			{stopped ? (
				<Callout
					tone="warning"
					title={
						contact.global_status === "unsubscribed"
							? contact.unsubscribed_at
								? words.unsubscribedOn({ at: contact.unsubscribed_at })
								: words.unsubscribed
							: contact.global_status === "bounced"
								? words.bounced
								: words.complained
					}
				>
					<Button small disabledReason={resetDisabledReason} onClick={() => setResetting(true)}>
						{words.reset}
					</Button>
				</Callout>
			) : (
				<p>{words.note}</p>
			)}
			<Locked disabledReason={locked}>
				{groups.map((group) => {
					const typesOfCategory = types.data.data.filter(
						(emailType) => emailType.active && emailType.category_id === group.id,
					);
					return (
						typesOfCategory.length > 0 && (
							<Card key={group.id ?? ""} title={group.name}>
								{typesOfCategory.map((emailType) => (
									<Switch
										key={emailType.id}
										label={emailType.display_name}
										help={
											<>
												{emailType.description} <span className={css.origin}>{originOf(emailType)}</span>
											</>
										}
										checked={
											!stopped &&
											contact.subscriptions[emailType.type_key] !== false &&
											(group.id === null || contact.category_subscriptions[group.id] !== false)
										}
										disabledReason={stopped ? words.from : locked ? undefined : disabledReason}
										onChange={(subscribed) => change.mutate({ type: emailType.type_key, subscribed })}
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
							name={`${words.log} ${contact.email}`}
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
							rows={all.map((consent) => [
								consent.at,
								consent.granted ? "granted" : "withdrawn",
								consent.email_type_key,
								consent.category_id,
								consent.source,
								String(consent.confirmed),
								consent.wording,
								consent.page_url,
								consent.ip,
								consent.user_agent,
								consent.message_id,
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
						rowKey={(consent) => consent.id}
						columns={[
							{ id: "what", name: words.what, cell: (consent) => (consent.granted ? words.given : words.withdrawn) },
							{ id: "of", name: words.of, cell: nameOfChoice },
							{ id: "when", name: words.when, cell: (consent) => dateTime(consent.at) },
							{ id: "source", name: words.source, cell: (consent) => sourceOf(consent.source, formNames) },
							{
								id: "proof",
								name: words.proof,
								cell: (consent) => (
									<ul className={css.proof}>
										{consent.wording && <li>{words.wording({ w: consent.wording })}</li>}
										{consent.confirmed && <li>{words.confirmed}</li>}
										{consent.message_id && !consent.confirmed && <li>{words.message}</li>}
										{consent.page_url && <li>{consent.page_url}</li>}
										{consent.ip && <li>{consent.ip}</li>}
										{consent.user_agent && (
											<li>
												{words.agent}: {consent.user_agent}
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
					type={contact.email}
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
