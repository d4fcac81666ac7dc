import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { ApiError, api, newKey, url } from "../../api/client";
import type { Contact } from "../../api/schema";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Confirm } from "../../ui/Dialog";
import { Checkbox } from "../../ui/Field";
import { isGone, NotFound } from "../../ui/NotFound";
import { Menu } from "../../ui/Menu";
import { Callout, Page } from "../../ui/Page";
import { Tabs } from "../../ui/Tabs";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { Consent } from "./Consent";
import { nameOf } from "./contactFields";
import { About } from "./About";
import { Eligibility } from "./Eligibility";
import { Lists } from "./Lists";
import { Mail } from "./Mail";
import { Profile } from "./Profile";
import { Sequences } from "./Sequences";
import { Timeline } from "./Timeline";
import { ofContacts, within } from "../../base/queries";
import { contactQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("contacts.contact", {
	contacts: "Contacts",
	views: "Views of the contact",
	timeline: "Timeline",
	profile: "Profile",
	consent: "Consent",
	sequences: "Sequences",
	lists: "Lists",
	mail: "Email",
	other: "Open other contact",
	delete: "Delete",
	restore: "Restore",
	deleted: "{name} deleted",
	restored: "{name} restored",
	export: "Export all data",
	anonymise: "Anonymise",
	anonymiseTitle: "Anonymise this contact?",
	anonymiseText:
		"This person's name, address, fields, tags and events are erased permanently. Only counts in reports remain, and they no longer lead to anybody.",
	keep: "Keep the address on the suppression list so that nobody mails it again",
	anonymised: "This contact was anonymised and cannot be changed.",
	isDeleted: "This contact is deleted and gets no email. You can restore it.",
	done: "Anonymised",
});

/** ContactPage is the page of one person. */
export default function ContactPage() {
	const { id = "" } = useParams<{ id: string }>();
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const [tab] = useParam("tab", "timeline");
	const [anonymising, setAnonymising] = useState(false);
	const editDisabledReason = useDisabledReason("PUT /contacts/{id}");
	const anonymiseDisabledReason = useDisabledReason("POST /contacts/{id}/anonymize");
	const contact = useQuery(contactQuery(id));
	const refresh = () => {
		void client.invalidateQueries(within("contact", id));
		void client.invalidateQueries(ofContacts());
	};
	const bulk = (action: "delete" | "restore") =>
		api("POST /contacts/bulk", { idempotencyKey: newKey(), body: { action, contact_ids: [id] } });
	const restore = useMutation({
		mutationFn: () => bulk("restore"),
		onSuccess: refresh,
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const remove = useMutation({
		mutationFn: () => bulk("delete"),
		onSuccess: () => {
			refresh();
			if (contact.data) toast(words.deleted({ name: nameOf(contact.data) }), { undo: () => restore.mutate() });
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const c = contact.data;
	if (!c || isGone(contact.error)) return <NotFound query={contact} list={words.contacts} to={to.contacts()} />;
	const isErased = c.global_status === "suppressed";
	const isAnonymized = c.anonymized_at !== null;
	return (
		<Page
			title={nameOf(c)}
			breadcrumbs={[{ name: words.contacts, to: to.contacts() }]}
			status={
				<>
					<StateBadge kind="contact" state={c.global_status} />
					<StateBadge kind="deliverability" state={c.deliverability_status} />
				</>
			}
			description={nameOf(c) === c.email ? undefined : c.email}
			actions={
				<Menu
					actions={[
						{
							id: "export",
							label: words.export,
							run: () => window.location.assign(url("GET /contacts/{id}/export", { id })),
						},
						isErased &&
							!isAnonymized && {
								id: "restore",
								label: words.restore,
								disabledReason: editDisabledReason,
								run: () => restore.mutate(),
							},
						!isErased && {
							id: "delete",
							label: words.delete,
							danger: true,
							disabledReason: editDisabledReason,
							run: () => remove.mutate(),
						},
						!isAnonymized && {
							id: "anonymise",
							label: words.anonymise,
							danger: true,
							disabledReason: anonymiseDisabledReason,
							run: () => setAnonymising(true),
						},
					]}
				/>
			}
		>
			{isAnonymized ? (
				<Callout>{words.anonymised}</Callout>
			) : (
				isErased && <Callout tone="warning">{words.isDeleted}</Callout>
			)}
			{!isAnonymized && (
				<Eligibility key={c.id} contact={c} onRestore={() => restore.mutate()} disabledReason={editDisabledReason} />
			)}
			<About contact={c} off={isAnonymized || editDisabledReason !== undefined} />
			<Tabs
				label={words.views}
				current={tab}
				tabs={[
					{ id: "timeline", name: words.timeline },
					{ id: "profile", name: words.profile },
					{ id: "consent", name: words.consent },
					{ id: "sequences", name: words.sequences },
					{ id: "lists", name: words.lists },
					{ id: "mail", name: words.mail },
				]}
			/>
			{tab === "timeline" && <Timeline id={id} />}
			{tab === "profile" && (
				<Profile
					contact={c}
					readOnly={isAnonymized}
					onSaved={(next) => client.setQueryData(contactQuery(id).queryKey, next)}
				/>
			)}
			{tab === "consent" && <Consent contact={c} onChanged={refresh} />}
			{tab === "sequences" && <Sequences id={id} />}
			{tab === "lists" && <Lists id={id} />}
			{tab === "mail" && <Mail id={id} />}
			{anonymising && (
				<Anonymise
					contact={c}
					onClose={() => setAnonymising(false)}
					onDone={() => {
						setAnonymising(false);
						refresh();
						toast(words.done);
						navigate(to.contacts());
					}}
				/>
			)}
		</Page>
	);
}

function Anonymise({ contact, onClose, onDone }: { contact: Contact; onClose: () => void; onDone: () => void }) {
	const [suppress, setSuppress] = useState(true);
	const send = useMutation({
		mutationFn: () => api("POST /contacts/{id}/anonymize", { path: { id: contact.id }, body: { suppress } }),
		onSuccess: onDone,
	});
	const other =
		send.error instanceof ApiError && send.error.code === "DUPLICATE_EMAIL"
			? (send.error.details.contact_id as string | undefined)
			: undefined;
	return (
		<Confirm
			title={words.anonymiseTitle}
			action={words.anonymise}
			type={contact.email}
			busy={send.isPending}
			error={
				send.error && (
					<p role="alert">
						{explain(send.error)} {other && <Link href={to.contact(other)}>{words.other}</Link>}
					</p>
				)
			}
			onConfirm={() => send.mutate()}
			onClose={onClose}
		>
			<p>{words.anonymiseText}</p>
			<Checkbox label={words.keep} checked={suppress} onChange={setSuppress} />
		</Confirm>
	);
}
