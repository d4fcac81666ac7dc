import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useMemo, useState } from "react";
import { api, newKey } from "../../api/client";
import type { AccountSessionView } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useSession, useDisabledReason, useWorkspace } from "../../base/session";
import { AddContact } from "../contacts/AddContact";
import { Button, LinkButton } from "../../ui/Button";
import { Copy } from "../../ui/Copy";
import { Dialog } from "../../ui/Dialog";
import { DrawerAction, DrawerFooter } from "../../ui/DrawerAction";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { Card, Callout } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import css from "./Home.module.css";
import { AccountStep } from "./AccountStep";
import { DomainStep } from "./DomainStep";
import { LaneStep } from "./LaneStep";
import { SenderStep } from "./SenderStep";
import { accountQuery } from "../settings/queries";
import { type Kind, within } from "../../base/queries";
import { to } from "../../base/paths";

const words = catalogue("home.setup", {
	close: "Close",
	done: "Done.",
	next: "Next: {name}",
	import: "Import contacts",
	importText: "From a file with a header row, such as a spreadsheet saved as CSV.",
	choose: "Choose a file",
	one: "Add one contact",
	oneText: "For example yourself.",
	addOne: "Add contact",
	programs: "Use the API",
	programsText: "An API key that can write contacts, and a command that adds one.",
	makeKey: "Create key",
	keyName: "First contacts",
	line: "Add a contact from a terminal. The key is shown only once.",
	copy: "Copy",
	first: "A test email to yourself shows that the sender and the sending server work together.",
	noSender: "Choose a sender first.",
	noLane: "Choose a sending server first.",
	to: "To",
	send: "Send",
	accepted: "The server accepted it.",
	refused: "The server refused it.",
	open: "Open in mailbox",
	starters: "Write an email from a starter template",
});

export type Step = { key: string; name: string; description: string; done: boolean };

/** Setup is the drawer of one row of the checklist. The row is ticked by the server, while the drawer is open. */
export default function Setup({
	step,
	next,
	onOpen,
	onClose,
}: {
	step: Step;
	next?: Step;
	onOpen: (key: string) => void;
	onClose: () => void;
}) {
	const [footerElement, setFooterElement] = useState<HTMLElement | null>(null);
	const second = step.done && next !== undefined;
	const [cancels, setCancels] = useState(false);
	const footer = useMemo(() => ({ element: footerElement, second, setCancels }), [footerElement, second]);
	const account = useQuery(accountQuery());
	return (
		<Dialog
			drawer={step.key === "sending_domain" || step.key === "mta_config" ? "wide" : "narrow"}
			title={step.name}
			onClose={onClose}
			footer={
				<>
					<span role="status">{step.done && words.done}</span>
					{!cancels && <Button onClick={onClose}>{words.close}</Button>}
					<span ref={setFooterElement} style={{ display: "contents" }} />
					{step.done && next && (
						<Button variant="primary" onClick={() => onOpen(next.key)}>
							{words.next({ name: next.name })}
						</Button>
					)}
				</>
			}
		>
			<p>{step.description}</p>
			{account.isPending ? (
				<Skeleton rows={6} />
			) : account.isError ? (
				<Failure error={account.error} retry={() => void account.refetch()} />
			) : (
				<DrawerFooter value={footer}>
					<Body step={step.key} account={account.data} />
				</DrawerFooter>
			)}
		</Dialog>
	);
}

function Body({ step, account }: { step: string; account: AccountSessionView }) {
	switch (step) {
		case "account":
			return <AccountStep account={account} />;
		case "mta_config":
			return <LaneStep account={account} />;
		case "sending_domain":
			return <DomainStep />;
		case "sending_identity":
			return <SenderStep account={account} />;
		case "contacts":
			return <ContactsStep />;
		default:
			return <FirstMailStep account={account} />;
	}
}

/** useSetupChanged loads again what the checklist is made of. */
export function useSetupChanged() {
	const client = useQueryClient();
	return async (...kinds: Kind[]) => {
		await Promise.all((["overview", ...kinds] as Kind[]).map((kind) => client.invalidateQueries(within(kind))));
	};
}

function ContactsStep() {
	const changed = useSetupChanged();
	const [adding, setAdding] = useState(false);
	const disabledReason = useDisabledReason("POST /contacts");
	return (
		<>
			<Card title={words.import}>
				<p>{words.importText}</p>
				<div>
					<LinkButton to={to.contactImport()}>{words.choose}</LinkButton>
				</div>
			</Card>
			<Card title={words.one}>
				<p>{words.oneText}</p>
				<div>
					<Button disabledReason={disabledReason} onClick={() => setAdding(true)}>
						{words.addOne}
					</Button>
				</div>
			</Card>
			<FreshKey />
			{adding && (
				<AddContact
					onClose={() => setAdding(false)}
					onAdded={() => {
						setAdding(false);
						void changed("contacts");
					}}
				/>
			)}
		</>
	);
}

function FreshKey() {
	const workspace = useWorkspace();
	const disabledReason = useDisabledReason("POST /auth/api-keys");
	const [secret, setSecret] = useState("");
	const [idempotencyKey] = useState(newKey);
	const form = useForm({});
	const make = () =>
		form.submit(async () =>
			setSecret(
				(
					await api("POST /auth/api-keys", {
						body: { name: words.keyName, scopes: ["contacts:write"] },
						idempotencyKey,
					})
				).key,
			),
		);
	const line = `curl ${location.origin}/t/${workspace?.tenant_slug}/api/contacts -H 'X-API-Key: ${secret}' -H 'Content-Type: application/json' -d '{"email": "ada@example.com", "first_name": "Ada"}'`;
	return (
		<Card title={words.programs}>
			<p>{secret ? words.line : words.programsText}</p>
			<FormProblems problems={form.problems} />
			{secret ? (
				<>
					<pre className={css.code}>{line}</pre>
					<div>
						<Copy text={line} subject={words.programs}>
							{words.copy}
						</Copy>
					</div>
				</>
			) : (
				<div>
					<Button disabledReason={disabledReason} busy={form.busy} onClick={() => void make()}>
						{words.makeKey}
					</Button>
				</div>
			)}
		</Card>
	);
}

function FirstMailStep({ account }: { account: AccountSessionView }) {
	const { user } = useSession();
	const changed = useSetupChanged();
	const disabledReason = useDisabledReason("POST /sending-identities/{id}/verify-lane");
	const senders = useCollection("sending_identities");
	const lanes = useCollection("mta_configs");
	const id = useId();
	const form = useForm({ to: user.email });
	const [answer, setAnswer] = useState<{ accepted: boolean; smtp_response: string; message?: string } | null>(null);
	if (senders.isPending || lanes.isPending) return <Skeleton rows={4} />;
	const all = senders.data?.data.filter((sender) => sender.active) ?? [];
	const sender = all.find((sender) => sender.id === account.default_sending_identity_id) ?? all[0];
	const lane = lanes.data?.data.find((lane) =>
		sender?.default_mta_config_id
			? lane.id === sender.default_mta_config_id
			: lane.key === account.default_mta_config_key,
	);
	const send = () =>
		form.submit(async () => {
			if (!sender || !lane) return;
			setAnswer(null);
			const verified = await api("POST /sending-identities/{id}/verify-lane", {
				path: { id: sender.id },
				body: { mta_config_id: lane.id, to: form.values.to.trim() },
				idempotencyKey: newKey(),
			});
			const stored =
				lane.type === "sink" && verified.accepted
					? await api("GET /mta-configs/{id}/messages", { path: { id: lane.id }, query: { limit: 1 } })
					: null;
			setAnswer({ ...verified, message: stored?.data[0]?.id });
			await changed("sending_identities", "mailbox");
		});
	return (
		<form
			id={id}
			noValidate
			style={{ display: "contents" }}
			onSubmit={(event) => {
				event.preventDefault();
				if (!disabledReason && sender && lane) void send();
			}}
		>
			<p>{words.first}</p>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.to}
				type="email"
				path="to"
				value={form.values.to}
				onChange={(to) => form.set({ to })}
				error={form.problems.byPath.to}
			/>
			<DrawerAction
				form={id}
				busy={form.busy}
				disabledReason={disabledReason ?? (!sender ? words.noSender : !lane ? words.noLane : undefined)}
			>
				{words.send}
			</DrawerAction>
			{answer && (
				<Callout tone={answer.accepted ? "success" : "danger"} title={answer.accepted ? words.accepted : words.refused}>
					<p>
						<code>{answer.smtp_response}</code>
					</p>
					{answer.message && lane && (
						<LinkButton small to={to.mail(lane.id, answer.message)}>
							{words.open}
						</LinkButton>
					)}
				</Callout>
			)}
			<div>
				<LinkButton to={to.templates()}>{words.starters}</LinkButton>
			</div>
		</form>
	);
}
